#include "handler/statement.h"

#include <algorithm>

#include "base/guard.h"
#include "base/sysvars.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

void Statement::Begin(THD* thd) {
  session->BeginStatement();
  level = LevelNow(thd);
}

void Statement::Follow(const Statement& original) {
  session = original.session;
  level = original.level;
  row_lock = original.row_lock;
  stored_lock = original.stored_lock;
  reads_of_a_write = original.reads_of_a_write;
  reads_for_log = original.reads_for_log;
  skip_locked = original.skip_locked;
  logs_statements = original.logs_statements;
}

enum_tx_isolation Statement::LevelNow(THD* thd) const {
  const enum_tx_isolation now =
      Session::LevelFor(thd, sysvars::LevelOf(*open->share()->option_struct));
  if (!reads_for_log) return now;
  return std::max(now, static_cast<enum_tx_isolation>(thd_tx_isolation(thd)));
}

View Statement::view() const { return Session::ViewAt(level); }

Transaction* Statement::transaction() const { return session->transaction(view()); }

Transaction* Statement::TransactionForPlainRead() const {
  return session->TransactionForPlainRead(view());
}

bool Statement::IsNewerThanSnapshot(uint64_t made) const {
  return row_lock == RowLock::kNone && session->SnapshotIsOlderThan(made, view()) &&
         !open->is_temporary();
}

// If the server collects rows before it reads them (index merge, filesort), it drops the error of a read or reports
// another one: a DELETE would then delete nothing and succeed. So this reports it.
int Statement::Fail(const Status& status) {
  const int error = FailUntold(status);
  // The server itself knows the answer to a KILL.
  if (status.code() == Code::kInterrupted || open->thd()->is_error()) return error;
  open->file->print_error(error, MYF(0));
  told_error = error;
  return error;
}

int Statement::FailUntold(const Status& status) {
  const Code code = status.code();
  error_text.clear();
  if (code == Code::kDeadlock || code == Code::kConflict) {
    if (sysvars::PrintAllConflicts()) {
      sql_print_information("TidesDB: %s: %s", open->name.c_str(), status.ToString().c_str());
    }
    const bool locked = session->row_locks_on();
    session->Abort();
    open->thd()->mark_transaction_to_rollback(true);
    return code == Code::kConflict && locked ? HA_ERR_RECORD_CHANGED : HA_ERR_LOCK_DEADLOCK;
  }
  if (code == Code::kTimedOut) {
    open->thd()->mark_transaction_to_rollback(false);
  } else {
    error_text = status.ToString();
  }
  return guard::ToHandlerError(status);
}

int Statement::Damaged(const std::string& what) {
  return Fail(Status::Corruption(open->name + ": " + what));
}

}  // namespace tidesdb::plugin
