# Code whose speed depends on the instruction set: these files are compiled once for each, with other options, and the
# program chooses at start (core/isa.h). Of every variant the objects are joined to one, and each symbol that it defines
# gets the variant's name appended (gemm.avx2): no inline function of a header that was compiled for AVX2 can stand in for
# the baseline's, and tools show which is which. The plain name (gemm) becomes a jump to the variant in use.
file(GLOB kernel_sources CONFIGURE_DEPENDS src/kernels/*.cpp)
# Dense algebra in double precision: twice as slow without AVX2.
set(algebra_sources src/stats/correlation.cpp src/stats/linalg.cpp src/stats/readout.cpp src/stats/surrogates.cpp
  src/stats/svd.cpp src/data/connectivity.cpp src/data/ridge.cpp)
list(TRANSFORM algebra_sources PREPEND ${CMAKE_SOURCE_DIR}/)
set(variant_sources ${kernel_sources} ${algebra_sources})
foreach(module ${LOCUS_LEAVE_OUT})
  list(FILTER variant_sources EXCLUDE REGEX "/src/${module}/")
endforeach()
set_source_files_properties(${variant_sources} PROPERTIES COMPILE_DEFINITIONS LOCUS_VARIANT)
# g++ 12 takes a deliberately undefined register in its own AVX-512 header for a mistake.
set_source_files_properties(${algebra_sources} PROPERTIES COMPILE_OPTIONS "-Wno-uninitialized;-Wno-maybe-uninitialized")
# Contraction to FMA only where speed is decided; elsewhere a*b+c rounds twice, the same on every machine.
set_source_files_properties(${kernel_sources} PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-fno-math-errno;-Wno-psabi")

# With one instruction set there is nothing to choose.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
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
  add_library(locus_${variant} OBJECT ${variant_sources})
  target_include_directories(locus_${variant} PRIVATE src)
  target_link_libraries(locus_${variant} PRIVATE locus_flags locus_dependencies)
  target_compile_options(locus_${variant} PRIVATE ${options_${variant}})
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
