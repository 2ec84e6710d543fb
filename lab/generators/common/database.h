// The database that a generator makes for itself and drops again.
#pragma once

#include <string>
#include <string_view>

#include "lab/generators/common/client.h"

namespace tidesdb::lab {

// Makes the database and selects it; one with tables in it is an error unless replace drops it
// first. The suffix is what the database has in the end, also one that was there: a character set, or
// nothing.
Outcome CreateDatabase(Client* client, const std::string& name, bool replace,
                       std::string_view suffix = "");

// Drops the database that server names, by a connection of its own; none of that name is fine.
Outcome DropDatabase(const ConnectOptions& server);

}  // namespace tidesdb::lab
