# `cmake --install`: libtidesdb.a, the public headers, and what pkg-config and find_package(tidesdb) read.
include(CMakePackageConfigHelpers)

set(TIDESDB_CMAKE_DIR lib/cmake/tidesdb)
configure_file(cmake/tidesdb.pc.in tidesdb.pc @ONLY)
write_basic_package_version_file(tidesdb-config-version.cmake COMPATIBILITY SameMajorVersion)

install(TARGETS tidesdb ARCHIVE DESTINATION lib)
install(DIRECTORY include/tidesdb DESTINATION include FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/tidesdb.pc DESTINATION lib/pkgconfig)
install(FILES cmake/tidesdb-config.cmake ${CMAKE_BINARY_DIR}/tidesdb-config-version.cmake
        DESTINATION ${TIDESDB_CMAKE_DIR})
