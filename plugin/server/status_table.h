// The status variables Tidesdb_* that are no numbers of the database; those are tidesdb/stats_table.h.
//
// X(name, type, value, "meaning"). type: the server's, value: where it stands. They come behind the database's.
// After a change: python3 -m tools.variables.
#pragma once

// clang-format off
#define TIDESDB_PLUGIN_STATUS(X) \
  X(version_hex, SHOW_ULONGLONG, &version_hex, "the plugin's version, a byte for each part") \
  X(profile_guided, SHOW_BOOL, &profile_guided, "ON in a plugin that was built by a profile") \
  X(version, SHOW_CHAR, kVersion, "the plugin's version") \
  X(library_version, SHOW_CHAR, kVersion, "the engine's, which is the plugin's")
// clang-format on
