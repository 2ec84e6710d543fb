#include "lock/lock_table.h"

#include <memory>

#include "base/check.h"
#include "base/hash.h"

namespace tidesdb {
namespace {

constexpr size_t kBucketsMin = 16;
// The last bits of a key, which only choose among neighbouring buckets.
constexpr int kNeighbourBits = 6;

// A row's write comes back to the row itself, or to the unique key that was locked after it.
constexpr int kRecentMax = 2;

bool InConflict(LockMode a, LockMode b) {
  return a == LockMode::kExclusive || b == LockMode::kExclusive;
}

size_t EntryBytes(const LockEntry& entry) { return sizeof(LockEntry) + entry.key_bytes; }

void* AllocateBytes(size_t bytes) { return std::allocator<std::byte>().allocate(bytes); }

void FreeBytes(void* memory, size_t bytes) {
  std::allocator<std::byte>().deallocate(static_cast<std::byte*>(memory), bytes);
}

}  // namespace

LockTable::LockTable(WaitGraph* graph) : graph_(graph) {
  static_assert(kShardCount == 64);
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mu);
    shard.buckets.resize(kBucketsMin);
  }
}

LockTable::~LockTable() { CHECK(LocksHeld() == 0); }

// Keys that differ only in the last bits have neighbouring buckets, so a scan that locks rows in
// order stays in the processor's cache. Any stride of keys still spreads evenly.
uint64_t LockTable::HashOf(FamilyId family, Slice key) {
  if (key.empty()) return Hash64(key, family);
  const auto last = static_cast<uint8_t>(key.back());
  const uint64_t seed = (uint64_t{family} << 8) | (last >> kNeighbourBits);
  key.remove_suffix(1);
  return Hash64(key, seed) ^ (last & ((1 << kNeighbourBits) - 1));
}

LockEntry** LockTable::FindSlot(Shard& shard, uint64_t hash, FamilyId family, Slice key) {
  LockEntry** slot = &shard.buckets[hash & (shard.buckets.size() - 1)];
  while (*slot != nullptr) {
    const LockEntry& entry = **slot;
    if (entry.hash == hash && entry.family == family && entry.key() == key) break;
    slot = &(*slot)->next_in_bucket;
  }
  return slot;
}

LockEntry* LockTable::NewEntry(Shard& shard, uint64_t hash, FamilyId family, Slice key) {
  if (shard.entries >= shard.buckets.size()) Rehash(shard, shard.buckets.size() * 2);
  auto* entry =
      std::construct_at(static_cast<LockEntry*>(AllocateBytes(sizeof(LockEntry) + key.size())));
  entry->hash = hash;
  entry->family = family;
  entry->key_bytes = static_cast<uint32_t>(key.size());
  key.copy(reinterpret_cast<char*>(entry + 1), key.size());
  LockEntry** bucket = &shard.buckets[hash & (shard.buckets.size() - 1)];
  entry->next_in_bucket = *bucket;
  *bucket = entry;
  ++shard.entries;
  shard.bytes.fetch_add(EntryBytes(*entry), std::memory_order_relaxed);
  return entry;
}

void LockTable::RemoveIfUnused(Shard& shard, LockEntry* entry) {
  if (entry->FirstHolder() != nullptr || entry->queue_head != nullptr) return;
  LockEntry** slot = &shard.buckets[entry->hash & (shard.buckets.size() - 1)];
  while (*slot != entry) slot = &(*slot)->next_in_bucket;
  *slot = entry->next_in_bucket;
  --shard.entries;
  const size_t bytes = EntryBytes(*entry);
  shard.bytes.fetch_sub(bytes, std::memory_order_relaxed);
  std::destroy_at(entry);
  FreeBytes(entry, bytes);
  // Shrinks late, so that a shard that empties and refills keeps its buckets for a while.
  if (shard.buckets.size() > kBucketsMin && shard.entries < shard.buckets.size() / 8) {
    Rehash(shard, shard.buckets.size() / 4);
  }
}

