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

// Whether the weights of a text's first characters may differ from the first ones of the whole text.
bool WeighsAcrossCharacters(CHARSET_INFO* cs);
// For an index over the first `characters` of texts of such a collation: how many bytes of weights it
// takes.
uint32_t StartBytes(CHARSET_INFO* cs, uint32_t characters, const Collation& collation);

// Why an index over strings of cs, or over prefixes of them, would not find what the server's
// comparison finds; null when it does. filled: with spaces, as CHAR columns are.
const char* WhyNoIndex(CHARSET_INFO* cs, bool filled, bool prefix);

}  // namespace tidesdb::plugin
