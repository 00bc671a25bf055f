# The extension module locus._locus: python/bindings over the library. setup.py configures with LOCUS_PYTHON and takes the module
# and the program from the build folder.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 REQUIRED CONFIG)
file(GLOB binding_sources CONFIGURE_DEPENDS python/bindings/*.cpp)
pybind11_add_module(_locus ${binding_sources} src/cli/environment.cpp)
target_include_directories(_locus PRIVATE python/bindings)
target_link_libraries(_locus PRIVATE liblocus)
target_compile_options(_locus PRIVATE $<$<CONFIG:Release>:-O1>)  # it only calls
set_target_properties(_locus PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python)
