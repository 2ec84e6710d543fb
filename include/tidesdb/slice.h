// A view of bytes that somebody else owns. Compared as memcmp compares: unsigned, shorter first.
#pragma once

#include <string_view>

namespace tidesdb {

// Keys and values are bytes of any kind, zeros included; nothing is read beyond size().
// Lifetime: a Slice that is passed in is used until the call returns, unless the function says
//   otherwise (ScanOptions). A Slice that is returned says how long its bytes live.
using Slice = std::string_view;

}  // namespace tidesdb
