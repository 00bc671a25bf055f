# locus-mpi.so, beside the program: loaded by it when mpirun or srun started several ranks, so that the program itself needs no
# MPI. Built where MPI is found (Debian: libopenmpi-dev); -DLOCUS_MPI=OFF leaves it out, ON makes its absence an error.
set(LOCUS_MPI AUTO CACHE STRING "Build the MPI module: AUTO, ON or OFF")
if(NOT TARGET locus OR LOCUS_MPI STREQUAL "OFF" OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  if(LOCUS_MPI STREQUAL "ON")
    message(FATAL_ERROR "LOCUS_MPI is ON and no MPI was found: install libopenmpi-dev or load the cluster's module")
  endif()
  message(STATUS "MPI is not installed: locus trains in one process (no locus-mpi.so)")
  return()
endif()
add_library(locus_mpi MODULE ${CMAKE_SOURCE_DIR}/src/cli/mpi/module.cpp)
target_include_directories(locus_mpi PRIVATE src)
# The plain C interface: the old C++ bindings are of no use here and would need libmpi_cxx.
target_compile_definitions(locus_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_include_directories(locus_mpi SYSTEM PRIVATE ${MPI_CXX_INCLUDE_DIRS})
target_link_libraries(locus_mpi PRIVATE locus_flags ${MPI_mpi_LIBRARY})
set_target_properties(locus_mpi PROPERTIES PREFIX "" OUTPUT_NAME locus-mpi CXX_VISIBILITY_PRESET hidden
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_dependencies(locus locus_mpi)
