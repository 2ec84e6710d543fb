// What the server says of itself, version and the settings that a comparison needs; and the database
// that a generator makes on it and drops again.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/common/result_parts.h"

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

// Makes the database and selects it; one with tables in it is an error unless replace drops it
// first. The suffix is what the database has in the end, also one that was there: a character set, or
// nothing.
Outcome CreateDatabase(Client* client, const std::string& name, bool replace,
                       std::string_view suffix = "");

// Drops the database that server names, by a connection of its own; none of that name is fine.
Outcome DropDatabase(const ConnectOptions& server);

}  // namespace tidesdb::lab
