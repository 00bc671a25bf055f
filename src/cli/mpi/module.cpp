#include "cli/mpi/module.h"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace {

constexpr int kTag = 1;
constexpr int kSpins = 2000;      // a message of the same machine comes within microseconds
constexpr int kPauseMicros = 50;  // later others may need the core

// The last message, kept until it is out.
std::vector<char> outgoing;
MPI_Request pending = MPI_REQUEST_NULL;

int wait_for(MPI_Request* request, int (*give_up)()) {
  for (int round = 0;; ++round) {
    int done = 0;
    if (const int code = MPI_Test(request, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS) return code;
    if (done != 0) return 0;
    if (round < kSpins) continue;
    if (give_up != nullptr && give_up() != 0) return kLocusMpiGaveUp;
    ::usleep(kPauseMicros);
  }
}

int begin(int* rank, int* size) {
  int level = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  return 0;
}

int send(int to, const void* bytes, std::size_t count, int (*give_up)()) {
  if (const int code = wait_for(&pending, give_up); code != 0) return code;
  const char* first = static_cast<const char*>(bytes);
  outgoing.assign(first, first + count);
  return MPI_Isend(outgoing.data(), static_cast<int>(count), MPI_BYTE, to, kTag, MPI_COMM_WORLD, &pending);
}

int receive(int from, void* bytes, std::size_t count, int (*give_up)()) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (const int code = MPI_Irecv(bytes, static_cast<int>(count), MPI_BYTE, from, kTag, MPI_COMM_WORLD, &request); code != 0)
    return code;
  return wait_for(&request, give_up);
}

// In parts: a count of MPI is an int.
int broadcast(int root, void* bytes, std::size_t count, int (*give_up)()) {
  constexpr std::size_t kPart = std::size_t{1} << 28;
  for (std::size_t at = 0; at < count; at += kPart) {
    MPI_Request request = MPI_REQUEST_NULL;
    const std::size_t part = count - at < kPart ? count - at : kPart;
    const int code =
        MPI_Ibcast(static_cast<char*>(bytes) + at, static_cast<int>(part), MPI_BYTE, root, MPI_COMM_WORLD, &request);
    if (code != 0) return code;
    if (const int waited = wait_for(&request, give_up); waited != 0) return waited;
  }
  return 0;
}

void end() {
  wait_for(&pending, nullptr);
  MPI_Finalize();
}

void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const LocusMpi* locus_mpi_module() {
  static std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  int length = 0;
  MPI_Get_library_version(library.data(), &length);
  static const LocusMpi module = {kLocusMpiVersion, library.data(), begin, send, receive, broadcast, end, abort_all};
  return &module;
}
