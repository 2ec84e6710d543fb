#include "lock/wait_graph.h"

namespace tidesdb {

std::string DescribeKey(FamilyId family, Slice key) {
  constexpr size_t kShownBytesMax = 32;
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = "key \"";
  for (const char c : key.substr(0, kShownBytesMax)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      text += c;
    } else {
      text += "\\x";
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    }
  }
  text += key.size() > kShownBytesMax ? "\"... of family " : "\" of family ";
  return text + std::to_string(family);
}

void SignalList::Send() {
  while (head_ != nullptr) {
    LockOwner* owner = head_;
    head_ = owner->wait.next_signal;
    owner->Signal();
  }
}

void WaitGraph::Visit(const LockOwner* from, LockOwner* blocker) {
  if (blocker->walk == walk_) return;
  blocker->walk = walk_;
  blocker->walk_from = from;
  if (blocker->wait.waiting()) walk_stack_.push_back(blocker);
}

void WaitGraph::VisitBlockers(const LockOwner* owner) {
  const PendingWait& wait = owner->wait;
  if (wait.end_of != nullptr) return Visit(owner, wait.end_of);
  if (wait.prev != nullptr) return Visit(owner, wait.prev);
  for (HeldLock* hold = wait.entry->FirstHolder(); hold != nullptr; hold = hold->next_holder) {
    if (hold->owner != owner) Visit(owner, hold->owner);
  }
}

bool WaitGraph::ClosesCycle(LockOwner* owner) {
  // Nobody can be waiting for it.
  if (!owner->holds_any() && owner->end_waiters == nullptr) return false;
  ++walk_;
  owner->walk_from = nullptr;  // Not marked as visited: the search is for a way back to it.
  walk_stack_.clear();
  VisitBlockers(owner);
  while (!walk_stack_.empty() && owner->walk != walk_) {
    const LockOwner* next = walk_stack_.back();
    walk_stack_.pop_back();
    VisitBlockers(next);
  }
  return owner->walk == walk_;
}

Status WaitGraph::CheckNewWait(LockOwner* owner) {
  if (!ClosesCycle(owner)) return Status::Ok();
  deadlocks_.fetch_add(1, std::memory_order_relaxed);
  const std::vector<const LockOwner*> cycle = Cycle(owner);
  KeepDeadlock(cycle);
  last_deadlock_ = DescribeCycle(cycle);
  return Status::Deadlock(last_deadlock_);
}

void WaitGraph::TellBlockers(LockOwner* owner) {
  if (owner->listener == nullptr || !owner->listener->TellsBlockers()) return;
  const auto tell = [owner](const LockOwner* blocker) {
    if (blocker == owner || blocker->listener == nullptr) return;
    owner->listener->WaitsFor(*blocker->listener);
  };
  const PendingWait& wait = owner->wait;
  if (wait.end_of != nullptr) return tell(wait.end_of);
  for (const HeldLock* hold = wait.entry->FirstHolder(); hold != nullptr;
       hold = hold->next_holder) {
    tell(hold->owner);
  }
  for (const LockOwner* o = wait.prev; o != nullptr; o = o->wait.prev) tell(o);
}

void WaitGraph::SetListener(LockOwner* owner, LockWaitListener* listener) {
  MutexLock lock(mu_);
  owner->listener = listener;
}

// The owner, its waiter, the waiter of that one, and so on.
std::vector<const LockOwner*> WaitGraph::Cycle(const LockOwner* owner) const {
  std::vector<const LockOwner*> cycle = {owner};
  for (const LockOwner* o = owner->walk_from; o != owner; o = o->walk_from) cycle.push_back(o);
  return cycle;
}

LockWaitInfo WaitGraph::Describe(const LockOwner* owner, const LockOwner* blocker) const {
  const PendingWait& wait = owner->wait;
  LockWaitInfo info;
  info.waiting = owner->id;
  info.waiting_tag = owner->tag;
  info.blocking = blocker->id;
  info.blocking_tag = blocker->tag;
  if (wait.end_of != nullptr) {
    info.what = wait.what;
    info.family = wait.family;
    info.key = wait.key;
  } else {
    info.exclusive = wait.mode == LockMode::kExclusive;
    info.family = wait.entry->family;
    info.key = std::string(wait.entry->key());
  }
  if (owner->wait_begun_us != 0) info.wait_us = clock_->NowMicros() - owner->wait_begun_us;
  return info;
}

