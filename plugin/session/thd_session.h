// The engine's state of one connection: its transaction, its statement, its cursors.
//
// Owns: one Transaction, which is reused.
// Threads: the connection's own; only Kill() comes from others.
#pragma once

#include "base/server_port.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/latch.h"
#include "base/wait.h"
#include "dictionary/dictionary.h"
#include "dictionary/touched_table.h"
#include "session/cursor.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class Session final : private LockWaitListener {
 public:
  explicit Session(THD* thd);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The connection's session; created at the first call.
  static Session& Of(THD* thd);
  // Null if the connection never used this engine.
  static Session* Existing(THD* thd);
  static void Close(THD* thd);
  // Any thread that holds the connection's LOCK_thd_data: ends its waits.
  static void Kill(THD* thd);
  // The public data of a connection with an open transaction.
  struct Sight {
    THD* thd;  // Valid during the call.
    uint64_t transaction;
    time_t begun;
    enum_tx_isolation isolation;
    bool row_locks;
  };
  // Any thread; no connection begins or ends meanwhile.
  static void ForEachTransaction(const std::function<void(const Sight&)>& tell);

  // --- Statements ---
  // Tells the server that this engine takes part, and sets the point to return to if the statement fails. May be
  // called again within a statement.
  void BeginStatement();
  // The statement succeeded and the transaction continues.
  void EndStatement();
  void RollbackStatement();
  // Undoes the statement's writes so far; its locks stay.
  Status TakeWritesBack();
  // Whether the client sees the statement's rows or its end before the transaction ends: not inside a stored
  // procedure, except for rows that it sends.
  bool TellsClient() const;
  // Transaction::AwaitSeen of the open transaction.
  Status AwaitSeen();
  bool in_statement() const { return in_statement_; }

  // --- Transactions ---
  // The level at which the connection's current transaction uses a table; table_level: sysvars::LevelOf.
  static enum_tx_isolation LevelFor(THD* thd, enum_tx_isolation table_level);
  static View ViewAt(enum_tx_isolation level) {
    return level <= ISO_READ_COMMITTED ? View::kStatement : View::kTransaction;
  }
  // It uses this view until the next call of the session.
  Transaction* transaction(View view) {
    if (view != view_) UseView(view);
    return transaction_.get();
  }
  // With the snapshot of plain reads in this view.
  Transaction* TransactionForPlainRead(View view);
  bool pessimistic() const { return pessimistic_; }
  // Whether it may change rows that are newer than its plain reads see.
  bool MayChangeNewerRows(View view);
  // Whether transactions of several statements lock rows too, so that waiting for one makes sense.
  bool row_locks_on() const { return row_locks_on_; }
  // Whether the snapshot contains none of a table's rows or an index's entries, because another connection has
  // filled or emptied it since. made: TableState's. Always false without a snapshot.
  bool SnapshotIsOlderThan(uint64_t made, View view);
  // Whether plain reads of the table see own changes of rows that are newer or older than their index entries: rows
  // newer than the snapshot and, without locks, others' commits.
  bool OwnChangesCover(const TableState& table, View view);
  // The table's version that plain reads see, if it is the newest and no transaction, this one included, is about
  // to make another. Without a snapshot: as if it were taken now.
  std::optional<uint64_t> NewestVersionSeen(const TableState& table, View view);
  // Whether others need not wait for the tables it has used: it has neither locks nor changes.
  bool LetsTablesGo() const;
  // Starts a transaction if there is none, and opens its snapshot.
  void BeginWithSnapshot();
  // For START TRANSACTION WITH CONSISTENT SNAPSHOT: at REPEATABLE READ the snapshot is for all tables.
  void BeginConsistent();
  // killable: a KILL may end it and undo the transaction, because no other part commits it.
  Status Commit(bool killable);
  // The first half of two-phase commit: does everything that can fail, and logs the transaction under this name. A
  // branch of a user's XA may outlive the connection, so the AUTO_INCREMENT values it used are committed now. After
  // an error the server rolls back.
  Status Prepare(const std::string& name, bool xa_branch);
  // Takes its place in the commit order; a short call on any thread. Commit() returns the result.
  void OrderCommit();
  bool ordered() const { return ordered_; }
  void Rollback();
  // After an error that undoes everything: rolls back the engine's side now; the server does its own part at the
  // end of the statement. Until then every use returns HA_ERR_ROLLBACK.
  void Abort();
  bool aborted() const { return aborted_; }

  // Notes a duplicate. Its key is locked, and stays locked if the statement fails. The session keeps its key
  // number, because a partitioned table asks another partition than the one that found it.
  void NoteDuplicate(uint key_number, ColumnFamily* family, Slice key);
  uint duplicate_key() const { return duplicate_key_; }

  Savepoint SetSavepoint();
  Status RollbackTo(Savepoint savepoint);
  void ReleaseSavepoint(Savepoint savepoint);

  // Call before a row is inserted, changed or deleted. What was read of a row at the same
  // row_changes() is still so.
  void NoteRowChange() { row_changes_++; }
  uint64_t row_changes() const { return row_changes_; }

  // --- Effects of a commit ---
  void CountRows(const std::shared_ptr<TableState>& table, int64_t inserted, uint64_t changed);
  // Call before a row is deleted.
  void NoteDeletion(const std::shared_ptr<TableState>& table);
  // Whether a row that is inserted now may replace one that this transaction has deleted: the commit
  // then puts the new row over the old one.
  bool MayReplaceDeleted(const TableState& table) const;
  // Counts a row that the statement deletes, and returns the ranges that its keys go into. If there are enough rows,
  // the commit asks for a compaction of these. Null: the statement never asks.
  std::vector<DeletedRange>* CountDeleted(const std::shared_ptr<TableState>& table);
  // `max`: the largest value of the column.
  void UsedAutoIncrement(const std::shared_ptr<TableState>& table, uint64_t next, uint64_t max);

  void Link(Cursor* cursor);
  void Unlink(Cursor* cursor);

 private:
  // LockWaitListener: for SHOW PROCESSLIST.
  void LockWaitBegins() noexcept override;
  void LockWaitEnds() noexcept override;
  // For a replication applier: the server ends a later transaction that blocks an earlier one while it waits for
  // that one's commit, and runs it again.
  bool TellsBlockers() const noexcept override;
  void WaitsFor(LockWaitListener& blocker) noexcept override;

  void OpenTransaction();
  void StartStatement();
  void TakeBranchBack();
  void UseView(View view);
  bool HasSnapshot(View view) { return transaction(view)->HasSnapshot(); }
  // Whether a row that changed since the view's snapshot is an error.
  bool conflicts_on_changed(View view) const {
    return conflicts_on_changed_ && view == View::kTransaction;
  }
  void TakeSnapshot(View view);
  void ReleaseStatementSnapshot();
  TouchedTable& Touch(const std::shared_ptr<TableState>& table);
  void EndDeletions(bool undone);
  // A KILL of an earlier statement must not end this commit.
  void BeginCommit(bool killable);
  void MakeInterruptible(Transaction* transaction);
  Status RecordAutoIncrements(Transaction* into);
  Status RecordAutoIncrementsApart();
  bool ChangedMoreThanTemporaryTables() const;
  void DetachCursors();
  void KeepDuplicateLocked();
  void Finish();

  THD* const thd_;
  std::unique_ptr<Transaction> transaction_;
  // Taken within the server's LOCK_thd_data; holds only an interrupt.
  Latch kill_latch_{LatchOf::kKill};
  // Guarded by kill_latch_. Null: a KILL has nothing to end.
  Transaction* interruptible_ = nullptr;
  // Links of all sessions, guarded by the list's latch.
  Session* previous_session_ = nullptr;
  Session* next_session_ = nullptr;
  // Read by ForEachTransaction(). Written by the own thread. Relaxed: each value is right by itself.
  std::atomic<uint64_t> seen_transaction_{0};  // 0: none is open.
  std::atomic<time_t> seen_begun_{0};
  std::atomic<enum_tx_isolation> seen_isolation_{ISO_REPEATABLE_READ};
  std::atomic<bool> seen_row_locks_{true};
  bool open_ = false;  // transaction_ is neither committed nor rolled back.
  bool in_statement_ = false;
  bool registered_ = false;  // The server knows that the transaction spans statements.
  bool aborted_ = false;
  bool prepared_ = false;
  // Not empty: the transaction is in engine->branches under this name, so that another connection finds it as soon
  // as the server reports the end of this one.
  std::string branch_;
  bool ordered_ = false;
  bool pessimistic_ = true;
  bool row_locks_on_ = true;
  bool conflicts_on_changed_ = true;
  enum_tx_isolation isolation_ = ISO_REPEATABLE_READ;  // The session's own level.
  bool consistent_ = false;                            // See BeginConsistent().
  View view_ = View::kTransaction;                     // In use by transaction_.
  bool statement_snapshot_ = false;                    // View::kStatement has a snapshot.
  PSI_stage_info stage_before_wait_{};
  Wait lock_wait_;
  Savepoint statement_start_;
  uint64_t row_changes_ = 0;
  // By view: Dictionary::tables_made() before its snapshot.
  std::array<uint64_t, 2> snapshot_tables_{};
  std::vector<TouchedTable> touched_;
  int slot_ = -1;  // See AutoIncrementKey().
  uint duplicate_key_ = ~0U;
  ColumnFamily* duplicate_family_ = nullptr;  // Null: none found in this statement.
  std::string duplicate_;
  Cursor* cursors_ = nullptr;
};

}  // namespace tidesdb::plugin
