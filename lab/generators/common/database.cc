#include "lab/generators/common/database.h"

namespace tidesdb::lab {

Outcome CreateDatabase(Client* client, const std::string& name, bool replace,
                       std::string_view suffix) {
  if (replace) LAB_TRY(client->Exec("DROP DATABASE IF EXISTS " + QuoteName(name)));
  int64_t tables = 0;
  LAB_TRY(client->QueryInt(
      "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = " + QuoteText(name),
      &tables));
  if (tables != 0) {
    return Outcome::Fail("database '" + name + "' holds tables already; --replace drops it first");
  }
  LAB_TRY(client->Exec("CREATE DATABASE IF NOT EXISTS " + QuoteName(name)));
  // One that is there already too: variables of procedures take its character set.
  if (!suffix.empty()) {
    LAB_TRY(client->Exec("ALTER DATABASE " + QuoteName(name) + std::string(suffix)));
  }
  return client->Exec("USE " + QuoteName(name));
}

Outcome DropDatabase(const ConnectOptions& server) {
  ConnectOptions without_database = server;
  without_database.database.clear();
  Client client;
  LAB_TRY(client.Connect(without_database));
  return client.Exec("DROP DATABASE IF EXISTS " + QuoteName(server.database));
}

}  // namespace tidesdb::lab