void LockTable::Rehash(Shard& shard, size_t bucket_count) {
  if (bucket_count < kBucketsMin) bucket_count = kBucketsMin;
  std::vector<LockEntry*> old(bucket_count);
  old.swap(shard.buckets);
  for (LockEntry* entry : old) {
    while (entry != nullptr) {
      LockEntry* next = entry->next_in_bucket;
      LockEntry** bucket = &shard.buckets[entry->hash & (bucket_count - 1)];
      entry->next_in_bucket = *bucket;
      *bucket = entry;
      entry = next;
    }
  }
  shard.bytes.fetch_add((bucket_count - old.size()) * sizeof(void*), std::memory_order_relaxed);
}

HeldLock* LockTable::HolderOf(LockEntry* entry, const LockOwner* owner) {
  HeldLock* hold = entry->FirstHolder();
  while (hold != nullptr && hold->owner != owner) hold = hold->next_holder;
  return hold;
}

bool LockTable::Compatible(LockEntry* entry, const LockOwner* owner, LockMode mode) {
  for (HeldLock* hold = entry->FirstHolder(); hold != nullptr; hold = hold->next_holder) {
    if (hold->owner != owner && InConflict(hold->mode, mode)) return false;
    // Several holders are all shared: one hold of others decides, and so does this one.
    if (hold->owner != owner) return true;
  }
  return true;
}

HeldLock* LockTable::AddHolder(Shard& shard, LockEntry* entry, LockOwner* owner, LockMode mode) {
  HeldLock* hold = &entry->first;
  if (hold->owner == nullptr) {
    HeldLock* const others = hold->next_holder;
    *hold = HeldLock();
    hold->next_holder = others;
  } else {
    hold = std::construct_at(static_cast<HeldLock*>(AllocateBytes(sizeof(HeldLock))));
    hold->next_holder = entry->first.next_holder;
    entry->first.next_holder = hold;
    shard.bytes.fetch_add(sizeof(HeldLock), std::memory_order_relaxed);
  }
  hold->owner = owner;
  hold->entry = entry;
  hold->mode = mode;
  hold->count = 1;
  shard.held.fetch_add(1, std::memory_order_relaxed);
  return hold;
}

void LockTable::RemoveHolder(Shard& shard, HeldLock* lock) {
  shard.held.fetch_sub(1, std::memory_order_relaxed);
  HeldLock* first = &lock->entry->first;
  if (lock == first) {
    first->owner = nullptr;  // Keeps next_holder: the others.
    return;
  }
  HeldLock* before = first;
  while (before->next_holder != lock) before = before->next_holder;
  before->next_holder = lock->next_holder;
  std::destroy_at(lock);
  FreeBytes(lock, sizeof(HeldLock));
  shard.bytes.fetch_sub(sizeof(HeldLock), std::memory_order_relaxed);
}

void LockTable::LinkHeld(LockOwner* owner, HeldLock* lock) {
  lock->epoch = owner->epoch;
  lock->prev_held = nullptr;
  lock->next_held = owner->held;
  if (owner->held != nullptr) owner->held->prev_held = lock;
  owner->held = lock;
  ++owner->held_count;
}

void LockTable::UnlinkHeld(LockOwner* owner, HeldLock* lock) {
  if (lock->prev_held != nullptr) {
    lock->prev_held->next_held = lock->next_held;
  } else {
    owner->held = lock->next_held;
  }
  if (lock->next_held != nullptr) lock->next_held->prev_held = lock->prev_held;
  --owner->held_count;
}

