// A view of bytes that somebody else owns. Compared as memcmp compares: unsigned, shorter first.
#pragma once

#include <string_view>

namespace tidesdb {

using Slice = std::string_view;

}  // namespace tidesdb
