#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "table/block_cache.h"
#include "table/cache_slot.h"

namespace tidesdb {

namespace {

using Slot = BlockCache::Handle;

// A table is at most half full, so that a search ends after one or two slots: each block pays for
// two.
constexpr size_t kSlotsPerBlock = 2;
constexpr size_t kShardsMax = 64;
constexpr size_t kShardBytesMin = 512 << 10;
constexpr size_t kTableSlotsMin = 16;
// A table starts with slots for this much and grows: most of a large cache may never be used.
constexpr size_t kTableFirstBytes = 256 << 20;

// The initial counter of the clock. A data block that is read once goes first: scans evict scans.
// Each hit counts up, to Slot::kCounterMax.
constexpr uint64_t CounterOf(CachePriority priority) {
  switch (priority) {
    case CachePriority::kData:
      return 0;
    case CachePriority::kKept:
      return 1;
    case CachePriority::kMeta:
      return Slot::kCounterMax;
  }
  return 0;
}

// The share of the capacity that may be idle in a full cache: memory of evicted blocks for new
// ones.
constexpr size_t kIdleShare = 16;

// The share of the capacity that counts as room.
constexpr size_t kRoomShare = 8;
// The share of the capacity that readers may keep for themselves.
constexpr size_t kChargedShare = 16;

constexpr size_t ChargeOf(size_t room) { return room + kSlotsPerBlock * sizeof(Slot); }
size_t ChargeOf(const Slot& slot) { return ChargeOf(RoomOf(slot.bytes, slot.size)); }

uint64_t HashOf(uint64_t file_number, uint64_t offset) {
  // Two rounds of multiply and fold: places differ in their middle bits, file numbers in their low
  // bits.
  uint64_t h = (file_number * 0x9e3779b97f4a7c15) ^ offset;
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
  return h ^ h >> 32;
}

struct Table {
  Table(size_t count, uint32_t shard) : mask(count - 1), slots(std::make_unique<Slot[]>(count)) {
    for (size_t i = 0; i < count; ++i) slots[i].shard = shard;
  }
  size_t size() const { return mask + 1; }
  bool Owns(const Slot* slot) const { return slot >= &slots[0] && slot <= &slots[mask]; }

  const size_t mask;
  const std::unique_ptr<Slot[]> slots;
};

// The blocks of each file, counted together for files that share a counter. Most files that are
// deleted have none: runs of spilled transactions and loads, and files of a scan long ago.
class FileCounts {
 public:
  void Add(uint64_t file_number) { Of(file_number).fetch_add(1, std::memory_order_relaxed); }
  void Remove(uint64_t file_number) { Of(file_number).fetch_sub(1, std::memory_order_relaxed); }
  bool MayHave(uint64_t file_number) {
    return Of(file_number).load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr size_t kCounters = 8192;

  std::atomic<uint32_t>& Of(uint64_t file_number) { return counts_[file_number % kCounters]; }

  std::array<std::atomic<uint32_t>, kCounters> counts_ = {};
};

// A part of the cache with its own table, mutex and clock.
// Threads: Find and CountLookup without a lock, everything else under mu.
class alignas(64) Shard {
 public:
  void Init(size_t slots, uint32_t number, FileCounts* counts) {
    MutexLock lock(mu_);
    number_ = number;
    counts_ = counts;
    tables_.push_back(std::make_unique<Table>(slots, number));
    // Release: pairs with Find.
    table_.store(tables_.back().get(), std::memory_order_release);
  }

  // Pinned, or null. *stray: a slot whose pin was taken back and which must now be reclaimed.
  Slot* Find(uint64_t hash, uint64_t file_number, uint64_t offset, bool count, Slot** stray) {
    const Table& table = *table_.load(std::memory_order_acquire);
    size_t i = hash & table.mask;
    for (size_t n = 0; n < table.size(); ++n, i = (i + 1) & table.mask) {
      Slot& slot = table.slots[i];
      Slot::AfterUnpin after;
      if (slot.TryPin(file_number, offset, count, &after)) return &slot;
      if (after == Slot::AfterUnpin::kReclaim) *stray = &slot;
      if (slot.passed.load(std::memory_order_relaxed) == 0) break;
    }
    return nullptr;
  }

  void CountLookup(bool hit) { (hit ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed); }

