#include "server/hton_txn.h"

#include "base/guard.h"
#include "base/handlerton.h"
#include "base/sysvars.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

// Whether the end of a statement is the end of the transaction.
bool EndsTransaction(THD* thd, bool all) {
  return all || !thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN);
}

// Whether nobody else commits with this engine: neither another engine nor the binary log. Who
// committed before us in the list has left it by now.
bool CommitsAlone(THD* thd, bool all) {
  const Ha_trx_info* const first = (all ? thd->transaction->all : thd->transaction->stmt).ha_list;
  return first != nullptr && first->is_started() && first->ht() == tidesdb_hton &&
         first->next() == nullptr;
}

// The server would report error 1180; raising ours first keeps the number that retry code looks
// for.
int ReportCommit(THD* thd, const Status& status) {
  const int error = guard::ToHandlerError(status);
  switch (status.code()) {
    case Code::kConflict:
    case Code::kDeadlock:
      if (sysvars::PrintAllConflicts()) {
        sql_print_information("TidesDB: COMMIT: %s", status.ToString().c_str());
      }
      my_error(ER_LOCK_DEADLOCK, MYF(0));
      return HA_ERR_LOCK_DEADLOCK;
    case Code::kTimedOut:
    case Code::kBusy:
      my_error(ER_LOCK_WAIT_TIMEOUT, MYF(0));
      return error;
    case Code::kInterrupted:
      thd->send_kill_message();
      return error;
    default:
      my_printf_error(ER_GET_ERRMSG, "TidesDB: %s", MYF(0), status.ToString().c_str());
      return error;
  }
}

int Commit(THD* thd, bool all) noexcept {
  return guard::Run([&] {
    Session& session = Session::Of(thd);
    if (!EndsTransaction(thd, all)) {
      session.EndStatement();
      return 0;
    }
    const Status committed = session.Commit(CommitsAlone(thd, all));
    return committed.ok() ? 0 : ReportCommit(thd, committed);
  });
}

int Rollback(THD* thd, bool all) noexcept {
  return guard::Run([&] {
    Session& session = Session::Of(thd);
    if (EndsTransaction(thd, all)) {
      session.Rollback();
    } else {
      session.RollbackStatement();
    }
    return 0;
  });
}

int SetSavepoint(THD* thd, void* place) noexcept {
  return guard::Run([&] {
    new (place) Savepoint(Session::Of(thd).SetSavepoint());
    return 0;
  });
}

int RollbackToSavepoint(THD* thd, void* place) noexcept {
  return guard::Run([&] {
    const Status undone = Session::Of(thd).RollbackTo(*static_cast<Savepoint*>(place));
    return undone.ok() ? 0 : guard::ToHandlerError(undone);
  });
}

// Whether tables used since the savepoint may go: not while their rows stay locked, as they do.
bool CanReleaseMetadataLocks(THD* thd) noexcept {
  const Session* const session = Session::Existing(thd);
  return session == nullptr || session->LetsTablesGo();
}

int ReleaseSavepoint(THD* thd, void* place) noexcept {
  return guard::Run([&] {
    Session::Of(thd).ReleaseSavepoint(*static_cast<Savepoint*>(place));
    return 0;
  });
}

int StartConsistentSnapshot(THD* thd) noexcept {
  return guard::Run([&] {
    Session::Of(thd).BeginWithSnapshot();
    return 0;
  });
}

int CloseConnection(THD* thd) noexcept {
  return guard::Run([&] {
    Session::Close(thd);
    return 0;
  });
}

void KillQuery(handlerton*, THD* thd, thd_kill_levels) noexcept {
  guard::Run([&] {
    Session::Kill(thd);
    return 0;
  });
}

}  // namespace

void SetTransactionCallbacks(handlerton* hton) {
  hton->savepoint_offset = sizeof(Savepoint);
  port::SetCallback<Commit>(hton->commit);
  port::SetCallback<Rollback>(hton->rollback);
  port::SetCallback<SetSavepoint>(hton->savepoint_set);
  port::SetCallback<RollbackToSavepoint>(hton->savepoint_rollback);
  port::SetCallback<CanReleaseMetadataLocks>(hton->savepoint_rollback_can_release_mdl);
  port::SetCallback<ReleaseSavepoint>(hton->savepoint_release);
  port::SetCallback<StartConsistentSnapshot>(hton->start_consistent_snapshot);
  port::SetCallback<CloseConnection>(hton->close_connection);
  hton->kill_query = KillQuery;
}

}  // namespace tidesdb::plugin
