// GFLOP/s of oneDNN's sgemm at the shapes MxNxK given as arguments, one line each, on one thread (run with
// OMP_NUM_THREADS=1), by processor time.
// A program of its own, so that `locus` does not load the library.
#include <oneapi/dnnl/dnnl.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double seconds_of(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c, const long (&mnk)[3]) {
  const double start = thread_seconds();
  const long m = mnk[0], n = mnk[1], k = mnk[2];
  if (dnnl_sgemm('N', 'N', m, n, k, 1.0f, a.data(), k, b.data(), n, 0.0f, c.data(), n) != dnnl_success) return -1;
  return thread_seconds() - start;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    long mnk[3];
    if (std::sscanf(argv[i], "%ldx%ldx%ld", &mnk[0], &mnk[1], &mnk[2]) != 3) return 2;
    std::vector<float> a(static_cast<std::size_t>(mnk[0] * mnk[2]), 0.5f),
        b(static_cast<std::size_t>(mnk[2] * mnk[1]), 0.25f);
    std::vector<float> c(static_cast<std::size_t>(mnk[0] * mnk[1]));
    const double flops = 2.0 * static_cast<double>(mnk[0]) * static_cast<double>(mnk[1]) * static_cast<double>(mnk[2]);
    std::vector<double> times;
    if (seconds_of(a, b, c, mnk) < 0) return 1;
    for (int r = 0; r < 9; ++r) times.push_back(seconds_of(a, b, c, mnk));
    std::nth_element(times.begin(), times.begin() + 4, times.end());
    std::printf("%.3f\n", flops / times[4] / 1e9);
    std::fflush(stdout);
  }
  return 0;
}