  // Inserts the block, pinned. REQUIRES: it is not there.
  Slot* Put(uint64_t hash, uint64_t file_number, uint64_t offset, BlockBytes bytes, size_t size,
            uint64_t counter) REQUIRES(mu_) {
    if ((taken_ + 1) * kSlotsPerBlock > tables_.back()->size()) Grow();
    counts_->Add(file_number);
    return PutInto(*tables_.back(), hash, file_number, offset, std::move(bytes), size, counter, 1);
  }

  // Turns the clock until `wanted` bytes of charge are free or nothing more can go. Returns the
  // freed charge.
  size_t Sweep(size_t wanted) REQUIRES(mu_) {
    Table& table = *tables_.back();
    size_t freed = 0;
    // One round for each count, and one more to find it at zero.
    const size_t steps_max = table.size() * (Slot::kCounterMax + 1);
    for (size_t step = 0; step < steps_max && freed < wanted && taken_ > 0; ++step) {
      Slot& slot = table.slots[hand_];
      hand_ = (hand_ + 1) & table.mask;
      if (slot.TryEvict(false)) freed += TakeOut(slot);
    }
    return freed;
  }

  // Drops the blocks of files, which ascend. Returns the charge of those freed at once.
  size_t Erase(const std::vector<uint64_t>& file_numbers) REQUIRES(mu_) {
    Table& table = *tables_.back();
    size_t freed = 0;
    for (size_t i = 0; i < table.size(); ++i) {
      Slot& slot = table.slots[i];
      if (std::binary_search(file_numbers.begin(), file_numbers.end(),
                             slot.file_number.load(std::memory_order_relaxed)) &&
          slot.Doom()) {
        freed += TakeOut(slot);
      }
    }
    return freed;
  }

  // Frees a doomed slot if it has no more pins. Returns its charge.
  size_t Reclaim(Slot& slot) REQUIRES(mu_) { return slot.TryReclaim() ? TakeOut(slot) : 0; }

  void AddStats(CacheStats* stats) REQUIRES(mu_) {
    stats->entries += taken_;
    stats->hits += hits_.load(std::memory_order_relaxed);
    stats->misses += misses_.load(std::memory_order_relaxed);
  }

  void AddPlaces(std::vector<BlockPlace>* places) REQUIRES(mu_) {
    const Table& table = *tables_.back();
    for (size_t i = 0; i < table.size(); ++i) {
      const Slot& slot = table.slots[i];
      if (Slot::StateOf(slot.word.load(std::memory_order_relaxed)) != Slot::State::kVisible) {
        continue;
      }
      places->push_back({slot.file_number.load(std::memory_order_relaxed),
                         slot.offset.load(std::memory_order_relaxed)});
    }
  }

  // Whether any block is pinned.
  bool Pinned() REQUIRES(mu_) {
    for (const auto& table : tables_) {
      for (size_t i = 0; i < table->size(); ++i) {
        if (Slot::PinsOf(table->slots[i].word.load(std::memory_order_acquire)) > 0) return true;
      }
    }
    return false;
  }

  Mutex& mu() RETURN_CAPABILITY(mu_) { return mu_; }

 private:
  Slot* PutInto(Table& table, uint64_t hash, uint64_t file_number, uint64_t offset,
                BlockBytes bytes, size_t size, uint64_t counter, uint64_t pins) REQUIRES(mu_) {
    size_t i = hash & table.mask;
    while (Slot::StateOf(table.slots[i].word.load(std::memory_order_relaxed)) !=
           Slot::State::kEmpty) {
      table.slots[i].passed.fetch_add(1, std::memory_order_relaxed);
      i = (i + 1) & table.mask;
    }
    Slot& slot = table.slots[i];
    slot.Publish(file_number, offset, std::move(bytes), size, counter, pins);
    ++taken_;
    return &slot;
  }

  // Clears a slot that has just become empty. Returns its charge.
  size_t TakeOut(Slot& slot) REQUIRES(mu_) {
    const size_t charge = ChargeOf(slot);
    slot.bytes.reset();
    counts_->Remove(slot.file_number.load(std::memory_order_relaxed));
    Table& table = *tables_.back();
    // A slot of an older table is only waiting for its last pin; no search passes it.
    if (!table.Owns(&slot)) return charge;
    const uint64_t hash = HashOf(slot.file_number.load(std::memory_order_relaxed),
                                 slot.offset.load(std::memory_order_relaxed));
    for (size_t i = hash & table.mask; &table.slots[i] != &slot; i = (i + 1) & table.mask) {
      table.slots[i].passed.fetch_sub(1, std::memory_order_relaxed);
    }
    --taken_;
    return charge;
  }

