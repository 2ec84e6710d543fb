// The server's version and the settings that matter for a comparison; also creates and drops a generator's
// database.
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

// Fills all fields except those that only the generator knows. The engine is that of `table` in the connection's
// database.
Outcome ReadServerFacts(Client* client, const std::string& table, ServerFacts* facts);

// A server without the engine would create another engine's tables, with only a warning.
Outcome CheckEngine(Client* client, const std::string& engine);

Json ServerJson(const ServerFacts& server);

// Creates the database and selects it. A database with tables is an error unless `replace` is set, which drops it
// first. The suffix, a character set or nothing, also applies to an existing database.
Outcome CreateDatabase(Client* client, const std::string& name, bool replace,
                       std::string_view suffix = "");

// Drops the database that server names, over a separate connection; it may be missing.
Outcome DropDatabase(const ConnectOptions& server);

}  // namespace tidesdb::lab
