#include "db/db_impl.h"

#include <utility>

#include "base/check.h"
#include "io/watched_fs.h"
#include "tidesdb/limits.h"

namespace tidesdb {

namespace {

// The checks of an edit that need no look at the database.
Status CheckCatalogEdit(const CatalogEdit& edit) {
  for (const CatalogEdit::NewFamily& family : edit.create) {
    TIDESDB_TRY(CheckFamilyOptions(family.options));
  }
  for (const auto& [name, value] : edit.put) {
    if (name.size() > kCatalogNameBytesMax) {
      return Status::InvalidArgument("a catalog entry's name has " + std::to_string(name.size()) +
                                     " bytes; the most is " + std::to_string(kCatalogNameBytesMax));
    }
    if (value.size() > kCatalogValueBytesMax) {
      return Status::InvalidArgument("the catalog entry '" + name + "' has " +
                                     std::to_string(value.size()) + " bytes; the most is " +
                                     std::to_string(kCatalogValueBytesMax));
    }
  }
  return Status::Ok();
}

}  // namespace

Result<std::shared_ptr<DbImpl>> DbImpl::Open(const Options& options, const std::string& directory) {
  Env* env = options.env != nullptr ? options.env : Env::Default();
  if (env->fs == nullptr || env->clock == nullptr) {
    return Status::InvalidArgument("option env has no file system or no clock");
  }
  if (directory.empty()) return Status::InvalidArgument("the database directory has no name");
  std::vector<std::string> cut;
  TIDESDB_ASSIGN(const Options resolved, ResolveOptions(options, *env, &cut));
  auto engine = std::make_unique<DbImpl>(resolved, env, directory);
  std::shared_ptr<DbImpl> db(engine.release(), &DbImpl::Retire);
  TIDESDB_TRY(db->Start(cut));
  return db;
}

DbImpl::DbImpl(const Options& options, Env* env, std::string directory)
    : options_(options),
      watched_fs_(options.instruments == nullptr ? nullptr
                                                 : NewWatchedFs(env->fs, options.instruments)),
      watched_env_(*env),
      env_(watched_fs_ == nullptr ? env : &watched_env_),
      directory_(std::move(directory)),
      plan_(PlanMemory(options)),
      flush_queue_max_(options.flush_queue_max) {
  if (watched_fs_ != nullptr) watched_env_.fs = watched_fs_.get();
}

DbImpl::~DbImpl() { CHECK(closed_); }

void DbImpl::Retire(DbImpl* db) {
  std::unique_ptr<DbImpl> owner(db);
  owner->Close().IgnoreError();
  if (!owner->InUse()) return;
  // A pinned value outlived its database, which is a misuse: keep its bytes.
  static Mutex mu;
  static auto* const kept = std::make_unique<std::vector<std::unique_ptr<DbImpl>>>().release();
  MutexLock lock(mu);
  kept->push_back(std::move(owner));
}

bool DbImpl::InUse() const {
  return (tree_ != nullptr && tree_->HasReaders()) ||
         (block_cache_ != nullptr && block_cache_->AnyPinned());
}

void DbImpl::RefuseCalls() {
  families_.Close();
  if (errors_ != nullptr) errors_->SetClosed();
  if (txns_ != nullptr) txns_->Close();
}

void DbImpl::Abandon() {
  LogF(logger_.get(), LogLevel::kError, "the database was destroyed while transactions were open");
  stop_.store(true, std::memory_order_relaxed);
  scheduler_->Stop();
  readers_->Stop();
  StopWarming(false);
  RefuseCalls();
}

Status DbImpl::Close() {
  if (closed_) return Status::Ok();
  const uint64_t active = txns_ == nullptr ? 0 : txns_->Active();
  if (active != 0) {
    return Status::Busy(std::to_string(active) + " transactions are open; end them first");
  }
  FlushForClose();
  if (options_.finish_compactions_on_close) FinishCompactions();
  closed_ = true;
  stop_.store(true, std::memory_order_relaxed);
  if (scheduler_ != nullptr) scheduler_->Stop();
  if (readers_ != nullptr) readers_->Stop();
  StopWarming(true);
  Status status;
  if (wal_ != nullptr && txns_ != nullptr && !errors_->fatal()) status = wal_->Close();
  RefuseCalls();
  // A value that is still pinned keeps the tree that it points into.
  if (tree_ != nullptr && !tree_->HasReaders()) tree_.reset();
  wal_.reset();
  if (tree_ == nullptr && !InUse()) block_cache_.reset();
  directory_lock_.reset();
  return status;
}

void DbImpl::StopWarming(bool save) {
  if (warmer_ == nullptr) return;
  // A list that was not read to its end is still the better one.
  if (warmer_->Stop() && save && !errors_->fatal()) warmer_->Save();
  warmer_.reset();
}

// So that the next open has nothing to replay. Commits that cannot be flushed are in the WAL.
void DbImpl::FlushForClose() {
  if (scheduler_ == nullptr || txns_ == nullptr || errors_->fatal() || only_checked_) return;
  if (const Status flushed = Flush(); !flushed.ok()) {
    LogF(logger_.get(), LogLevel::kWarn, "the next open replays the log: %s",
         flushed.ToString().c_str());
  }
}

// The caller helps with the work. What fails is left for the next open.
void DbImpl::FinishCompactions() {
  if (scheduler_ == nullptr || tree_ == nullptr || only_checked_) return;
  while (!errors_->fatal() && !compaction_halted_.load(std::memory_order_relaxed)) {
    const size_t running = tree_->Pressure().running;
    auto task = tree_->PickCompaction();
    if (task != nullptr) {
      if (RunPicked(std::move(task)) == Scheduler::Outcome::kRetry) return;
    } else if (running + tree_->Pressure().running == 0) {
      return;
    } else {
      WaitForBackground(WatchedWait::kBackground);  // Running compactions may leave more to do.
    }
  }
}

uint32_t DbImpl::NewFamilyId() {
  const FamilyId id = tree_->versions().NewFamilyId();
  families_.Reserve(id);
  return id;
}

Status DbImpl::ApplyCatalog(const CatalogEdit& edit) {
  TIDESDB_TRY(errors_->CheckWritable());
  TIDESDB_TRY(CheckCatalogEdit(edit));
  for (const CatalogEdit::NewFamily& family : edit.create) {
    if (families_.IsReserved(family.id)) continue;
    return Status::InvalidArgument("the id " + std::to_string(family.id) +
                                   " of a new column family is not one of NewFamilyId()");
  }
  // A crash that keeps the change must not lose commits from before it.
  Status status = tree_->ApplyCatalog(edit, txns_->VisibleSequence());
  if (!status.ok()) {
    // A later commit must not build on a change that a crash could bring back.
    VersionSet& versions = tree_->versions();
    if (versions.in_doubt() && !versions.Settle().ok()) {
      errors_->SetFatal(status, "writing the manifest");
    }
    return status;
  }
  for (const CatalogEdit::NewFamily& family : edit.create) families_.Add(family.id, family.options);
  for (const uint32_t id : edit.drop) families_.Drop(id);
  ReadStateChanged();
  return Status::Ok();
}

std::unique_ptr<Transaction> DbImpl::Begin(const TransactionOptions& options,
                                           std::shared_ptr<void> engine) {
  return txns_->Begin(options, std::move(engine));
}

Status DbImpl::Flush() {
  TIDESDB_TRY(errors_->CheckWritable());
  TIDESDB_TRY(
      txns_->RunBetweenGroups([this](SequenceNumber last) { return RotateMemTable(last); }));
  const uint64_t failures = errors_->flush_failures();
  const uint64_t wanted = tree_->memtables().SourcesAdded();
  while (tree_->memtables().SourcesInstalled() < wanted) {
    TIDESDB_TRY(errors_->CheckWritable());
    TIDESDB_TRY(errors_->FlushErrorSince(failures));
    if (stop_.load(std::memory_order_relaxed)) {
      return Status::ShuttingDown("the database is closing; the flush stopped");
    }
    WaitForBackground(WatchedWait::kBackground);
  }
  return Status::Ok();
}

Status DbImpl::Compact(ColumnFamily* family) {
  TIDESDB_TRY(families_.Check(family));
  const uint64_t failures = errors_->flush_failures();
  TIDESDB_TRY(Flush());
  for (;;) {
    bool busy = false;
    auto task = tree_->PickFullCompaction(family->id(), &busy);
    if (task != nullptr) {
      Status done = RunTask(std::move(task));
      scheduler_->WakeCompaction();  // A request may have waited for its end.
      return done;
    }
    if (!busy) return Status::Ok();
    TIDESDB_TRY(errors_->FlushErrorSince(failures));
    if (stop_.load(std::memory_order_relaxed)) {
      return Status::ShuttingDown("the database is closing; the compaction stopped");
    }
    WaitForBackground(WatchedWait::kBackground);
  }
}

Status DbImpl::RequestCompaction(const ColumnFamily* family, Slice first, Slice last) {
  TIDESDB_TRY(errors_->CheckWritable());
  requests_.Add(family->id(), first, last);
  scheduler_->WakeCompaction();
  return Status::Ok();
}

Status DbImpl::SyncWal() {
  TIDESDB_TRY(errors_->CheckWritable());
  Status status = wal_->Sync();
  return status.ok() ? status : WalFailed(std::move(status));
}

Status DbImpl::AwaitOrdered() {
  return txns_->RunBetweenGroups([](SequenceNumber) { return Status::Ok(); });
}

Status DbImpl::Verify(ColumnFamily* family, VerifyDepth depth) {
  TIDESDB_TRY(families_.Check(family));
  return tree_->Verify(family->id(), depth, &stop_);
}

}  // namespace tidesdb