  // Moves to a table of twice the size. Pinned blocks stay in the old table until their last pin
  // goes, and are then dropped. A search that is still in the old table finds less, which is an
  // ordinary miss.
  void Grow() REQUIRES(mu_) {
    Table& old = *tables_.back();
    auto grown = std::make_unique<Table>(old.size() * 2, number_);
    taken_ = 0;
    hand_ = 0;
    for (size_t i = 0; i < old.size(); ++i) {
      Slot& slot = old.slots[i];
      const uint64_t counter =
          std::min(Slot::CounterOf(slot.word.load(std::memory_order_relaxed)), Slot::kCounterMax);
      if (!slot.Doom()) continue;
      const uint64_t file_number = slot.file_number.load(std::memory_order_relaxed);
      const uint64_t offset = slot.offset.load(std::memory_order_relaxed);
      PutInto(*grown, HashOf(file_number, offset), file_number, offset, std::move(slot.bytes),
              slot.size, counter, 0);
    }
    tables_.push_back(std::move(grown));
    table_.store(tables_.back().get(), std::memory_order_release);
  }

  std::atomic<Table*> table_ = nullptr;  // tables_.back(), for Find.
  // On separate cache lines: every lookup writes one of them, and would evict the table's line from
  // other cores. Relaxed: figures.
  alignas(64) std::atomic<uint64_t> hits_ = 0;
  std::atomic<uint64_t> misses_ = 0;
  alignas(64) Mutex mu_;
  uint32_t number_ GUARDED_BY(mu_) = 0;
  FileCounts* counts_ GUARDED_BY(mu_) = nullptr;
  // The last one is in use. Searches may still be in the others, so all are kept; together they are
  // smaller than the last.
  std::vector<std::unique_ptr<Table>> tables_ GUARDED_BY(mu_);
  size_t taken_ GUARDED_BY(mu_) = 0;  // Used slots of the current table.
  size_t hand_ GUARDED_BY(mu_) = 0;
};

class ClockCache final : public BlockCache {
 public:
  ClockCache(size_t bytes_max, size_t typical_block_bytes)
      : memory_(bytes_max),
        bytes_max_(bytes_max),
        shard_count_(std::clamp<size_t>(std::bit_floor(bytes_max / kShardBytesMin), 1, kShardsMax)),
        shards_(std::make_unique<Shard[]>(shard_count_)) {
    const size_t blocks =
        std::min(bytes_max, kTableFirstBytes) / ChargeOf(typical_block_bytes) / shard_count_ + 1;
    const size_t slots = std::max(std::bit_ceil(blocks * kSlotsPerBlock), kTableSlotsMin);
    for (size_t i = 0; i < shard_count_; ++i)
      shards_[i].Init(slots, static_cast<uint32_t>(i), &counts_);
  }

  ~ClockCache() override {
    CHECK_MSG(!AnyPinned(), "a block is still pinned when its cache is destroyed");
  }

  Handle* Lookup(uint64_t file_number, uint64_t offset) override {
    const uint64_t hash = HashOf(file_number, offset);
    Shard& shard = ShardOf(hash);
    Slot* stray = nullptr;
    Slot* slot = shard.Find(hash, file_number, offset, true, &stray);
    if (stray != nullptr) [[unlikely]]
      Reclaim(*stray);
    shard.CountLookup(slot != nullptr);
    return slot;
  }

  Handle* Peek(uint64_t file_number, uint64_t offset, bool* in_use) override {
    const uint64_t hash = HashOf(file_number, offset);
    Slot* stray = nullptr;
    Slot* slot = ShardOf(hash).Find(hash, file_number, offset, false, &stray);
    if (stray != nullptr) [[unlikely]]
      Reclaim(*stray);
    *in_use = slot != nullptr && Slot::CounterOf(slot->word.load(std::memory_order_relaxed)) > 0;
    return slot;
  }

  BlockBytes NewBlock(size_t bytes) override { return memory_.Allocate(bytes); }

