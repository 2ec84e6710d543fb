// What the engine knows of one connection: its transaction, its statement, its cursors.
//
// Owns: one Transaction that is used again and again.
// Threads: the connection's own; only Kill() comes from others.
#pragma once

#include "base/server_port.h"

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

  // The connection's session; made at the first call.
  static Session& Of(THD* thd);
  // Null when it never used this engine.
  static Session* Existing(THD* thd);
  static void Close(THD* thd);
  // Any thread that holds the server's LOCK_thd_data of the connection: ends what it waits for.
  static void Kill(THD* thd);
  // What others may see of a connection with an open transaction.
  struct Sight {
    THD* thd;  // Good during the call.
    uint64_t transaction;
    time_t begun;
    enum_tx_isolation isolation;
    bool row_locks;
  };
  // Any thread; connections neither come nor go meanwhile.
  static void ForEachTransaction(const std::function<void(const Sight&)>& tell);

  // --- Statements ---
  // Tells the server that this engine takes part, and remembers where to go back to if the
  // statement fails. May be called again within a statement.
  void BeginStatement();
  // The statement succeeded and the transaction goes on.
  void EndStatement();
  void RollbackStatement();
  // What the statement has written so far is undone; its locks stay.
  Status TakeWritesBack();
  // Whether the client sees what the statement reads, or that it has ended, before the transaction
  // ends: not inside a stored procedure, but for rows that it sends.
  bool TellsClient() const;
  // Transaction::AwaitSeen of what is open.
  Status AwaitSeen();
  bool in_statement() const { return in_statement_; }

  // --- Transactions ---
  Transaction* transaction() { return transaction_.get(); }
  // With the snapshot that plain reads use at this isolation level.
  Transaction* TransactionForPlainRead();
  enum_tx_isolation isolation() const { return isolation_; }
  bool pessimistic() const { return pessimistic_; }
  // Whether it may change rows that are newer than what its plain reads see.
  bool MayChangeNewerRows() const;
  // Whether transactions that span statements lock rows too, so that who waits for one is right to.
  bool row_locks_on() const { return row_locks_on_; }
  // Whether the snapshot has nothing of a table's rows or an index's entries, because another
  // connection filled or emptied it since. made: TableState's. Never true without a snapshot.
  bool SnapshotIsOlderThan(uint64_t made) const;
  // Whether plain reads of the table see own changes over rows that are newer, or older, than their
  // index entries: those that were newer than the snapshot; without locks also what others commit.
  bool OwnChangesCover(const TableState& table) const;
  // The table's version that plain reads see, if it is the newest one and nobody, this transaction
  // included, is about to make another. Without a snapshot: as if it were taken now.
  std::optional<uint64_t> NewestVersionSeen(const TableState& table) const;
  // Whether others need not wait for the tables it has used: it has neither locks nor changes.
  bool LetsTablesGo() const;
  // Starts one if there is none, and opens its snapshot.
  void BeginWithSnapshot();
  // Killable: a KILL may end it and undo the transaction, as nobody else has committed it or will.
  Status Commit(bool killable);
  // Two-phase commit, first half: does all that can fail, and logs the transaction under this name.
  // A branch of a user's XA may outlive the connection: what it used of AUTO_INCREMENT counters is
  // committed now. After an error the server rolls back.
  Status Prepare(const std::string& name, bool xa_branch);
  // Its place in the order of commits; a short call on any thread. Commit() tells how it went.
  void OrderCommit();
  bool ordered() const { return ordered_; }
  void Rollback();
  // After an error that undoes everything: the engine's side is rolled back now, the server does
  // its own part at the end of the statement. Until then every use gives HA_ERR_ROLLBACK.
  void Abort();
  bool aborted() const { return aborted_; }

  // A duplicate was found; its key is locked, and stays so if the statement fails. Its number is the
  // session's, as a partitioned table asks another partition than the one that found it.
  void NoteDuplicate(uint key_number, ColumnFamily* family, Slice key);
  uint duplicate_key() const { return duplicate_key_; }

  Savepoint SetSavepoint();
  Status RollbackTo(Savepoint savepoint);
  void ReleaseSavepoint(Savepoint savepoint);

  // --- What a commit makes true ---
  void CountRows(const std::shared_ptr<TableState>& table, int64_t inserted, uint64_t changed);
  // `max`: the largest value of the column.
  void UsedAutoIncrement(const std::shared_ptr<TableState>& table, uint64_t next, uint64_t max);

  void Link(Cursor* cursor);
  void Unlink(Cursor* cursor);

 private:
  // LockWaitListener: SHOW PROCESSLIST says it.
  void LockWaitBegins() noexcept override;
  void LockWaitEnds() noexcept override;
  // Of an applier of replication: a later transaction that is in the way of an earlier one, and
  // waits for its commit, is ended by the server and done again.
  bool TellsBlockers() const noexcept override;
  void WaitsFor(LockWaitListener& blocker) noexcept override;

  void OpenTransaction();
  void StartStatement();
  void TakeBranchBack();
  void TakeSnapshot();
  TouchedTable& Touch(const std::shared_ptr<TableState>& table);
  // A KILL of an earlier statement does not end this commit.
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
  // Taken within the server's LOCK_thd_data; nothing but an interrupt is within it.
  Latch kill_latch_{LatchOf::kKill};
  // Guarded by kill_latch_. Null: a KILL has nothing to end.
  Transaction* interruptible_ = nullptr;
  // Of all sessions, under the list's latch.
  Session* previous_session_ = nullptr;
  Session* next_session_ = nullptr;
  // What ForEachTransaction() reads. Written by the own thread. Relaxed: each by itself is right.
  std::atomic<uint64_t> seen_transaction_{0};  // 0: none is open.
  std::atomic<time_t> seen_begun_{0};
  std::atomic<enum_tx_isolation> seen_isolation_{ISO_REPEATABLE_READ};
  std::atomic<bool> seen_row_locks_{true};
  bool open_ = false;  // transaction_ is neither committed nor rolled back.
  bool in_statement_ = false;
  bool registered_ = false;  // The server knows that the transaction spans statements.
  bool aborted_ = false;
  bool prepared_ = false;
  // Not empty: the transaction is with engine->branches under this name, where another connection
  // finds it at the moment at which the server says that this one is going.
  std::string branch_;
  bool ordered_ = false;
  bool pessimistic_ = true;
  bool row_locks_on_ = true;
  bool conflicts_on_changed_ = true;
  enum_tx_isolation isolation_ = ISO_REPEATABLE_READ;
  PSI_stage_info stage_before_wait_{};
  Wait lock_wait_;
  Savepoint statement_start_;
  uint64_t snapshot_tables_ = 0;  // Dictionary::tables_made() before the snapshot.
  std::vector<TouchedTable> touched_;
  int slot_ = -1;  // See AutoIncrementKey().
  uint duplicate_key_ = ~0U;
  ColumnFamily* duplicate_family_ = nullptr;  // Null: none was found in this statement.
  std::string duplicate_;
  Cursor* cursors_ = nullptr;
};

}  // namespace tidesdb::plugin
