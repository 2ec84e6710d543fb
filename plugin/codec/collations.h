// The server's collations as the key codec wants them.
//
// Threads: pure functions.
#pragma once

#include "base/server_port.h"

#include "codec/key_codec.h"

namespace tidesdb::plugin {

enum class Levels : uint8_t {
  kAll,
  kFirst,  // For the start of a text, where only the first level is in the whole text's order.
};

// How strings of cs compare. Returns: false when that cannot be told by weights that memcmp orders:
// there is no index over them.
bool FillCollation(CHARSET_INFO* cs, Levels levels, Collation* collation);

// Why an index over strings of cs, or over prefixes of them, would not find what the server's
// comparison finds; null when it does. filled: with spaces, as CHAR columns are.
const char* WhyNoIndex(CHARSET_INFO* cs, bool filled, bool prefix);

}  // namespace tidesdb::plugin
