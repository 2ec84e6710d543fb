// The server's demands on a handler in the current statement, and how an engine error ends the statement.
//
// Threads: used by one thread at a time, as the handler.
#pragma once

#include "base/server_port.h"

#include <string>

#include "handler/open_table.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class Session;

// How rows are read: kNone sees the snapshot, the others lock and see the newest state.
enum class RowLock : uint8_t { kNone, kShared, kExclusive };

struct Statement {
  explicit Statement(const OpenTable* of) : open(of) {}

  // The connection's current statement uses the table from here on.
  // REQUIRES: session is set.
  void Begin(THD* thd);
  // Of a clone, which the server tells nothing about the statement: the demands on its original.
  void Follow(const Statement& original);
  // The level at which the connection uses the table now.
  enum_tx_isolation LevelNow(THD* thd) const;
  // The session's transaction, in the view that the table has.
  Transaction* transaction() const;
  Transaction* TransactionForPlainRead() const;
  View view() const;
  // Whether plain reads must not use objects made at `made`. Temporary tables are always usable.
  bool IsNewerThanSnapshot(uint64_t made) const;
  LockWait wait_mode() const { return skip_locked ? LockWait::kNoWait : LockWait::kWait; }
  LockMode lock_mode() const {
    return row_lock == RowLock::kExclusive ? LockMode::kExclusive : LockMode::kShared;
  }
  // Whether the record of a row locked for writing needs the column's value although it lies apart
  // (long_values.cc). A column that is neither read nor written, here or for an index, keeps its value unread.
  bool FetchesValue(uint field) const;
  // Turns an engine error into the server's, undoes what that error requires, and tells the client.
  int Fail(const Status& status);
  int Damaged(const std::string& what);

  const OpenTable* const open;
  Session* session = nullptr;
  enum_tx_isolation level = ISO_REPEATABLE_READ;  // LevelNow() of the current statement.
  RowLock row_lock = RowLock::kNone;
  RowLock stored_lock = RowLock::kNone;
  // Takes the shared locks although the server does not ask for them: what a statement reads must not change before
  // its own changes are committed.
  bool reads_of_a_write = false;
  // A statement that changes other tables reads this one, and the binary log gets its text: a replica must find the
  // same rows.
  bool reads_for_log = false;
  bool skip_locked = false;
  bool logs_statements = false;  // Format STATEMENT of the binary log, and locks for it.
  bool key_read = false;
  bool duplicates_wanted = false;    // The statement handles duplicates: IGNORE, REPLACE ...
  bool replaces_duplicates = false;  // It changes or deletes the duplicate row.
  std::string error_text;            // Of the last engine error, for people.
  int told_error = 0;                // The last one that Fail() reported to the client.

 private:
  int FailUntold(const Status& status);
};

}  // namespace tidesdb::plugin