  Handle* Insert(uint64_t file_number, uint64_t offset, BlockBytes bytes, size_t size,
                 CachePriority priority) override {
    const uint64_t hash = HashOf(file_number, offset);
    Shard& shard = ShardOf(hash);
    const size_t charge = ChargeOf(RoomOf(bytes, size));
    const bool room = Reserve(charge, hash);
    Slot* stray = nullptr;
    Slot* slot = nullptr;
    {
      MutexLock lock(shard.mu());
      // Under the mutex no other thread inserts it.
      slot = shard.Find(hash, file_number, offset, false, &stray);
      if (slot == nullptr && room) {
        slot = shard.Put(hash, file_number, offset, std::move(bytes), size, CounterOf(priority));
        bytes = nullptr;
      }
    }
    if (stray != nullptr) [[unlikely]]
      Reclaim(*stray);
    if (slot != nullptr) {
      // Another thread's block: the space reserved for this one is not needed.
      if (bytes != nullptr && room) used_.fetch_sub(charge, std::memory_order_relaxed);
      return slot;
    }
    return StandAlone(file_number, offset, std::move(bytes), size);
  }

  Slice Bytes(Handle* handle) const override { return {handle->bytes.get(), handle->size}; }

  void Release(Handle* handle) override {
    switch (handle->Unpin()) {
      case Slot::AfterUnpin::kNothing:
        return;
      case Slot::AfterUnpin::kReclaim:
        Reclaim(*handle);
        return;
      case Slot::AfterUnpin::kFree:
        alone_.fetch_sub(ChargeOf(*handle), std::memory_order_relaxed);
        std::unique_ptr<Slot>(handle).reset();
        GiveBackIdle();
        return;
    }
  }

  void EraseFiles(const std::vector<uint64_t>& file_numbers) override {
    std::vector<uint64_t> there;
    for (const uint64_t number : file_numbers) {
      if (counts_.MayHave(number)) there.push_back(number);
    }
    if (there.empty()) return;
    std::sort(there.begin(), there.end());
    for (size_t i = 0; i < shard_count_; ++i) {
      MutexLock lock(shards_[i].mu());
      used_.fetch_sub(shards_[i].Erase(there), std::memory_order_relaxed);
    }
  }

