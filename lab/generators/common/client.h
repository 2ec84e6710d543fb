// One connection to a MariaDB server: text statements in, rows or an Outcome out.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/generators/common/outcome.h"

struct st_mysql;
struct st_mysql_res;

namespace tidesdb::lab {

struct ConnectOptions {
  std::string socket;  // If set, it is used instead of host and port.
  std::string host = "127.0.0.1";
  uint16_t port = 3306;
  std::string user = "root";
  std::string password;
  std::string database;         // Empty: none is selected.
  unsigned read_timeout_s = 0;  // 0: wait forever.
};

using Row = std::vector<std::optional<std::string>>;  // nullopt is NULL.
using Rows = std::vector<Row>;

// The effect of a statement.
struct Changes {
  int64_t rows = 0;       // Inserted, deleted or changed.
  int64_t insert_id = 0;  // Its first AUTO_INCREMENT value; 0: none.
};

// Threads: one thread at a time. Call InitClientLibrary() once before the first one is created.
class Client {
 public:
  Client() = default;

  Outcome Connect(const ConnectOptions& options);
  void Close() { handle_.reset(); }
  bool connected() const { return handle_ != nullptr; }

  // Runs one statement; reads and drops its rows.
  Outcome Exec(std::string_view sql);
  // The same, for a statement that changes rows.
  Outcome Exec(std::string_view sql, Changes* changes);

  // Runs one statement and keeps its rows.
  Outcome Query(std::string_view sql, Rows* rows);

  // Runs one statement and passes on each row as it arrives; for results larger than memory.
  Outcome Stream(std::string_view sql, const std::function<void(const Row&)>& on_row);

  // The single integer or text of a statement; an error if it returns no row or a NULL.
  Outcome QueryInt(std::string_view sql, int64_t* value);
  Outcome QueryText(std::string_view sql, std::string* value);

 private:
  struct Closer {
    void operator()(st_mysql* handle) const;
  };
  Outcome Send(std::string_view sql);
  Outcome LastError() const;
  // Reads the rest of a statement's result sets (a CALL sends a last, empty one).
  Outcome Drain();

  std::unique_ptr<st_mysql, Closer> handle_;
};

// A number from a row; 0 for NULL.
int64_t ToInt(const std::optional<std::string>& field);
// Quotes an identifier: a`b becomes `a``b`.
std::string QuoteName(std::string_view name);
// A time in DATETIME format, by this machine's clock: "2026-01-31 12:00:00".
std::string DateText(std::time_t when);
// Quotes a text: it's becomes 'it''s'. The session must not run with NO_BACKSLASH_ESCAPES.
std::string QuoteText(std::string_view text);

Outcome InitClientLibrary();

}  // namespace tidesdb::lab
