#include "session/thd_session.h"

#include <algorithm>

#include "base/guard.h"
#include "base/handlerton.h"
#include "base/huge_pages.h"
#include "base/stage.h"
#include "base/sysvars.h"
#include "codec/auto_increment.h"
#include "codec/bytes.h"
#include "dictionary/engine.h"
#include "session/lock_wait.h"

namespace tidesdb::plugin {
namespace {

struct SessionList {
  Latch latch{LatchOf::kSessions};
  Session* head = nullptr;  // Guarded by latch.
};

// Created for the first connection that uses the engine; connections may end after the plugin's
// deinit.
SessionList& AllSessions() {
  static SessionList* const sessions = std::make_unique<SessionList>().release();
  return *sessions;
}

bool SpansStatements(THD* thd) {
  return thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN);
}

}  // namespace

Session* Session::Existing(THD* thd) {
  return static_cast<Session*>(thd_get_ha_data(thd, tidesdb_hton));
}

Session& Session::Of(THD* thd) {
  Session* session = Existing(thd);
  if (session == nullptr) {
    // Here and not when the plugin starts, because the server forbids them only later.
    AllowHugePagesOnRequest();
    auto made = std::make_unique<Session>(thd);
    session = made.get();
    thd_set_ha_data(thd, tidesdb_hton, made.release());
  }
  return *session;
}

void Session::Close(THD* thd) {
  const std::unique_ptr<Session> session(Existing(thd));
  // The server's lock for this data is held around each Kill(): afterwards no Kill() is running and
  // none will come. No latch of ours may be held here, because Kill() takes it within that lock.
  if (session != nullptr) thd_set_ha_data(thd, tidesdb_hton, nullptr);
}

void Session::Kill(THD* thd) {
  Session* const session = Existing(thd);
  if (session == nullptr) return;
  LatchGuard guard(session->kill_latch_);
  if (session->interruptible_ != nullptr) session->interruptible_->Interrupt();
}

Session::Session(THD* thd) : thd_(thd) {
  SessionList& all = AllSessions();
  LatchGuard guard(all.latch);
  next_session_ = all.head;
  if (all.head != nullptr) all.head->previous_session_ = this;
  all.head = this;
}

void Session::ForEachTransaction(const std::function<void(const Sight&)>& tell) {
  SessionList& all = AllSessions();
  LatchGuard guard(all.latch);
  for (Session* session = all.head; session != nullptr; session = session->next_session_) {
    const uint64_t transaction = session->seen_transaction_.load(std::memory_order_relaxed);
    if (transaction == 0) continue;
    tell({session->thd_, transaction, session->seen_begun_.load(std::memory_order_relaxed),
          session->seen_isolation_.load(std::memory_order_relaxed),
          session->seen_row_locks_.load(std::memory_order_relaxed)});
  }
}

Session::~Session() {
  {
    SessionList& all = AllSessions();
    LatchGuard guard(all.latch);
    (previous_session_ != nullptr ? previous_session_->next_session_ : all.head) = next_session_;
    if (next_session_ != nullptr) next_session_->previous_session_ = previous_session_;
  }
  if (!branch_.empty()) open_ = false;  // It stays: any connection may end it.
  if (open_) Rollback();
  while (cursors_ != nullptr) cursors_->Close();
  if (slot_ >= 0) engine->slots.Give(slot_);
}

void Session::OpenTransaction() {
  if (open_) return;
  TransactionOptions options;
  // A logged statement's result must not depend on which transaction prepares first. If the server
  // uses no two-phase commit, the binary log is written before we could refuse. A statement that is
  // its own transaction commits where no handler of a stored program can catch a conflict.
  const int format = thd_binlog_format(thd_);
  row_locks_on_ = sysvars::PessimisticLocking() || format == BINLOG_FORMAT_STMT ||
                  (format != BINLOG_FORMAT_UNSPEC && tidesdb_hton->prepare == nullptr);
  pessimistic_ = row_locks_on_ || !SpansStatements(thd_);
  options.concurrency = pessimistic_ ? Concurrency::kPessimistic : Concurrency::kOptimistic;
  conflicts_on_changed_ = sysvars::SnapshotIsolation(thd_);
  options.conflict_on_changed = conflicts_on_changed_;
  options.staging_bytes = sysvars::StagingBytes(thd_);
  options.tag = thd_get_thread_id(thd_);
  options.lock_wait_listener = this;
  if (transaction_ == nullptr) {
    transaction_ = engine->db->Begin(options);
    MakeInterruptible(transaction_.get());
  } else {
    // It has ended and the options are right. If this failed, each of its calls would return the
    // error.
    transaction_->Restart(options).IgnoreError();
  }
  open_ = true;
  view_ = View::kTransaction;
  statement_snapshot_ = false;
  seen_begun_.store(time(nullptr), std::memory_order_relaxed);
  seen_isolation_.store(isolation_, std::memory_order_relaxed);
  seen_row_locks_.store(pessimistic_, std::memory_order_relaxed);
  seen_transaction_.store(transaction_->id(), std::memory_order_relaxed);
}

