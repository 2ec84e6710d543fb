// The work of the background threads: flush, compact, delete old files, sync on time.
#include <algorithm>
#include <utility>

#include "base/failpoint.h"
#include "base/told_wait.h"
#include "db/db_impl.h"
#include "io/huge_pages.h"

namespace tidesdb {
namespace {

constexpr size_t kDeletesATurn = 8;  // Between two compactions, so that old files do not pile up.
constexpr uint64_t kWaitForBackgroundUs = 10'000;
constexpr uint64_t kIdleUs = 5'000'000;

}  // namespace

void DbImpl::StartThreads() {
  Scheduler::Pools pools;
  pools.flush_threads = options_.flush_threads;
  pools.compaction_threads = options_.compaction_threads;
  if (options_.sync_mode == SyncMode::kInterval) pools.tick_us = options_.sync_interval_us;
  pools.flush = [this] { return RunFlush(); };
  pools.compact = [this] { return RunCompaction(); };
  pools.requested = [this] { return RunRequestedCompaction(); };
  pools.idle_us = kIdleUs;
  pools.idle = [this] { return RunIdleCompaction(); };
  pools.tick = [this] { Tick(); };
  scheduler_->Start(std::move(pools));
}

Scheduler::Outcome DbImpl::RunFlush() {
  if (errors_->fatal()) return Scheduler::Outcome::kIdle;
  const uint64_t before = metrics_.Get(Counter::kFlushBytesWritten);
  const uint64_t start_us = env_->clock->NowMicros();
  const Result<bool> did = tree_->FlushOne(&stop_);
  if (!did.ok()) {
    const bool retry = errors_->ShouldRetry(did.status(), true, "flushing a memtable");
    BackgroundDone();
    return retry ? Scheduler::Outcome::kRetry : Scheduler::Outcome::kIdle;
  }
  if (!*did) return Scheduler::Outcome::kIdle;
  write_controller_.RecordDrain(metrics_.Get(Counter::kFlushBytesWritten) - before,
                                env_->clock->NowMicros() - start_us);
  ReadStateChanged();
  TIDESDB_FAILPOINT("flush_before_wal_retire");
  if (const Status status = wal_->RetireBelow(tree_->wal_segment_min()); !status.ok()) {
    // The segments stay until the next flush; nothing depends on their removal.
    errors_->ShouldRetry(status, false, "removing old WAL segments");
  }
  BackgroundDone();
  scheduler_->WakeCompaction();
  // So that the next rotation need not wait for the file system. That rotation reports a full disk.
  wal_->PrepareNext().IgnoreError();
  return Scheduler::Outcome::kDidWork;
}

Scheduler::Outcome DbImpl::RunCompaction() {
  const auto after_deleting = tree_->DeleteObsolete(kDeletesATurn) == 0
                                  ? Scheduler::Outcome::kIdle
                                  : Scheduler::Outcome::kDidWork;
  if (errors_->fatal() || compaction_halted_.load(std::memory_order_relaxed)) {
    return after_deleting;
  }
  auto task = tree_->PickCompaction();
  return task == nullptr ? after_deleting : RunPicked(std::move(task));
}

Scheduler::Outcome DbImpl::RunRequestedCompaction() {
  if (errors_->fatal() || compaction_halted_.load(std::memory_order_relaxed)) {
    return Scheduler::Outcome::kIdle;
  }
  auto task = PickRequested();
  return task == nullptr ? Scheduler::Outcome::kIdle : RunPicked(std::move(task));
}

std::unique_ptr<LsmTree::Task> DbImpl::PickRequested() {
  std::vector<CompactionRequests::Request> requests = requests_.Take();
  if (requests.empty()) return nullptr;
  auto task = PickOf(&requests);
  // New requests wait for the end of older ones, and those of a family grow together meanwhile.
  const bool all_new =
      std::all_of(requests.begin(), requests.end(), [](const auto& one) { return one.is_new(); });
  if (all_new && !requests.empty()) {
    // After an error they merge what is in files.
    txns_->RunBetweenGroups([this](SequenceNumber last) { return RotateMemTable(last); })
        .IgnoreError();
    const uint64_t wanted = tree_->memtables().SourcesAdded();
    for (CompactionRequests::Request& one : requests) one.sources = wanted;
    if (task == nullptr) task = PickOf(&requests);
  }
  requests_.GiveBack(std::move(requests));
  return task;
}

std::unique_ptr<LsmTree::Task> DbImpl::PickOf(std::vector<CompactionRequests::Request>* requests) {
  const uint64_t installed = tree_->memtables().SourcesInstalled();
  std::unique_ptr<LsmTree::Task> task;
  std::erase_if(*requests, [&](const CompactionRequests::Request& one) {
    if (one.is_new() || one.sources > installed || task != nullptr) return false;
    bool busy = false;
    task = one.level0 ? tree_->PickLevel0Compaction(one.family, &busy)
                      : tree_->PickRangeCompaction(one.family, one.first, one.last, &busy);
    if (one.level0 && task == nullptr && !busy) EndScanMerge(one.family);  // Nothing to do.
    return !busy;
  });
  return task;
}

void DbImpl::YoungRunsRead(const ColumnFamily* family, YoungRuns runs) {
  ScanWatch& watch = FamilyRegistry::ScansOf(family);
  if (!watch.Add(runs, tree_->Level0MergeBytes(family->id()), txns_->VisibleSequence())) return;
  requests_.AddLevel0(family->id());
  scheduler_->WakeCompaction();
}

void DbImpl::EndScanMerge(FamilyId id) {
  const FamilyHandle* const family = families_.Find(id);
  if (family != nullptr) FamilyRegistry::ScansOf(family).EndMerge(txns_->VisibleSequence());
}

Scheduler::Outcome DbImpl::RunIdleCompaction() {
  if (errors_->fatal() || compaction_halted_.load(std::memory_order_relaxed)) {
    return Scheduler::Outcome::kIdle;
  }
  auto task = tree_->PickIdleCompaction();
  return task == nullptr ? Scheduler::Outcome::kIdle : RunPicked(std::move(task));
}

Scheduler::Outcome DbImpl::RunPicked(std::unique_ptr<LsmTree::Task> task) {
  const Status status = RunTask(std::move(task));
  if (status.ok()) {
    // Its end may have made room for other work.
    scheduler_->WakeCompaction();
    return Scheduler::Outcome::kDidWork;
  }
  if (errors_->ShouldRetry(status, false, "compaction")) return Scheduler::Outcome::kRetry;
  if (status.code() == Code::kShuttingDown) return Scheduler::Outcome::kIdle;
  // Compaction would pick the same damaged file again. Old files are still deleted.
  compaction_halted_.store(true, std::memory_order_relaxed);
  return Scheduler::Outcome::kDidWork;
}

Status DbImpl::RunTask(std::unique_ptr<LsmTree::Task> task) {
  CompactionInfo info;
  const uint64_t start_us = env_->clock->NowMicros();
  const bool for_scans = task->compaction.reason == CompactionReason::kScans;
  Status status = tree_->RunCompaction(std::move(task), &stop_, &info);
  if (for_scans) EndScanMerge(info.family);
  const uint64_t now_us = env_->clock->NowMicros();
  info.run_us = now_us - start_us;
  if (!status.ok()) info.error = status.ToString();
  compactions_.Add(std::move(info), now_us);
  ReadStateChanged();
  BackgroundDone();
  return status;
}

void DbImpl::Tick() {
  if (errors_->fatal()) return;
  SyncWal().IgnoreError();  // A failure is in errors_ already.
}

Status DbImpl::SyncWalTo(SequenceNumber sequence) {
  if (wal_->synced_sequence() >= sequence) return Status::Ok();
  Status status = wal_->Sync();
  return status.ok() ? status : WalFailed(std::move(status));
}

SnapshotView DbImpl::Snapshots() {
  std::vector<SequenceNumber> live = txns_->Snapshots();
  const SequenceNumber visible = live.back();
  live.pop_back();
  return {std::move(live), visible};
}

std::unique_ptr<MemTable> DbImpl::NewMemTable() {
  const uint64_t bytes = options_.memtable_bytes;
  const uint64_t arena_block = bytes >= 16 * kHugePageBytes
                                   ? kHugePageBytes
                                   : std::clamp<uint64_t>(bytes / 16, 4 << 10, 256 << 10);
  return tidesdb::NewMemTable(static_cast<size_t>(arena_block));
}

void DbImpl::BackgroundDone() {
  MutexLock lock(background_mu_);
  ++background_done_;
  background_cv_.NotifyAll();
}

void DbImpl::WaitForBackground(WatchedWait what) {
  const ToldWait told(options_.instruments, what);
  MutexLock lock(background_mu_);
  background_cv_.WaitFor(background_mu_, kWaitForBackgroundUs);
}

}  // namespace tidesdb