void WaitGraph::KeepDeadlock(const std::vector<const LockOwner*>& cycle) {
  DeadlockInfo kept;
  kept.number = deadlocks_.load(std::memory_order_relaxed);
  kept.age_us = clock_->NowMicros();
  for (size_t i = 1; i <= cycle.size(); i++) {
    kept.cycle.push_back(Describe(cycle[i % cycle.size()], cycle[i - 1]));
  }
  deadlocks_kept_.push_front(std::move(kept));
  if (deadlocks_kept_.size() > kDeadlocksKept) deadlocks_kept_.pop_back();
}

std::vector<DeadlockInfo> WaitGraph::GetDeadlocks() const {
  MutexLock lock(mu_);
  std::vector<DeadlockInfo> kept(deadlocks_kept_.begin(), deadlocks_kept_.end());
  const uint64_t now_us = clock_->NowMicros();
  for (DeadlockInfo& one : kept) one.age_us = now_us - one.age_us;
  return kept;
}

std::vector<LockWaitInfo> WaitGraph::GetWaits() const {
  std::vector<LockWaitInfo> waits;
  MutexLock lock(mu_);
  for (const LockOwner* owner = sleepers_; owner != nullptr; owner = owner->next_sleeper) {
    const PendingWait& wait = owner->wait;
    if (!wait.waiting()) continue;
    if (wait.end_of != nullptr) {
      waits.push_back(Describe(owner, wait.end_of));
      continue;
    }
    // Also if it is behind others in the queue: people look for the holders.
    for (HeldLock* hold = wait.entry->FirstHolder(); hold != nullptr; hold = hold->next_holder) {
      if (hold->owner != owner) waits.push_back(Describe(owner, hold->owner));
    }
  }
  return waits;
}

std::string WaitGraph::DescribeCycle(const std::vector<const LockOwner*>& cycle) {
  std::string text = "transaction " + std::to_string(cycle[0]->id);
  for (size_t i = cycle.size(); i-- > 0;) {
    const LockOwner* waiter = cycle[(i + 1) % cycle.size()];
    const LockOwner* blocker = cycle[i];
    const PendingWait& wait = waiter->wait;
    if (wait.end_of != nullptr) {
      text += " waits for the end of transaction ";
    } else {
      text += wait.mode == LockMode::kExclusive ? " wants " : " wants, shared, ";
      text += DescribeKey(wait.entry->family, wait.entry->key());
      text += wait.prev == blocker ? " after transaction " : " held by transaction ";
    }
    text += std::to_string(blocker->id);
    if (i > 0) text += ", which";
  }
  return text;
}

void WaitGraph::SetEndWait(LockOwner* owner, LockOwner* other, const Target& target) {
  owner->wait = PendingWait();
  owner->wait.end_of = other;
  owner->wait.what = target.what;
  owner->wait.family = target.family;
  owner->wait.key.assign(target.key);
}

void WaitGraph::LinkEndWaiter(LockOwner* owner) {
  PendingWait& wait = owner->wait;
  LockOwner* const other = wait.end_of;
  wait.next = other->end_waiters;
  if (wait.next != nullptr) wait.next->wait.prev = owner;
  other->end_waiters = owner;
  other->awaited.store(true, std::memory_order_relaxed);
}

Status WaitGraph::BeginEndWait(LockOwner* owner, LockOwner* other, const Target& target) {
  MutexLock lock(mu_);
  SetEndWait(owner, other, target);
  if (Status status = CheckNewWait(owner); !status.ok()) {
    owner->wait.end_of = nullptr;
    return status;
  }
  LinkEndWaiter(owner);
  TellBlockers(owner);
  return Status::Ok();
}

bool WaitGraph::BeginEndWaitUnlessCycle(LockOwner* owner, LockOwner* other, const Target& target) {
  MutexLock lock(mu_);
  SetEndWait(owner, other, target);
  if (ClosesCycle(owner)) {
    owner->wait.end_of = nullptr;
    return false;
  }
  LinkEndWaiter(owner);
  TellBlockers(owner);
  return true;
}

