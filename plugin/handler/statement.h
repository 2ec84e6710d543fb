// What the server asks of a handler in the statement that runs, and how an error of the engine ends
// that statement.
//
// Threads: used by one thread at a time, as the handler.
#pragma once

#include "base/server_port.h"

#include <string>

#include "handler/open_table.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class Session;

// How rows are read: kNone sees the snapshot, the others lock and see the newest.
enum class RowLock : uint8_t { kNone, kShared, kExclusive };

struct Statement {
  explicit Statement(const OpenTable* of) : open(of) {}

  // Whether plain reads must not use what was made then. Temporary tables are nobody else's.
  bool IsNewerThanSnapshot(uint64_t made) const;
  LockWait wait_mode() const { return skip_locked ? LockWait::kNoWait : LockWait::kWait; }
  LockMode lock_mode() const {
    return row_lock == RowLock::kExclusive ? LockMode::kExclusive : LockMode::kShared;
  }
  // Whether the record of a row that is locked for writing has the column's value, although it lies
  // apart (long_values.cc). A column that is neither read nor written, here or for an index, keeps
  // its value unseen.
  bool FetchesValue(uint field) const;
  // Turns an engine error into the server's, undoes what that error undoes, and tells the client.
  int Fail(const Status& status);
  int Damaged(const std::string& what);

  const OpenTable* const open;
  Session* session = nullptr;
  RowLock row_lock = RowLock::kNone;
  RowLock stored_lock = RowLock::kNone;
  // The shared locks are not asked for: what a statement reads must not change until its own changes
  // are committed.
  bool reads_of_a_write = false;
  bool skip_locked = false;
  bool logs_statements = false;  // Format STATEMENT of the binary log, and locks for it.
  bool key_read = false;
  bool duplicates_wanted = false;    // The statement does something with them: IGNORE, REPLACE ...
  bool replaces_duplicates = false;  // It changes or deletes the row that it meets.
  std::string error_text;            // Of the last engine error, for people.
  int told_error = 0;                // The last one that Fail() told the client.

 private:
  int FailUntold(const Status& status);
};

}  // namespace tidesdb::plugin
