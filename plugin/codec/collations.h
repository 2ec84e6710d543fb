// The server's collations as the key codec wants them.
//
// Threads: pure functions.
#pragma once

#include "base/server_port.h"

#include "codec/key_codec.h"

namespace tidesdb::plugin {

// How strings of cs compare. Returns: false when its weights cannot be padded group by group; then
// FillFullText() is the way.
bool FillCollation(CHARSET_INFO* cs, Collation* collation);

// The same for collations whose weights come in one piece. Gives the width of the weights of
// chars_max characters.
uint32_t FillFullCollation(CHARSET_INFO* cs, uint32_t chars_max, Collation* collation);

}  // namespace tidesdb::plugin