bool LockTable::GrantAtOnce(Shard& shard, LockEntry* entry, LockOwner* owner, LockMode mode,
                            LockGrant* grant) {
  HeldLock* hold = HolderOf(entry, owner);
  if (hold != nullptr) {
    const bool enough = hold->mode == LockMode::kExclusive || mode == LockMode::kShared;
    // An upgrade by the only holder passes the queue: all in it wait for this holder anyway.
    if (!enough && !Compatible(entry, owner, mode)) return false;
    hold->mode = enough ? hold->mode : mode;
    ++hold->count;
    grant->lock = hold;
    grant->kind = enough ? LockGrant::Kind::kHeldBefore : LockGrant::Kind::kUpgraded;
    return true;
  }
  if (entry->queue_head != nullptr || !Compatible(entry, owner, mode)) return false;
  grant->lock = AddHolder(shard, entry, owner, mode);
  grant->kind = LockGrant::Kind::kNew;
  LinkHeld(owner, grant->lock);
  return true;
}

void LockTable::Enqueue(LockEntry* entry, LockOwner* owner) {
  PendingWait& wait = owner->wait;
  LockOwner* before = entry->queue_tail;
  if (wait.upgrade) {
    // After earlier upgrades, before the rest.
    before = nullptr;
    LockOwner* next = entry->queue_head;
    while (next != nullptr && next->wait.upgrade) {
      before = next;
      next = next->wait.next;
    }
  }
  wait.prev = before;
  wait.next = before != nullptr ? before->wait.next : entry->queue_head;
  (before != nullptr ? before->wait.next : entry->queue_head) = owner;
  (wait.next != nullptr ? wait.next->wait.prev : entry->queue_tail) = owner;
}

void LockTable::Dequeue(LockOwner* owner) {
  PendingWait& wait = owner->wait;
  (wait.prev != nullptr ? wait.prev->wait.next : wait.entry->queue_head) = wait.next;
  (wait.next != nullptr ? wait.next->wait.prev : wait.entry->queue_tail) = wait.prev;
  wait.entry = nullptr;
  wait.prev = nullptr;
  wait.next = nullptr;
}

void LockTable::GrantFromQueue(Shard& shard, LockEntry* entry, SignalList* signals) {
  while (entry->queue_head != nullptr) {
    LockOwner* owner = entry->queue_head;
    PendingWait& wait = owner->wait;
    if (!Compatible(entry, owner, wait.mode)) return;
    Dequeue(owner);
    if (wait.upgrade) {
      wait.granted = HolderOf(entry, owner);
      wait.granted->mode = wait.mode;
    } else {
      wait.granted = AddHolder(shard, entry, owner, wait.mode);
    }
    wait.done = true;
    signals->Add(owner);
  }
}

Status LockTable::BeginWait(Shard& shard, LockEntry* entry, LockOwner* owner, LockMode mode) {
  shard.mu.AssertHeld();
  MutexLock lock(graph_->mu());
  owner->wait = PendingWait();
  owner->wait.entry = entry;
  owner->wait.mode = mode;
  owner->wait.upgrade = HolderOf(entry, owner) != nullptr;
  Enqueue(entry, owner);
  Status status = graph_->CheckNewWait(owner);
  // Nothing can have been granted through it, so nothing else must be undone.
  if (!status.ok()) {
    Dequeue(owner);
  } else {
    graph_->TellBlockers(owner);
  }
  return status;
}

Status LockTable::FinishWait(Shard& shard, LockOwner* owner, uint64_t deadline_us,
                             LockGrant* grant) {
  const uint64_t begun_us = graph_->clock()->NowMicros();
  LockOwner::Wake wake = graph_->Sleep(owner, deadline_us);
  std::string what;
  if (wake != LockOwner::Wake::kSignalled) {
    SignalList signals;
    bool done = false;
    {
      MutexLock shard_lock(shard.mu);
      MutexLock graph_lock(graph_->mu());
      PendingWait& wait = owner->wait;
      done = wait.done;
      if (!done) {
        LockEntry* entry = wait.entry;
        what = DescribeKey(entry->family, entry->key());
        const HeldLock* holder = entry->FirstHolder();
        if (holder != nullptr && holder->owner == owner) holder = holder->next_holder;
        if (holder != nullptr) {
          what += ", held by transaction " + std::to_string(holder->owner->id);
        }
        Dequeue(owner);
        GrantFromQueue(shard, entry, &signals);
        RemoveIfUnused(shard, entry);
      }
    }
    signals.Send();
    if (done) {
      owner->AwaitSignal();
      wake = LockOwner::Wake::kSignalled;
    }
  }
  TIDESDB_TRY(graph_->Outcome(*owner, wake, begun_us, what));
  grant->lock = owner->wait.granted;
  grant->kind = owner->wait.upgrade ? LockGrant::Kind::kUpgraded : LockGrant::Kind::kNew;
  if (owner->wait.upgrade) {
    ++grant->lock->count;
  } else {
    LinkHeld(owner, grant->lock);
  }
  return Status::Ok();
}

