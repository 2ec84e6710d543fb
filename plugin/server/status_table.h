// The status variables Tidesdb_* that do not come from the database; tidesdb/stats_table.h has the others.
//
// X(name, type, value, "meaning"). type: the server's, value: its address. They come after the database's.
// After a change: python3 -m tools.variables.
#pragma once

// clang-format off
#define TIDESDB_PLUGIN_STATUS(X) \
  X(version_hex, SHOW_ULONGLONG, &version_hex, "the plugin's version, one byte for each part") \
  X(profile_guided, SHOW_BOOL, &profile_guided, "ON if the plugin was built with a profile (PGO)") \
  X(version, SHOW_CHAR, kVersion, "the plugin's version") \
  X(library_version, SHOW_CHAR, kVersion, "the engine's version, the same as the plugin's")
// clang-format on