void WaitGraph::UnlinkEndWaiter(LockOwner* owner) {
  PendingWait& wait = owner->wait;
  if (wait.prev != nullptr) {
    wait.prev->wait.next = wait.next;
  } else {
    wait.end_of->end_waiters = wait.next;
  }
  if (wait.next != nullptr) wait.next->wait.prev = wait.prev;
}

Status WaitGraph::FinishEndWait(LockOwner* owner, uint64_t deadline_us) {
  const uint64_t begun_us = clock_->NowMicros();
  LockOwner::Wake wake = Sleep(owner, deadline_us);
  std::string what;
  bool done = true;
  if (wake != LockOwner::Wake::kSignalled) {
    MutexLock lock(mu_);
    done = owner->wait.done;
    if (!done) {
      what = "the end of transaction " + std::to_string(owner->wait.end_of->id);
      UnlinkEndWaiter(owner);
      owner->wait.end_of = nullptr;
    }
  }
  if (wake != LockOwner::Wake::kSignalled && done) {
    owner->AwaitSignal();
    wake = LockOwner::Wake::kSignalled;
  }
  return Outcome(*owner, wake, begun_us, what);
}

void WaitGraph::WakeEndWaiters(LockOwner* owner) {
  SignalList signals;
  MutexLock lock(mu_);
  while (owner->end_waiters != nullptr) {
    LockOwner* waiter = owner->end_waiters;
    UnlinkEndWaiter(waiter);
    waiter->wait.end_of = nullptr;
    waiter->wait.done = true;
    signals.Add(waiter);
  }
}

LockOwner::Wake WaitGraph::Sleep(LockOwner* owner, uint64_t deadline_us) {
  waits_.fetch_add(1, std::memory_order_relaxed);
  BeginSleep(owner);
  if (owner->listener != nullptr) owner->listener->LockWaitBegins();
  const LockOwner::Wake wake = owner->Sleep(clock_, deadline_us);
  if (owner->listener != nullptr) owner->listener->LockWaitEnds();
  EndSleep(owner);
  return wake;
}

void WaitGraph::BeginSleep(LockOwner* owner) {
  MutexLock lock(mu_);
  owner->wait_begun_us = clock_->NowMicros();
  owner->prev_sleeper = nullptr;
  owner->next_sleeper = sleepers_;
  if (sleepers_ != nullptr) sleepers_->prev_sleeper = owner;
  sleepers_ = owner;
}

void WaitGraph::EndSleep(LockOwner* owner) {
  MutexLock lock(mu_);
  owner->wait_begun_us = 0;
  (owner->prev_sleeper != nullptr ? owner->prev_sleeper->next_sleeper : sleepers_) =
      owner->next_sleeper;
  if (owner->next_sleeper != nullptr) owner->next_sleeper->prev_sleeper = owner->prev_sleeper;
}

Status WaitGraph::Outcome(const LockOwner& owner, LockOwner::Wake wake, uint64_t begun_us,
                          const std::string& what) {
  const uint64_t wait_us = clock_->NowMicros() - begun_us;
  wait_us_.fetch_add(wait_us, std::memory_order_relaxed);
  if (wake == LockOwner::Wake::kSignalled) return Status::Ok();
  const std::string text = "transaction " + std::to_string(owner.id) + " waited " +
                           std::to_string(wait_us / 1000) + " ms for " + what;
  if (wake == LockOwner::Wake::kInterrupted) return Status::Interrupted(text);
  timeouts_.fetch_add(1, std::memory_order_relaxed);
  return Status::TimedOut(text);
}

WaitStats WaitGraph::GetStats() const {
  WaitStats stats;
  stats.waits = waits_.load(std::memory_order_relaxed);
  stats.wait_us = wait_us_.load(std::memory_order_relaxed);
  stats.timeouts = timeouts_.load(std::memory_order_relaxed);
  stats.deadlocks = deadlocks_.load(std::memory_order_relaxed);
  return stats;
}

std::string WaitGraph::LastDeadlock() const {
  MutexLock lock(mu_);
  return last_deadlock_;
}

}  // namespace tidesdb