void Session::LockWaitBegins() noexcept {
  set_thd_stage_info(thd_, &InfoOf(StageOf::kRowLock), &stage_before_wait_, __func__, __FILE__,
                     __LINE__);
  // A thread pool runs another connection meanwhile.
  thd_wait_begin(thd_, THD_WAIT_ROW_LOCK);
  lock_wait_.Begin(WaitOf::kRowLock);
}

void Session::LockWaitEnds() noexcept {
  lock_wait_.End();
  thd_wait_end(thd_);
  set_thd_stage_info(thd_, &stage_before_wait_, nullptr, __func__, __FILE__, __LINE__);
}

bool Session::TellsBlockers() const noexcept { return thd_need_wait_reports(thd_) != 0; }

void Session::WaitsFor(LockWaitListener& blocker) noexcept {
  thd_rpl_deadlock_check(thd_, static_cast<Session&>(blocker).thd_);
}

void Session::BeginStatement() {
  if (!in_statement_) StartStatement();
  // Each time: a stored function's statements run within the calling statement.
  transaction_->SetLockWaitTimeout(LockWaitTimeoutUs(thd_));
}

void Session::StartStatement() {
  in_statement_ = true;
  duplicate_family_ = nullptr;
  isolation_ = static_cast<enum_tx_isolation>(thd_tx_isolation(thd_));
  OpenTransaction();
  trans_register_ha(thd_, false, tidesdb_hton, 0);
  if (!registered_ && SpansStatements(thd_)) {
    trans_register_ha(thd_, true, tidesdb_hton, 0);
    registered_ = true;
  }
  if (statement_snapshot_) {
    DetachCursors();
    ReleaseStatementSnapshot();
  }
  transaction_->ClearInterrupt();
  // Keeps a KILL that came before.
  if (thd_kill_level(thd_) != THD_IS_NOT_KILLED) transaction_->Interrupt();
  statement_start_ = transaction_->SetSavepoint();
  // Its rows go to the client at once. The end reports an error.
  if (TellsClient()) AwaitSeen().IgnoreError();
}

void Session::EndStatement() {
  if (!in_statement_) return;
  in_statement_ = false;
  if (!open_) return;
  DetachCursors();
  ReleaseStatementSnapshot();
  transaction_->ReleaseSavepoint(statement_start_);
  EndDeletions(false);
  for (TouchedTable& touched : touched_) {
    touched.rows += touched.statement_rows;
    touched.statement_rows = 0;
  }
}

void Session::NoteDuplicate(uint key_number, ColumnFamily* family, Slice key) {
  duplicate_key_ = key_number;
  duplicate_family_ = family;
  duplicate_.assign(key);
}

// Among the locks that a failed statement released: takes that of the row it failed for again.
void Session::KeepDuplicateLocked() {
  if (duplicate_family_ == nullptr || !pessimistic_) return;
  PinnedValue ignored;
  // Another transaction may have taken it meanwhile; that is fine.
  const auto locked = transaction_->GetForUpdate(duplicate_family_, duplicate_, LockMode::kShared,
                                                 LockWait::kNoWait, &ignored);
  if (locked.ok() && !*locked) transaction_->UnlockLast(duplicate_family_, duplicate_);
}

void Session::RollbackStatement() {
  if (!in_statement_) return;
  in_statement_ = false;
  if (!open_) return;
  DetachCursors();
  const Status undone = transaction_->RollbackTo(statement_start_, LocksSince::kRelease);
  if (!undone.ok()) {
    // Half a statement must not be committed.
    guard::ToHandlerError(undone);
    Abort();
    thd_->mark_transaction_to_rollback(true);
    return;
  }
  KeepDuplicateLocked();
  ReleaseStatementSnapshot();
  transaction_->ReleaseSavepoint(statement_start_);
  EndDeletions(true);
  for (TouchedTable& touched : touched_) touched.statement_rows = 0;
}

