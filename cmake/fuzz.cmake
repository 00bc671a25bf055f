# Fuzz targets (libFuzzer, clang only): one program fuzz_<target> per entry of fuzz/targets.h, all built by `fuzz`.
#   cmake --preset fuzz && ninja -C build/fuzz fuzz && build/fuzz/fuzz_npy -max_total_time=60 WORK_FOLDER fuzz/corpus/npy
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "LOCUS_FUZZ needs clang: use the preset `fuzz` or -DCMAKE_CXX_COMPILER=clang++-14")
endif()
set(LOCUS_FUZZ_TARGETS safetensors npy npz table nifti cifti cifti_xml mat idx png puzzles records)
set(fuzz_flags -O1 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all)

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/core/*.cpp ${CMAKE_SOURCE_DIR}/src/io/*.cpp
     ${CMAKE_SOURCE_DIR}/src/data/latin/*.cpp)
add_library(locus_fuzz_io STATIC EXCLUDE_FROM_ALL ${fuzz_sources})
target_include_directories(locus_fuzz_io PUBLIC src ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(locus_fuzz_io PUBLIC locus_flags locus_dependencies)
target_compile_options(locus_fuzz_io PUBLIC ${fuzz_flags} -fsanitize=fuzzer-no-link,address,undefined)
add_dependencies(locus_fuzz_io locus_build_info)

add_custom_target(fuzz)
foreach(target ${LOCUS_FUZZ_TARGETS})
  add_executable(fuzz_${target} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/fuzz/fuzz_main.cpp)
  target_compile_definitions(fuzz_${target} PRIVATE LOCUS_FUZZ_TARGET="${target}")
  target_link_libraries(fuzz_${target} PRIVATE locus_fuzz_io)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer,address,undefined)
  add_dependencies(fuzz fuzz_${target})
endforeach()
