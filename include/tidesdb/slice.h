// A view of bytes that it does not own. Compared like memcmp: unsigned, shorter first.
#pragma once

#include <string_view>

namespace tidesdb {

// Keys and values are any bytes, zeros included; nothing is read beyond size().
// Lifetime: an argument is used until the call returns, unless the function says otherwise
//   (ScanOptions). For a returned Slice the function says how long its bytes live.
using Slice = std::string_view;

}  // namespace tidesdb
