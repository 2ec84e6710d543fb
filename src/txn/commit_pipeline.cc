#include "txn/commit_pipeline.h"

#include <algorithm>

#include "base/check.h"
#include "base/failpoint.h"
#include "base/told_wait.h"

namespace tidesdb {
namespace {

// The queue entry of RunBetweenGroups.
class WorkRequest final : public CommitRequest {
 public:
  uint64_t Bytes() const override { return 0; }
  bool Alone() const override { return true; }
  Slice RecordAt(SequenceNumber) override { return Slice(); }
  void InsertInto(MemTable*, SequenceNumber) override {}
  Status Publish(TxnEnv*, SequenceNumber) override { return Status::Ok(); }
};

Status OutcomeUnknown(const Status& status) {
  return Status(status.code(),
                std::string(status.message()) +
                    "; whether the transaction is committed is known only after recovery");
}

}  // namespace

void CommitPipeline::Enqueue(CommitRequest* request) {
  MutexLock lock(mu_);
  request->state_ = CommitRequest::State::kQueued;
  request->awaited_ = false;
  request->changed_ = &waits_[next_wait_++ % kWaits];
  request->status_ = Status::Ok();
  queue_.push_back(request);
}

Status CommitPipeline::Await(CommitRequest* request) {
  using State = CommitRequest::State;
  MutexLock lock(mu_);
  request->awaited_ = true;
  int spins_left = sync_ ? 0 : kSpins;
  while (request->state_ != State::kDone) {
    if (request->state_ == State::kMayInsert) {
      request->state_ = State::kInGroup;
      MemTable* const memtable = group_memtable_;
      mu_.Unlock();
      request->InsertInto(memtable, request->sequence_);
      mu_.Lock();
      if (--inserts_running_ == 0) inserts_done_.NotifyOne();
    } else if (request->state_ == State::kQueued && !leading_) {
      Lead(request);
    } else if (request->state_ == State::kUnsynced && !syncing_) {
      LeadSync(request);
    } else if (spins_left > 0) {
      mu_.Unlock();
      while (spins_left-- > 0 && !MayGoOn(*request)) SpinPause();
      mu_.Lock();
    } else {
      const ToldWait told(instruments_, WatchedWait::kCommit);
      request->changed_->Wait(mu_);
    }
  }
  return std::move(request->status_);
}

Status CommitPipeline::AwaitVisible(SequenceNumber sequence) {
  MutexLock lock(mu_);
  while (visible_->load(std::memory_order_relaxed) < sequence && sync_failure_.ok()) {
    AwaitSync(nullptr);
  }
  const bool visible = visible_->load(std::memory_order_acquire) >= sequence;
  return visible ? Status::Ok() : OutcomeUnknown(sync_failure_);
}

bool CommitPipeline::MayGoOn(const CommitRequest& request) const {
  switch (request.state_.load(std::memory_order_relaxed)) {
    case CommitRequest::State::kQueued:
      return !leading_.load(std::memory_order_relaxed);
    case CommitRequest::State::kInGroup:
      return false;
    case CommitRequest::State::kMayInsert:
    case CommitRequest::State::kUnsynced:
    case CommitRequest::State::kDone:
      return true;
  }
  return true;
}

Status CommitPipeline::RunBetweenGroups(const std::function<Status(SequenceNumber last)>& work) {
  WorkRequest request;
  request.work_ = &work;
  Enqueue(&request);
  return Await(&request);
}

void CommitPipeline::Lead(CommitRequest* own) {
  leading_ = true;
  Gather();
  if (AnyUnsynced() && WantsNoneUnsynced()) Drain(own);
  const bool failed = !sync_failure_.ok();
  mu_.Unlock();
  uint64_t published = 0;
  const Status status = failed ? SyncFailure() : RunGroup(own, &published);
  std::vector<CondVar*> to_wake;  // Empty for a commit that meets no other.
  mu_.Lock();
  // After a failed sync nothing becomes visible any more: it would take the unsynced groups with it.
  if (published > 0 && (sync_late_ || AnyUnsynced() || !sync_failure_.ok())) {
    for (CommitRequest* member : group_) member->state_ = CommitRequest::State::kUnsynced;
    if (unsynced_.empty()) {
      unsynced_.swap(group_);
    } else {
      for (CommitRequest* member : group_) unsynced_.push_back(member);
    }
    unsynced_last_ = last_sequence_;
    // This thread may not come back to sync them: its own request may be refused.
    const bool leads_on = own->state_ == CommitRequest::State::kUnsynced;
    CondVar* const syncer = syncing_ || leads_on ? nullptr : NextLeader(unsynced_);
    if (syncer != nullptr) to_wake.push_back(syncer);
  } else {
    // Release: a reader of this sequence finds the inserts of all its versions.
    if (published > 0) visible_->store(last_sequence_, std::memory_order_release);
    Finish(group_, status, own, &to_wake);
    if (awaiting_sync_ > 0) to_wake.push_back(&synced_);
  }
  Finish(refused_, refusal_, own, &to_wake);
  group_.clear();
  refused_.clear();
  leading_ = false;
  CondVar* const next = NextLeader(queue_);
  if (next != nullptr || !to_wake.empty()) Wake(next, to_wake);
}

void CommitPipeline::LeadSync(const CommitRequest* own) {
  syncing_ = true;
  syncing_group_.swap(unsynced_);
  const SequenceNumber last = unsynced_last_;
  Status status = sync_failure_;
  mu_.Unlock();
  if (status.ok()) {
    TIDESDB_FAILPOINT("commit_before_sync");
    status = env_->SyncWal();
  }
  if (status.ok()) TIDESDB_FAILPOINT("commit_before_publish");
  std::vector<CondVar*> to_wake;
  mu_.Lock();
  if (status.ok()) {
    visible_->store(last, std::memory_order_release);
  } else {
    if (sync_failure_.ok()) sync_failure_ = status;
    sync_failure_.IgnoreError();  // It may stay unread.
    status = OutcomeUnknown(status);
  }
  Finish(syncing_group_, status, own, &to_wake);
  syncing_group_.clear();
  syncing_ = false;
  if (awaiting_sync_ > 0) to_wake.push_back(&synced_);
  Wake(NextLeader(unsynced_), to_wake);
}

void CommitPipeline::AwaitSync(const CommitRequest* own) {
  if (!syncing_ && !unsynced_.empty()) return LeadSync(own);
  const ToldWait told(instruments_, WatchedWait::kCommit);
  ++awaiting_sync_;
  synced_.Wait(mu_);
  --awaiting_sync_;
}

// If their sync failed, nothing after them may run, so nothing of them may be in a memtable that is flushed.
bool CommitPipeline::WantsNoneUnsynced() {
  if (group_.front()->Alone()) return true;
  mu_.Unlock();
  const bool rotates = env_->GroupRotates(group_bytes_);
  mu_.Lock();
  return rotates;
}

void CommitPipeline::Drain(const CommitRequest* own) {
  while (AnyUnsynced() && sync_failure_.ok()) AwaitSync(own);
}

Status CommitPipeline::SyncFailure() {
  MutexLock lock(mu_);
  return sync_failure_;
}

void CommitPipeline::Wake(CondVar* leader, const std::vector<CondVar*>& others) {
  mu_.Unlock();
  if (leader != nullptr) leader->NotifyAll();
  for (CondVar* wait : others) wait->NotifyAll();
  mu_.Lock();
}

void CommitPipeline::Finish(const Group& group, const Status& status, const CommitRequest* own,
                            std::vector<CondVar*>* to_wake) {
  for (CommitRequest* member : group) {
    member->status_ = status;
    member->state_ = CommitRequest::State::kDone;
    if (member->awaited_ && member != own) to_wake->push_back(member->changed_);
  }
}

void CommitPipeline::Gather() {
  group_bytes_ = 0;
  while (!queue_.empty() && group_bytes_ < kGroupBytesMax) {
    CommitRequest* next = queue_.front();
    const bool alone = next->Alone();
    if (alone && !group_.empty()) break;
    queue_.pop_front();
    next->state_ = CommitRequest::State::kInGroup;
    group_.push_back(next);
    group_bytes_ += next->Bytes();
    if (alone) break;
  }
}

Status CommitPipeline::RunGroup(const CommitRequest* own, uint64_t* published) {
  sync_late_ = false;
  CommitRequest* const first = group_.front();
  // Not last_sequence_: a sequence whose record was refused is in no log, so no file may claim it.
  if (first->work_ != nullptr) return (*first->work_)(visible_->load(std::memory_order_relaxed));
  MakeRoom();
  if (group_.empty()) return Status::Ok();
  if (Status status = LogGroup(); !status.ok()) return OutcomeUnknown(status);
  TIDESDB_FAILPOINT("commit_logged");
  for (CommitRequest* member : group_) member->Logged(env_);
  const auto commits = static_cast<uint64_t>(
      std::count_if(group_.begin(), group_.end(),
                    [](const CommitRequest* member) { return member->publishes(); }));
  if (commits == 0) return Status::Ok();
  if (group_.front()->Alone()) {
    Status status = group_.front()->Publish(env_, group_.front()->sequence_);
    if (!status.ok()) return OutcomeUnknown(status);
  } else {
    Insert(own);
  }
  newest_->store(last_sequence_, std::memory_order_release);
  if (sync_late_) {
    for (CommitRequest* member : group_) {
      if (member->publishes() && member->wants_sync()) member->GiveLocksBack();
    }
  } else {
    TIDESDB_FAILPOINT("commit_before_publish");
  }
  commits_.fetch_add(commits, std::memory_order_relaxed);
  groups_.fetch_add(1, std::memory_order_relaxed);
  *published = commits;
  return Status::Ok();
}

void CommitPipeline::MakeRoom() {
  uint64_t bytes = 0;
  size_t records = 0;
  size_t outcomes = 0;
  for (const CommitRequest* member : group_) {
    if (member->has_room()) continue;
    bytes += member->Bytes();
    ++records;
    if (member->kind() == CommitRequest::Kind::kPrepare) ++outcomes;
  }
  if (records == 0) return;
  refusal_ = env_->PrepareForGroup(bytes, records, outcomes);
  if (refusal_.ok()) return;
  const auto kept = std::stable_partition(
      group_.begin(), group_.end(), [](const CommitRequest* member) { return member->has_room(); });
  refused_.assign(kept, group_.end());
  group_.erase(kept, group_.end());
}

Status CommitPipeline::LogGroup() {
  records_.clear();
  size_t outcomes = 0;
  bool sync = false;
  bool publishes = false;
  for (CommitRequest* member : group_) {
    // Never reused, not even after an error: the record may have reached the disk.
    if (member->publishes()) member->sequence_ = ++last_sequence_;
    records_.push_back(member->RecordAt(member->publishes() ? member->sequence_ : 0));
    if (member->has_room()) ++outcomes;
    sync |= member->wants_sync();
    publishes |= member->publishes();
  }
  CHECK(last_sequence_ < kSequenceMax);
  sync &= sync_;
  // The files of a group that is alone are published at once, which a failed sync cannot undo.
  sync_late_ = sync && publishes && !group_.front()->Alone();
  const LogSync now_or_late = sync_late_ ? LogSync::kSoon : LogSync::kAtOnce;
  return env_->AppendToWal(records_, outcomes, sync ? now_or_late : LogSync::kNone);
}

void CommitPipeline::Insert(const CommitRequest* own) {
  if (group_.size() > 1 && group_bytes_ >= kParallelInsertBytes) {
    InsertInParallel(own, env_->ActiveMemTable());
    return;
  }
  MemTable* const memtable = env_->ActiveMemTable();
  for (CommitRequest* member : group_) {
    if (member->publishes()) member->InsertInto(memtable, member->sequence_);
  }
}

void CommitPipeline::InsertInParallel(const CommitRequest* own, MemTable* memtable) {
  Group mine;
  {
    MutexLock lock(mu_);
    group_memtable_ = memtable;
    for (CommitRequest* member : group_) {
      if (!member->publishes()) continue;
      if (member == own || !member->awaited_) {
        mine.push_back(member);
        continue;
      }
      ++inserts_running_;
      member->state_ = CommitRequest::State::kMayInsert;
      member->changed_->NotifyAll();
    }
  }
  for (CommitRequest* member : mine) member->InsertInto(memtable, member->sequence_);
  MutexLock lock(mu_);
  while (inserts_running_ > 0) inserts_done_.Wait(mu_);
}

template <typename Requests>
CondVar* CommitPipeline::NextLeader(const Requests& requests) {
  for (const CommitRequest* request : requests) {
    if (request->awaited_) return request->changed_;
  }
  return nullptr;
}

}  // namespace tidesdb
