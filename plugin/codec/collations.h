// The server's collations in the form that the key codec needs.
//
// Threads: pure functions.
#pragma once

#include "base/server_port.h"

#include "codec/key_codec.h"

namespace tidesdb::plugin {

enum class Levels : uint8_t {
  kAll,
  kFirst,  // For the start of a text, where only the first level has the whole text's order.
};

// How strings of cs compare. Returns false if weights ordered by memcmp cannot express it; an index is then not
// possible.
bool FillCollation(CHARSET_INFO* cs, Levels levels, Collation* collation);

// Whether the weights of a text's first characters may differ from the first ones of the whole text.
bool WeighsAcrossCharacters(CHARSET_INFO* cs);
// For an index over the first `characters` of texts of such a collation: the bytes of weights it takes.
uint32_t StartBytes(CHARSET_INFO* cs, uint32_t characters, const Collation& collation);

// Returns null if an index over strings of cs, or over prefixes of them, finds what the server's comparison finds;
// otherwise the reason. filled: with spaces, as in CHAR columns.
const char* WhyNoIndex(CHARSET_INFO* cs, bool filled, bool prefix);

}  // namespace tidesdb::plugin
