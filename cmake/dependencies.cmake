# Everything third-party in one place. Each is a Debian package; `./run` installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(Boost REQUIRED)
find_package(pugixml REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_library(TOMLPLUSPLUS_LIBRARY tomlplusplus REQUIRED)
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)

add_library(locus_dependencies INTERFACE)
target_include_directories(locus_dependencies SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS} ${TOMLPLUSPLUS_INCLUDE} ${CLI11_INCLUDE})
target_compile_definitions(locus_dependencies INTERFACE TOML_HEADER_ONLY=0)
target_link_libraries(locus_dependencies INTERFACE
  Threads::Threads fmt::fmt nlohmann_json::nlohmann_json Eigen3::Eigen ZLIB::ZLIB PNG::PNG ${HDF5_LIBRARIES} Boost::headers
  pugixml::pugixml ${TOMLPLUSPLUS_LIBRARY})
