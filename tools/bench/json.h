// The JSON library.
#pragma once

#include <nlohmann/json.hpp>

namespace tidesdb::bench {

using Json = nlohmann::ordered_json;

}  // namespace tidesdb::bench
