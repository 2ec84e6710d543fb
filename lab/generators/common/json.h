// The library for JSON, and our texts and numbers as it wants them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tidesdb::lab {

using Json = nlohmann::ordered_json;

// Of bytes that a server sent: Latin-1, the character set of our connections.
Json ServerText(std::string_view latin1);

// Rounded to so many decimals; null for what is no finite number.
Json Rounded(double value, int decimals = 3);

// ASCII on one line.
std::string JsonText(const Json& json);

}  // namespace tidesdb::lab