Status Session::TakeWritesBack() {
  return transaction_->RollbackTo(statement_start_, LocksSince::kKeep);
}

// A SELECT into variables has its own kind of result. A function is a part of the outer statement.
bool Session::TellsClient() const {
  if (thd_->spcont == nullptr || thd_->in_sub_stmt != 0) return true;
  LEX* const lex = thd_->lex;
  return lex->sql_command == SQLCOM_SELECT ? lex->result == nullptr : lex->has_returning();
}

Status Session::AwaitSeen() {
  return open_ && transaction_ != nullptr ? transaction_->AwaitSeen() : Status::Ok();
}

enum_tx_isolation Session::LevelFor(THD* thd, enum_tx_isolation table_level) {
  const auto level = static_cast<enum_tx_isolation>(thd_tx_isolation(thd));
  if (level != ISO_REPEATABLE_READ) return level;
  if (table_level >= level) return table_level;
  const Session* const session = Existing(thd);
  return session != nullptr && session->consistent_ ? level : table_level;
}

void Session::UseView(View view) {
  transaction_->UseView(view);
  view_ = view;
}

void Session::TakeSnapshot(View view) {
  // In this order: a counted table is in the snapshot.
  snapshot_tables_[static_cast<size_t>(view)] = engine->dictionary.tables_made();
  const bool tells_now = TellsClient() || !SpansStatements(thd_);
  transaction(view)->SetSnapshot(tells_now ? SnapshotAt::kDurable : SnapshotAt::kNewest);
  if (view == View::kStatement) statement_snapshot_ = true;
}

void Session::ReleaseStatementSnapshot() {
  if (!statement_snapshot_) return;
  statement_snapshot_ = false;
  transaction(View::kStatement)->ReleaseSnapshot();
}

Transaction* Session::TransactionForPlainRead(View view) {
  if (!HasSnapshot(view)) TakeSnapshot(view);
  return transaction_.get();
}

bool Session::SnapshotIsOlderThan(uint64_t made, View view) {
  return made > snapshot_tables_[static_cast<size_t>(view)] && open_ && HasSnapshot(view);
}

bool Session::MayChangeNewerRows(View view) {
  return pessimistic_ && !conflicts_on_changed(view) && HasSnapshot(view);
}

bool Session::OwnChangesCover(const TableState& table, View view) {
  if (conflicts_on_changed(view) && pessimistic_) return false;
  for (const TouchedTable& touched : touched_) {
    if (touched.table.get() == &table && touched.changes > 0) {
      return !pessimistic_ || HasSnapshot(view);
    }
  }
  return false;
}

std::optional<uint64_t> Session::NewestVersionSeen(const TableState& table, View view) {
  // In this order: a commit that becomes visible between the two is first counted as a writer.
  if (aborted_ || table.writers.load(std::memory_order_acquire) != 0) return std::nullopt;
  if (engine->branches.any_recovered()) return std::nullopt;
  const uint64_t version =
      std::max(table.version.load(std::memory_order_acquire), engine->branches.recovered_version());
  if (!open_ || !HasSnapshot(view)) return version;
  if (SnapshotIsOlderThan(table.made, view) || transaction_->SnapshotSequence() < version)
    return std::nullopt;
  return version;
}

bool Session::LetsTablesGo() const {
  return !open_ || (!transaction_->HasLocks() && !transaction_->HasWrites());
}

void Session::BeginWithSnapshot() {
  isolation_ = static_cast<enum_tx_isolation>(thd_tx_isolation(thd_));
  OpenTransaction();
  trans_register_ha(thd_, true, tidesdb_hton, 0);
  registered_ = true;
  const View view = ViewAt(isolation_);
  if (!HasSnapshot(view)) TakeSnapshot(view);
}

void Session::BeginConsistent() {
  BeginWithSnapshot();
  consistent_ = true;
}

Savepoint Session::SetSavepoint() {
  OpenTransaction();
  return transaction_->SetSavepoint();
}

void Session::ReleaseSavepoint(Savepoint savepoint) {
  if (open_) transaction_->ReleaseSavepoint(savepoint);
}