  bool Charge(size_t bytes) override {
    const size_t charged_max = bytes_max_.load(std::memory_order_relaxed) / kChargedShare;
    if (charged_.fetch_add(bytes, std::memory_order_relaxed) + bytes > charged_max) {
      charged_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    used_.fetch_add(bytes, std::memory_order_relaxed);
    MakeRoom(0);
    return true;
  }

  void GiveBack(size_t bytes) override {
    charged_.fetch_sub(bytes, std::memory_order_relaxed);
    used_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  void SetCapacity(size_t bytes_max) override {
    bytes_max_.store(bytes_max, std::memory_order_relaxed);
    GiveBackIdle();
    // From all shards equally: one shard alone would lose blocks in use.
    const size_t share = Excess() / shard_count_;
    for (size_t i = 0; i < shard_count_ && share > 0; ++i) {
      MutexLock lock(shards_[i].mu());
      used_.fetch_sub(shards_[i].Sweep(share), std::memory_order_relaxed);
    }
    MakeRoom(0);
  }

  bool AnyPinned() const override {
    if (alone_.load(std::memory_order_relaxed) != 0) return true;
    for (size_t i = 0; i < shard_count_; ++i) {
      MutexLock lock(shards_[i].mu());
      if (shards_[i].Pinned()) return true;
    }
    return false;
  }

  bool HasRoom() const override {
    const size_t bytes_max = bytes_max_.load(std::memory_order_relaxed);
    // Free slots are room for new blocks; the idle rest is not.
    const size_t idle = memory_.idle_bytes();
    const size_t rest = idle - std::min(idle, memory_.warm_bytes());
    const size_t taken =
        used_.load(std::memory_order_relaxed) + std::max(bytes_max / kIdleShare, rest);
    return taken < bytes_max - bytes_max / kRoomShare;
  }

  CacheStats GetStats() const override {
    CacheStats stats;
    stats.partitions = shard_count_;
    stats.bytes = used_.load(std::memory_order_relaxed) + alone_.load(std::memory_order_relaxed) +
                  memory_.idle_bytes();
    for (size_t i = 0; i < shard_count_; ++i) {
      MutexLock lock(shards_[i].mu());
      shards_[i].AddStats(&stats);
    }
    return stats;
  }

  std::vector<BlockPlace> List() const override {
    std::vector<BlockPlace> places;
    for (size_t i = 0; i < shard_count_; ++i) {
      MutexLock lock(shards_[i].mu());
      shards_[i].AddPlaces(&places);
    }
    return places;
  }

 private:
  // The table uses the low bits of the hash.
  Shard& ShardOf(uint64_t hash) const { return shards_[hash >> 48 & (shard_count_ - 1)]; }

  // The excess of blocks: they must leave room for space that is or may become idle.
  size_t Excess() const {
    const size_t bytes_max = bytes_max_.load(std::memory_order_relaxed);
    const size_t idle = std::max(bytes_max / kIdleShare, memory_.idle_bytes());
    const size_t taken = used_.load(std::memory_order_relaxed) + idle;
    return taken > bytes_max ? taken - bytes_max : 0;
  }
  bool Full() const { return Excess() > 0; }

  // Counts `charge` as used if the resulting excess can be evicted.
  bool Reserve(size_t charge, uint64_t hash) {
    // A block that takes a large part of the cache would evict too many others.
    if (charge > bytes_max_.load(std::memory_order_relaxed) / 4) return false;
    used_.fetch_add(charge, std::memory_order_relaxed);
    if (!Full() || MakeRoom(hash)) return true;
    used_.fetch_sub(charge, std::memory_order_relaxed);
    return false;
  }

  // Evicts until the cache is within its capacity, first from the hash's shard.
  bool MakeRoom(uint64_t hash) {
    const size_t first = hash >> 48;
    GiveBackIdle();
    for (size_t i = 0; i < shard_count_ && Full(); ++i) {
      Shard& shard = shards_[(first + i) & (shard_count_ - 1)];
      {
        MutexLock lock(shard.mu());
        used_.fetch_sub(shard.Sweep(Excess()), std::memory_order_relaxed);
      }
      GiveBackIdle();
    }
    return !Full();
  }

  // Idle memory goes before blocks do.
  void GiveBackIdle() {
    const size_t excess = Excess();
    const size_t idle = memory_.idle_bytes();
    const size_t kept = bytes_max_.load(std::memory_order_relaxed) / kIdleShare;
    if (excess > 0 && idle > kept) memory_.Trim(std::min(excess, idle - kept), kept);
  }

  void Reclaim(Slot& slot) {
    // The slot may hold another block by now, even one to be reclaimed, but always one of its
    // shard.
    Shard& shard = shards_[slot.shard];
    {
      MutexLock lock(shard.mu());
      used_.fetch_sub(shard.Reclaim(slot), std::memory_order_relaxed);
    }
    GiveBackIdle();
  }

  Slot* StandAlone(uint64_t file_number, uint64_t offset, BlockBytes bytes, size_t size) {
    auto slot = std::make_unique<Slot>();
    slot->file_number.store(file_number, std::memory_order_relaxed);
    slot->offset.store(offset, std::memory_order_relaxed);
    slot->bytes = std::move(bytes);
    slot->size = size;
    slot->word.store(Slot::StateBits(Slot::State::kAlone) + Slot::kPin, std::memory_order_relaxed);
    alone_.fetch_add(ChargeOf(*slot), std::memory_order_relaxed);
    return slot.release();
  }

  BlockMemory memory_;
  // All relaxed: sums that publish nothing; the shards' mutexes and slots order the blocks.
  std::atomic<size_t> bytes_max_;
  // Charge of all blocks in tables, of blocks about to be inserted, and charged_.
  std::atomic<size_t> used_ = 0;
  std::atomic<size_t> charged_ = 0;  // By Charge.
  std::atomic<size_t> alone_ = 0;    // Charge of blocks that found no room.
  FileCounts counts_;                // Of blocks in tables.
  const size_t shard_count_;         // A power of two.
  const std::unique_ptr<Shard[]> shards_;
};

}  // namespace

std::unique_ptr<BlockCache> NewClockCache(size_t bytes_max, size_t typical_block_bytes) {
  return std::make_unique<ClockCache>(bytes_max, typical_block_bytes);
}

}  // namespace tidesdb
