#include "server/hton_txn.h"

#include "base/guard.h"
#include "base/handlerton.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

// Whether the end of the statement is the end of the transaction.
bool EndsTransaction(THD* thd, bool all) {
  return all || !thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN);
}

// Whether only this engine commits: no other engine and no binary log. Engines that committed
// before us have already left the list.
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

// When the client is told of a statement's end, everything it has seen must be durable. Commits
// inside a stored procedure wait by themselves.
int EndStatement(THD* thd, Session& session) {
  session.EndStatement();
  if (!session.TellsClient()) return 0;
  const Status durable = session.AwaitSeen();
  return durable.ok() ? 0 : ReportCommit(thd, durable);
}

int Commit(THD* thd, bool all) noexcept {
  return guard::Run([&] {
    Session& session = Session::Of(thd);
    if (!EndsTransaction(thd, all)) return EndStatement(thd, session);
    const bool ordered = session.ordered();
    const Status committed = session.Commit(CommitsAlone(thd, all));
    // With commit_ordered() the server does this itself.
    if (!ordered) thd_wakeup_subsequent_commits(thd, committed.ok() ? 0 : 1);
    return committed.ok() ? 0 : ReportCommit(thd, committed);
  });
}

// Conflicts of transactions without locks, a full disk, a KILL: all are found here, before anybody
// has committed.
int Prepare(THD* thd, bool all) noexcept {
  return guard::Run([&] {
    Session& session = Session::Of(thd);
    if (!EndsTransaction(thd, all)) return EndStatement(thd, session);
    // XA COMMIT ONE PHASE: the binary log uses the server's own number for the transaction.
    const bool xa_branch =
        thd->transaction->xid_state.is_explicit_XA() && thd_sql_command(thd) == SQLCOM_XA_PREPARE;
    const XID& xid =
        xa_branch ? *thd->transaction->xid_state.get_xid() : thd->transaction->implicit_xid;
    const Status prepared = session.Prepare(NameOfXid(xid), xa_branch);
    return prepared.ok() ? 0 : ReportCommit(thd, prepared);
  });
}

// In binary log order, under the server's mutex, perhaps on another connection's thread.
void CommitOrdered(THD* thd, bool) noexcept {
  guard::Run([&] {
    Session* const session = Session::Existing(thd);
    if (session != nullptr) session->OrderCommit();
    return 0;
  });
}

// Answers once all ordered commits are durable. The server asks when it starts a new binary log
// file; until the answer it reads older files after a crash.
void CheckpointRequest(void* cookie) noexcept {
  guard::Run([&] {
    Status durable = engine->db->AwaitOrdered();
    if (durable.ok()) durable = engine->db->SyncWal();
    if (durable.ok()) {
      commit_checkpoint_notify_ha(cookie);
    } else {
      sql_print_error(
          "TidesDB: commits cannot be made durable, so older binary log files are kept: %s",
          durable.ToString().c_str());
    }
    return 0;
  });
}

// The return values of these functions come from the XA specification.
constexpr int kXaError = -3;
constexpr int kXaUnknown = -4;

int Recover(XID* list, uint size) noexcept {
  return guard::Run([&] { return static_cast<int>(engine->branches.List(list, size)); });
}

int CommitByXid(XID* xid) noexcept {
  return guard::Run([&] {
    Branch branch = engine->branches.Take(NameOfXid(*xid));
    if (branch.transaction == nullptr) return kXaUnknown;
    const Status committed = branch.transaction->Commit();
    if (!committed.ok()) {
      engine->branches.Park(std::move(branch));
      sql_print_error("TidesDB: a prepared transaction cannot be committed: %s",
                      committed.ToString().c_str());
      // The server keeps the branch only after an error.
      if (current_thd != nullptr) ReportCommit(current_thd, committed);
      return kXaError;
    }
    engine->branches.Ended(&branch, branch.transaction->CommitSequence());
    return 0;
  });
}

int RollbackByXid(XID* xid) noexcept {
  return guard::Run([&] {
    Branch branch = engine->branches.Take(NameOfXid(*xid));
    if (branch.transaction == nullptr) return kXaUnknown;
    branch.transaction->Rollback();
    engine->branches.Ended(&branch, 0);
    return 0;
  });
}

int Rollback(THD* thd, bool all) noexcept {
  return guard::Run([&] {
    Session& session = Session::Of(thd);
    // An error may show what was seen, such as a taken key. Others report a failed sync.
    if (session.TellsClient()) session.AwaitSeen().IgnoreError();
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

// Whether tables used since the savepoint may be released: not while their rows stay locked.
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

// Under the server's mutex for the commit order: the snapshot matches the binary log's position.
int StartConsistentSnapshot(THD* thd) noexcept {
  return guard::Run([&] {
    const Status awaited = engine->db->AwaitOrdered();
    if (!awaited.ok()) return guard::ToHandlerError(awaited);
    Session::Of(thd).BeginConsistent();
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
  port::SetCallback<Prepare>(hton->prepare);
  port::SetCallback<CommitOrdered>(hton->commit_ordered);
  hton->commit_checkpoint_request = CheckpointRequest;
  port::SetCallback<Recover>(hton->recover);
  port::SetCallback<CommitByXid>(hton->commit_by_xid);
  port::SetCallback<RollbackByXid>(hton->rollback_by_xid);
  port::SetCallback<StartConsistentSnapshot>(hton->start_consistent_snapshot);
  port::SetCallback<CloseConnection>(hton->close_connection);
  hton->kill_query = KillQuery;
}

}  // namespace tidesdb::plugin