Status Session::RollbackTo(Savepoint savepoint) {
  if (!open_) return Status::Ok();
  DetachCursors();
  return transaction_->RollbackTo(savepoint, LocksSince::kKeep);
}

Status Session::RecordAutoIncrements(Transaction* into) {
  for (TouchedTable& touched : touched_) {
    TableState& table = *touched.table;
    // A recorded value was committed before this commit, and is recovered whenever this one is.
    if (touched.next_auto_increment <= table.recorded_auto_increment || table.outdated) continue;
    if (slot_ < 0) slot_ = engine->slots.Take();
    // Records the counter itself, not what this transaction used of it: a small value that a
    // statement named must not replace a larger one under the slot.
    const uint64_t counter =
        std::max(touched.next_auto_increment, table.next_auto_increment.load());
    touched.recorded_auto_increment =
        counter + AutoIncrementAhead(counter, touched.auto_increment_max);
    std::string value;
    PutFixed64(&value, touched.recorded_auto_increment);
    // Only this connection writes under this slot while it has it.
    TIDESDB_TRY(into->PutUnderLock(engine->dictionary.system(),
                                   AutoIncrementKey(table.def, static_cast<uint16_t>(slot_)),
                                   value));
  }
  return Status::Ok();
}

Status Session::RecordAutoIncrementsApart() {
  const std::unique_ptr<Transaction> apart = engine->db->Begin(TransactionOptions());
  TIDESDB_TRY(RecordAutoIncrements(apart.get()));
  TIDESDB_TRY(apart->Commit());
  for (TouchedTable& touched : touched_) {
    touched.table->RaiseRecordedAutoIncrement(touched.recorded_auto_increment);
  }
  return Status::Ok();
}

Status Session::Prepare(const std::string& name, bool xa_branch) {
  if (!open_) return Status::Ok();
  DetachCursors();
  BeginCommit(true);
  TIDESDB_TRY(xa_branch ? RecordAutoIncrementsApart() : RecordAutoIncrements(transaction_.get()));
  // Temporary tables end with the connection, and so does a branch that changed nothing else.
  const bool outlives = !xa_branch || ChangedMoreThanTemporaryTables();
  TIDESDB_TRY(outlives ? transaction_->PrepareNamed(name) : transaction_->Prepare());
  // From here on other engines may have committed their part.
  MakeInterruptible(nullptr);
  prepared_ = true;
  if (xa_branch && !transaction_->prepared_name().empty()) {
    branch_ = name;
    transaction_->SetLockWaitListener(nullptr);  // The transaction may outlive this session.
    engine->branches.Park({std::move(transaction_), std::move(touched_), false});
    touched_.clear();
    seen_transaction_.store(0, std::memory_order_relaxed);  // It is among the branches.
  }
  return Status::Ok();
}

bool Session::ChangedMoreThanTemporaryTables() const {
  return std::any_of(touched_.begin(), touched_.end(), [](const TouchedTable& touched) {
    return touched.changes > 0 && !touched.table->def.temporary;
  });
}

void Session::TakeBranchBack() {
  if (branch_.empty()) return;
  Branch branch = engine->branches.Take(branch_);
  transaction_ = std::move(branch.transaction);
  touched_ = std::move(branch.touched);
  branch_.clear();
  if (transaction_ == nullptr) {
    open_ = false;
  } else {
    transaction_->SetLockWaitListener(this);
  }
}

void Session::OrderCommit() {
  if (!open_ || !prepared_) return;
  ordered_ = true;
  transaction_->OrderCommit();
}

void Session::MakeInterruptible(Transaction* transaction) {
  LatchGuard guard(kill_latch_);
  interruptible_ = transaction;
}

void Session::BeginCommit(bool killable) {
  if (!killable) MakeInterruptible(nullptr);
  transaction_->ClearInterrupt();
  if (killable && thd_kill_level(thd_) != THD_IS_NOT_KILLED) transaction_->Interrupt();
  if (!pessimistic_) transaction_->SetLockWaitTimeout(LockWaitTimeoutUs(thd_));
}