// Without the shard's mutex: a held entry's key does not change, and only its own thread changes a
// hold that does not wait.
HeldLock* LockTable::FindRecent(const LockOwner* owner, uint64_t hash, FamilyId family, Slice key) {
  HeldLock* lock = owner->held;
  for (int i = 0; i < kRecentMax && lock != nullptr; ++i, lock = lock->next_held) {
    const LockEntry& entry = *lock->entry;
    if (entry.hash == hash && entry.family == family && entry.key() == key) return lock;
  }
  return nullptr;
}

Status LockTable::Lock(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                       WaitLimit* limit, LockGrant* grant) {
  const uint64_t hash = HashOf(family, key);
  HeldLock* const recent = FindRecent(owner, hash, family, key);
  if (recent != nullptr && (recent->mode == LockMode::kExclusive || mode == LockMode::kShared)) {
    ++recent->count;
    grant->lock = recent;
    grant->kind = LockGrant::Kind::kHeldBefore;
    return Status::Ok();
  }
  Shard& shard = ShardOf(hash);
  {
    MutexLock lock(shard.mu);
    LockEntry* entry = *FindSlot(shard, hash, family, key);
    if (entry == nullptr) entry = NewEntry(shard, hash, family, key);
    if (GrantAtOnce(shard, entry, owner, mode, grant)) return Status::Ok();
    if (graph_->clock()->NowMicros() >= limit->DeadlineUs()) {
      const HeldLock* holder = entry->FirstHolder();
      if (holder->owner == owner) holder = holder->next_holder;
      return Status::TimedOut(DescribeKey(family, key) + " is held by transaction " +
                              std::to_string(holder->owner->id));
    }
    TIDESDB_TRY(BeginWait(shard, entry, owner, mode));
  }
  return FinishWait(shard, owner, limit->DeadlineUs(), grant);
}

void LockTable::ReleaseLocked(Shard& shard, HeldLock* lock, SignalList* signals) {
  LockEntry* entry = lock->entry;
  if (entry->queue_head == nullptr) {
    RemoveHolder(shard, lock);
  } else {
    MutexLock graph_lock(graph_->mu());
    RemoveHolder(shard, lock);
    GrantFromQueue(shard, entry, signals);
  }
  RemoveIfUnused(shard, entry);
}

void LockTable::Release(LockOwner* owner, HeldLock* lock) {
  UnlinkHeld(owner, lock);
  Shard& shard = ShardOf(lock->entry->hash);
  SignalList signals;
  MutexLock shard_lock(shard.mu);
  ReleaseLocked(shard, lock, &signals);
}

void LockTable::ReleaseSince(LockOwner* owner, uint32_t epoch) {
  while (owner->held != nullptr && owner->held->epoch >= epoch) Release(owner, owner->held);
}

void LockTable::ReleaseAll(LockOwner* owner) {
  while (owner->held != nullptr) Release(owner, owner->held);
}

