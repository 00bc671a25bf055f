# Code whose speed depends on the instruction set is compiled once for each: the same files, other options. Of every
# variant the objects are joined to one, and each symbol it defines gets the variant's name appended (gemm.avx2). So no
# inline function of a header that was compiled for AVX2 can stand in for the baseline's, and tools show which is which.
file(GLOB variant_sources CONFIGURE_DEPENDS src/kernels/*.cpp)
list(REMOVE_ITEM variant_sources ${CMAKE_SOURCE_DIR}/src/kernels/dispatch.cpp)
# Contraction to FMA only where speed is decided; elsewhere a*b+c rounds twice, the same on every machine.
set_source_files_properties(${variant_sources} PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-fno-math-errno;-Wno-psabi")

# core/isa.cpp asks the processor for these features.
set(options_baseline "")
set(options_avx2 -mavx2 -mfma -mbmi -mbmi2 -mpopcnt)
set(options_avx512 ${options_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mprefer-vector-width=512)
set(options_neon "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(variants baseline avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(variants neon)
else()
  set(variants baseline)
endif()

foreach(variant ${variants})
  add_library(locus_${variant} OBJECT ${variant_sources})
  target_include_directories(locus_${variant} PRIVATE src)
  target_link_libraries(locus_${variant} PRIVATE locus_flags locus_dependencies)
  target_compile_definitions(locus_${variant} PRIVATE LOCUS_VARIANT)
  target_compile_options(locus_${variant} PRIVATE ${options_${variant}})
  set(object ${CMAKE_BINARY_DIR}/variants/locus_${variant}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o ${object}.joined $<TARGET_OBJECTS:locus_${variant}>
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY} -DIN=${object}.joined -DOUT=${object}
            -DSUFFIX=.${variant} -P ${CMAKE_SOURCE_DIR}/cmake/append_to_symbols.cmake
    DEPENDS $<TARGET_OBJECTS:locus_${variant}> ${CMAKE_SOURCE_DIR}/cmake/append_to_symbols.cmake
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(liblocus PRIVATE ${object})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/variants)
