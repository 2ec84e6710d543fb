# Profile-guided optimisation of everything that is built here: first an instrumented build, whose
# counters a training run leaves in TIDESDB_PGO_DIR, then one that is optimised by them.
# docs/design/0013-pgo.md says why; installer/pgo.py does both and the training.
set(TIDESDB_PGO "" CACHE STRING "generate: instrumented; use: optimised by the profile; empty: neither.")
set(TIDESDB_PGO_DIR "" CACHE PATH "Where the profile is written to or read from.")

if(TIDESDB_PGO)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT IS_ABSOLUTE "${TIDESDB_PGO_DIR}")
    message(FATAL_ERROR "TIDESDB_PGO takes g++, and TIDESDB_PGO_DIR as an absolute path.")
  endif()
  if(TIDESDB_PGO STREQUAL "generate")
    # Atomic: many threads count.
    set(pgo_options -fprofile-generate=${TIDESDB_PGO_DIR} -fprofile-update=atomic)
  elseif(TIDESDB_PGO STREQUAL "use")
    # Correction: a counter may be torn where a server was killed. What was never run has no profile.
    set(pgo_options -fprofile-use=${TIDESDB_PGO_DIR} -fprofile-correction -Wno-missing-profile)
    add_compile_definitions(TIDESDB_PROFILE_GUIDED=1)
  else()
    message(FATAL_ERROR "TIDESDB_PGO=${TIDESDB_PGO}: generate or use is wanted.")
  endif()
  # Without ccache: it does not know under which name the profile of a source is looked for. And with a base_dir it gives the
  # compiler relative paths, which are part of a function's checksum in the profile; both builds must have the same.
  unset(CMAKE_CXX_COMPILER_LAUNCHER)
  unset(CMAKE_CXX_COMPILER_LAUNCHER CACHE)
  # A profile's files are named by what is below here, so that the two builds may be in different directories.
  list(APPEND pgo_options -fprofile-prefix-path=${CMAKE_BINARY_DIR})
  add_compile_options(${pgo_options})
  add_link_options(${pgo_options})
endif()
