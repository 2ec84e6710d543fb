// What the server says of itself: version and the settings that a comparison needs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/json.h"
#include "lab/generators/common/outcome.h"

namespace tidesdb::lab {

struct ServerFacts {
  std::string version;
  std::string comment;
  std::string engine;  // Of the generator's tables.
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> snapshot_variables;  // Names of %snapshot_isolation.
};

// Fills everything but what the generator knows better: the engine is that of `table` in the
// connection's database.
Outcome ReadServerFacts(Client* client, const std::string& table, ServerFacts* facts);

// A server that lacks the engine would make another one's tables, with a warning only.
Outcome CheckEngine(Client* client, const std::string& engine);

Json ServerJson(const ServerFacts& server);

}  // namespace tidesdb::lab