void LockTable::Undo(LockOwner* owner, const LockGrant& grant) {
  HeldLock* lock = grant.lock;
  if (grant.kind == LockGrant::Kind::kNew) return Release(owner, lock);
  Shard& shard = ShardOf(lock->entry->hash);
  SignalList signals;
  MutexLock shard_lock(shard.mu);
  --lock->count;
  if (grant.kind == LockGrant::Kind::kHeldBefore) return;
  LockEntry* entry = lock->entry;
  if (entry->queue_head == nullptr) {
    lock->mode = LockMode::kShared;
    return;
  }
  MutexLock graph_lock(graph_->mu());
  lock->mode = LockMode::kShared;
  GrantFromQueue(shard, entry, &signals);
}

HeldLock* LockTable::Find(LockOwner* owner, FamilyId family, Slice key) {
  const uint64_t hash = HashOf(family, key);
  HeldLock* const recent = FindRecent(owner, hash, family, key);
  if (recent != nullptr) return recent;
  Shard& shard = ShardOf(hash);
  MutexLock lock(shard.mu);
  LockEntry* entry = *FindSlot(shard, hash, family, key);
  return entry == nullptr ? nullptr : HolderOf(entry, owner);
}

bool LockTable::IsExclusiveOfOther(const LockOwner* owner, FamilyId family, Slice key) {
  const uint64_t hash = HashOf(family, key);
  Shard& shard = ShardOf(hash);
  MutexLock lock(shard.mu);
  LockEntry* entry = *FindSlot(shard, hash, family, key);
  return entry != nullptr && !Compatible(entry, owner, LockMode::kShared);
}

Status LockTable::CheckNoneOfOthers(const LockOwner* owner, FamilyId family) const {
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mu);
    for (const LockEntry* entry : shard.buckets) {
      for (; entry != nullptr; entry = entry->next_in_bucket) {
        if (entry->family != family) continue;
        for (const HeldLock* hold = entry->FirstHolder(); hold != nullptr;
             hold = hold->next_holder) {
          if (hold->owner == owner) continue;
          return Status::TimedOut(DescribeKey(family, entry->key()) + " is held by transaction " +
                                  std::to_string(hold->owner->id));
        }
      }
    }
  }
  return Status::Ok();
}

void LockTable::List(size_t locks_max, std::vector<LockInfo>* locks) const {
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mu);
    for (const LockEntry* entry : shard.buckets) {
      for (; entry != nullptr; entry = entry->next_in_bucket) {
        for (const HeldLock* hold = entry->FirstHolder(); hold != nullptr;
             hold = hold->next_holder) {
          if (locks->size() >= locks_max) return;
          LockInfo info;
          info.transaction = hold->owner->id;
          info.tag = hold->owner->tag;
          info.family = entry->family;
          info.exclusive = hold->mode == LockMode::kExclusive;
          info.key = std::string(entry->key());
          locks->push_back(std::move(info));
        }
      }
    }
  }
}

uint64_t LockTable::LocksHeld() const {
  uint64_t held = 0;
  for (const Shard& shard : shards_) held += shard.held.load(std::memory_order_relaxed);
  return held;
}

uint64_t LockTable::MemoryBytes() const {
  uint64_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard.bytes.load(std::memory_order_relaxed);
  return bytes;
}

void LockTable::TestingCheck() {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mu);
    MutexLock graph_lock(graph_->mu());
    size_t entries = 0;
    for (LockEntry* entry : shard.buckets) {
      for (; entry != nullptr; entry = entry->next_in_bucket) {
        ++entries;
        CHECK(entry->FirstHolder() != nullptr);
        size_t holders = 0;
        bool exclusive = false;
        for (HeldLock* h = entry->FirstHolder(); h != nullptr; h = h->next_holder) {
          ++holders;
          exclusive |= h->mode == LockMode::kExclusive;
          CHECK(h->entry == entry);
        }
        CHECK(!exclusive || holders == 1);
        const LockOwner* head = entry->queue_head;
        CHECK(head == nullptr || !Compatible(entry, head, head->wait.mode));
        CHECK((head == nullptr) == (entry->queue_tail == nullptr));
      }
    }
    CHECK(entries == shard.entries);
  }
}

}  // namespace tidesdb
