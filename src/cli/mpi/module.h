// What the program takes from its MPI module, a library of its own that is loaded when the program is started by mpirun or
// srun: the program itself needs no MPI. Plain C, so that module and program may come from different compilers.
#pragma once

#include <cstddef>

extern "C" {

struct LocusMpi {
  int version;  // kLocusMpiVersion of the module
  const char* library;
  // Nonzero: failed. `give_up` is asked while waiting; when it returns nonzero, the call ends with kLocusMpiGaveUp.
  int (*begin)(int* rank, int* size);
  int (*send)(int to, const void* bytes, std::size_t count, int (*give_up)());
  int (*receive)(int from, void* bytes, std::size_t count, int (*give_up)());
  int (*broadcast)(int root, void* bytes, std::size_t count, int (*give_up)());
  void (*end)();            // waits for the others
  void (*abort)(int code);  // ends them
};

const LocusMpi* locus_mpi_module();
}

inline constexpr int kLocusMpiVersion = 1;
inline constexpr int kLocusMpiGaveUp = -1;
inline constexpr const char* kLocusMpiEntry = "locus_mpi_module";
