# find_package(tidesdb): the target tidesdb::tidesdb, from wherever this file lies.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
pkg_check_modules(TIDESDB_NEEDS REQUIRED IMPORTED_TARGET liblz4 libzstd libxxhash)

get_filename_component(tidesdb_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tidesdb::tidesdb)
  add_library(tidesdb::tidesdb STATIC IMPORTED)
  set_target_properties(tidesdb::tidesdb PROPERTIES
    IMPORTED_LOCATION "${tidesdb_prefix}/lib/libtidesdb.a"
    INTERFACE_INCLUDE_DIRECTORIES "${tidesdb_prefix}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "PkgConfig::TIDESDB_NEEDS;snappy;Threads::Threads")
endif()