Status Session::Commit(bool killable) {
  TakeBranchBack();
  if (!open_) {
    Finish();
    return Status::Ok();
  }
  DetachCursors();
  EndDeletions(false);
  struct InterruptibleAgain {
    Session* session;
    ~InterruptibleAgain() { session->MakeInterruptible(session->transaction_.get()); }
  } again{this};
  BeginCommit(killable && !prepared_);
  Status committed;
  if (!prepared_) committed = RecordAutoIncrements(transaction_.get());
  if (committed.ok()) committed = transaction_->Commit();
  if (!committed.ok()) {
    if (prepared_) {
      // The log is closed; after its restart the server asks for this transaction by name.
      transaction_.reset();
    } else {
      transaction_->Rollback();
    }
    Finish();
    return committed;
  }
  SettleTouched(&touched_, transaction_->CommitSequence());
  Finish();
  return committed;
}

void Session::Rollback() {
  TakeBranchBack();
  if (open_) {
    DetachCursors();
    transaction_->Rollback();
    MakeInterruptible(transaction_.get());
  }
  Finish();
}

void Session::Abort() {
  if (open_) {
    DetachCursors();
    transaction_->Rollback();
  }
  open_ = false;
  seen_transaction_.store(0, std::memory_order_relaxed);
  SettleTouched(&touched_, 0);
  aborted_ = true;
}

void Session::Finish() {
  open_ = false;
  seen_transaction_.store(0, std::memory_order_relaxed);
  in_statement_ = false;
  registered_ = false;
  aborted_ = false;
  prepared_ = false;
  ordered_ = false;
  consistent_ = false;
  SettleTouched(&touched_, 0);
}

TouchedTable& Session::Touch(const std::shared_ptr<TableState>& table) {
  for (TouchedTable& touched : touched_) {
    if (touched.table == table) return touched;
  }
  touched_.push_back({table});
  return touched_.back();
}

void Session::CountRows(const std::shared_ptr<TableState>& table, int64_t inserted,
                        uint64_t changed) {
  TouchedTable& touched = Touch(table);
  if (touched.changes == 0) table->BeginWrite();
  touched.statement_rows += inserted;
  touched.changes += changed;
}

void Session::NoteDeletion(const std::shared_ptr<TableState>& table) {
  Touch(table).deletes = true;
}

// The family identifies the rows, whichever object describes the table.
bool Session::MayReplaceDeleted(const TableState& table) const {
  return std::any_of(touched_.begin(), touched_.end(), [&table](const TouchedTable& touched) {
    return touched.deletes && touched.table->def.primary_family == table.def.primary_family;
  });
}

std::vector<DeletedRange>* Session::CountDeleted(const std::shared_ptr<TableState>& table) {
  const int command = thd_sql_command(thd_);
  if (command != SQLCOM_DELETE && command != SQLCOM_DELETE_MULTI) return nullptr;
  if (sysvars::CompactAfterDeletedRows(thd_) == 0) return nullptr;
  TouchedTable& touched = Touch(table);
  touched.statement_deleted++;
  return &touched.deleted;
}

// All tables and partitions of the statement together must have lost enough rows.
void Session::EndDeletions(bool undone) {
  uint64_t rows = 0;
  for (const TouchedTable& touched : touched_) rows += touched.statement_deleted;
  if (rows == 0) return;
  const bool enough = !undone && rows >= sysvars::CompactAfterDeletedRows(thd_);
  for (TouchedTable& touched : touched_) {
    if (touched.statement_deleted == 0) continue;
    touched.statement_deleted = 0;
    touched.compacts_deleted |= enough;
    if (!touched.compacts_deleted) touched.deleted.clear();
  }
}

void Session::UsedAutoIncrement(const std::shared_ptr<TableState>& table, uint64_t next,
                                uint64_t max) {
  TouchedTable& touched = Touch(table);
  touched.auto_increment_max = max;
  if (touched.next_auto_increment < next) touched.next_auto_increment = next;
}

void Session::Link(Cursor* cursor) {
  cursor->previous_ = nullptr;
  cursor->next_ = cursors_;
  if (cursors_ != nullptr) cursors_->previous_ = cursor;
  cursors_ = cursor;
}

void Session::Unlink(Cursor* cursor) {
  if (cursor->previous_ != nullptr) {
    cursor->previous_->next_ = cursor->next_;
  } else {
    cursors_ = cursor->next_;
  }
  if (cursor->next_ != nullptr) cursor->next_->previous_ = cursor->previous_;
}

void Session::DetachCursors() {
  for (Cursor* cursor = cursors_; cursor != nullptr; cursor = cursor->next_) cursor->Detach();
}

}  // namespace tidesdb::plugin
