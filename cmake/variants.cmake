# Code whose speed depends on the instruction set: these files are compiled once for each, with other options, and the
# program chooses at start (core/isa.h). Of every variant the objects are joined to one, and each symbol that it defines
# gets the variant's name appended (gemm.avx2): no inline function of a header that was compiled for AVX2 can stand in for
# the baseline's, and tools show which is which. The plain name (gemm) becomes a jump to the variant in use.
file(GLOB kernel_sources CONFIGURE_DEPENDS src/kernels/*.cpp)
# Sums whose last bits reach training (graphs of connectivity), so each instruction set keeps its own.
set(graph_sources ${CMAKE_SOURCE_DIR}/src/data/connectivity.cpp)
# Dense algebra of the analyses in double precision: twice as slow without AVX2. Eigen takes twice as long to compile for
# AVX-512, so AVX-512 uses AVX2's; what it would gain was not measured.
set(algebra_sources src/stats/linalg.cpp src/stats/logistic.cpp src/stats/mlp.cpp src/stats/neighbours.cpp
  src/stats/readout.cpp src/stats/space_null.cpp src/stats/svd.cpp src/data/ridge.cpp)
list(TRANSFORM algebra_sources PREPEND ${CMAKE_SOURCE_DIR}/)
compile_together(algebra ${algebra_sources})
set(sources_avx512 ${kernel_sources} ${graph_sources})
set(sources_avx2 ${sources_avx512} ${algebra_sources})
set(sources_baseline ${sources_avx2})
foreach(module ${LOCUS_LEAVE_OUT})
  foreach(variant baseline avx2 avx512)
    list(FILTER sources_${variant} EXCLUDE REGEX "/src/${module}/")
  endforeach()
endforeach()
set(variant_sources ${sources_baseline})
# g++ 12 takes a deliberately undefined register in its own AVX-512 header for a mistake.
set_source_files_properties(${graph_sources} PROPERTIES COMPILE_OPTIONS "-Wno-uninitialized;-Wno-maybe-uninitialized")
# Contraction to FMA only where speed is decided; elsewhere a*b+c rounds twice, the same on every machine.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/stats/svd.cpp PROPERTIES COMPILE_OPTIONS -O3)  # plain loops
set_source_files_properties(${kernel_sources} PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-fno-math-errno;-Wno-psabi")

# With one instruction set there is nothing to choose.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${variant_sources} PROPERTIES COMPILE_DEFINITIONS LOCUS_VARIANT)
  target_sources(liblocus PRIVATE ${variant_sources})
  return()
endif()

# core/isa.cpp asks the processor for these features.
set(variants baseline avx2 avx512)  # in the order of enum Isa
set(options_baseline "")
set(options_avx2 -mavx2 -mfma -mbmi -mbmi2 -mpopcnt)
set(options_avx512 ${options_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mprefer-vector-width=512)

set(folder ${CMAKE_BINARY_DIR}/variants)
file(MAKE_DIRECTORY ${folder})
set(join_commands "")
set(variant_objects ${folder}/dispatch.o)
foreach(variant ${variants})
  add_library(locus_${variant} OBJECT ${sources_${variant}})
  target_include_directories(locus_${variant} PRIVATE src)
  target_link_libraries(locus_${variant} PRIVATE locus_flags locus_dependencies)
  target_compile_options(locus_${variant} PRIVATE ${options_${variant}})
  target_compile_definitions(locus_${variant} PRIVATE LOCUS_VARIANT)
  allow_unity(locus_${variant})
  list(APPEND join_commands COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o ${folder}/${variant}.joined.o
       $<TARGET_OBJECTS:locus_${variant}>)
  list(APPEND join_depends $<TARGET_OBJECTS:locus_${variant}>)
  list(APPEND variant_objects ${folder}/${variant}.o)
endforeach()
list(JOIN variants "+" joined_names)
add_custom_command(OUTPUT ${variant_objects} ${join_commands}
  COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY} -DVARIANTS=${joined_names} -DFOLDER=${folder}
          -P ${CMAKE_SOURCE_DIR}/cmake/write_variants.cmake
  COMMAND ${CMAKE_CXX_COMPILER} -c -o ${folder}/dispatch.o ${folder}/dispatch.s
  DEPENDS ${join_depends} ${CMAKE_SOURCE_DIR}/cmake/write_variants.cmake
  COMMENT "Joining the variants ${joined_names}" COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties(${variant_objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
target_sources(liblocus PRIVATE ${variant_objects})
