#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/arena.h"
#include "base/check.h"
#include "io/huge_pages.h"
#include "memtable/family_directory.h"
#include "memtable/key_tree.h"
#include "memtable/memtable.h"
#include "memtable/version_chain.h"
#include "tidesdb/limits.h"

namespace tidesdb {
namespace {

constexpr size_t Align8(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

// Over all versions of one family.
class TreeIterator final : public InternalIterator {
 public:
  TreeIterator(const FamilyDirectory* families, FamilyId family)
      : families_(families), family_(family) {}

  bool Valid() const override { return version_ != nullptr; }

  void SeekToFirst() override { SetFirstOf(HasTree() ? tree_->First(&place_) : nullptr); }

  void SeekToLast() override { SetLastOf(HasTree() ? tree_->Last(&place_) : nullptr); }

  void Seek(Slice user_key, Trailer trailer) override {
    KeyNode* node = HasTree() ? tree_->AtLeast(user_key, &place_) : nullptr;
    if (node == nullptr || node->key() != user_key) return SetFirstOf(node);
    node_ = node;
    version_ = node->newest()->NewestAtMost(trailer);
    if (version_ == nullptr) SetFirstOf(tree_->Next(node, &place_));
  }

  void SeekForPrev(Slice user_key, Trailer trailer) override {
    if (!HasTree()) return SetLastOf(nullptr);
    if (KeyNode* node = tree_->Find(user_key, &place_)) {
      node_ = node;
      version_ = node->newest()->OldestAtLeast(trailer);
      if (version_ == nullptr) SetLastOf(tree_->Previous(node, &place_));
    } else {
      SetLastOf(tree_->Before(user_key, &place_));
    }
  }

  void Next() override {
    DCHECK(Valid());
    version_ = version_->older();
    if (version_ == nullptr) SetFirstOf(tree_->Next(node_, &place_));
  }

  bool NextKeyOrVersion() override {
    DCHECK(Valid());
    SetFirstOf(tree_->Next(node_, &place_));
    return true;
  }

  void Prev() override {
    DCHECK(Valid());
    version_ = node_->newest()->OldestAtLeast(version_->trailer() + 1);
    if (version_ == nullptr) SetLastOf(tree_->Previous(node_, &place_));
  }

  bool StepInMemory() override {
    NextKeyOrVersion();
    return true;
  }

  bool ReadAhead(const AheadLimits& limits, EntryBatch* batch) override {
    ReadOn(limits, [batch](Slice key, Trailer, Slice value) { return batch->Add(key, value); });
    return false;
  }
  void ReadVersionsAhead(const AheadLimits& limits, VersionBatch* batch) override {
    KeyTree::Prefetch(place_);
    ReadOn(limits, [batch](Slice key, Trailer trailer, Slice value) {
      return batch->AddStable(key, trailer, value);
    });
  }

  Slice user_key() const override { return node_->key(); }
  Trailer trailer() const override { return version_->trailer(); }
  Slice value() const override { return version_->value(); }
  Status status() const override { return Status::Ok(); }

 private:
  // False if nothing of the family was added yet.
  bool HasTree() {
    if (tree_ == nullptr) {
      if (const MemTableFamily* family = families_->Find(family_)) tree_ = &family->tree;
    }
    return tree_ != nullptr;
  }
  // Adds the current version and the newest ones of the next keys, as long as `add` takes them.
  template <typename AddFn>
  void ReadOn(const AheadLimits& limits, AddFn add) {
    if (!add(user_key(), trailer(), value())) return;
    KeyTree::Place place = place_;
    for (KeyNode* node = tree_->Next(node_, &place); node != nullptr;
         node = tree_->Next(node, &place)) {
      const KeyVersion* const newest = node->newest();
      if (!limits.Allow(newest->trailer()) || !limits.Allow(node->key()) ||
          !add(node->key(), newest->trailer(), newest->value())) {
        break;
      }
      node_ = node;
      version_ = newest;
      place_ = place;
    }
  }
  void SetFirstOf(KeyNode* node) {
    node_ = node;
    version_ = node != nullptr ? node->newest() : nullptr;
  }
  void SetLastOf(KeyNode* node) {
    node_ = node;
    version_ = node != nullptr ? node->newest()->Oldest() : nullptr;
  }

  const FamilyDirectory* const families_;
  const FamilyId family_;
  const KeyTree* tree_ = nullptr;
  KeyTree::Place place_;  // Of node_.
  KeyNode* node_ = nullptr;
  const KeyVersion* version_ = nullptr;  // Null: not Valid().
};

class TreeMemTable final : public MemTable {
 public:
  explicit TreeMemTable(size_t block_bytes)
      : arena_(block_bytes, block_bytes % kHugePageBytes == 0 ? HugePageBlocks() : HeapBlocks()) {}

  using MemTable::Add;

  void Add(FamilyId family_id, Slice key, ValueType type, SequenceNumber sequence, Slice value,
           MemTableHint* hint) override {
    CHECK(key.size() <= kKeyBytesMax);
    CHECK(value.size() <= std::numeric_limits<uint32_t>::max());
    CHECK(sequence <= kSequenceMax);
    DCHECK(!IsTombstone(type) || value.empty());
    const Trailer trailer = PackTrailer(sequence, type);
    Hint last = hint != nullptr && hint->used ? ReadHint(*hint) : Hint{};
    if (last.family == nullptr || last.family->id != family_id) {
      last = {families_.FindOrMake(family_id, &arena_), nullptr};
    }
    KeyTree& tree = last.family->tree;
    KeyTree::Place place;
    if (KeyNode* node = tree.FindNear(key, last.leaf, &place)) {
      AddVersion(node, trailer, value);
    } else {
      tree.Insert(MakeNode(key, trailer, value), &place);
    }
    if (hint != nullptr) WriteHint({last.family, place.leaf}, hint);
    Count(last.family, type, key.size() + value.size());
    if (!IsTombstone(type)) {
      DeadRanges* dead_ranges = last.family->dead_ranges.load(std::memory_order_acquire);
      if (dead_ranges != nullptr && dead_ranges->Wanted()) dead_ranges->OnPut(key);
    }
    NoteSequence(sequence);
  }

  bool Get(FamilyId family_id, Slice key, SequenceNumber snapshot, VersionHit* hit) const override {
    const MemTableFamily* family = families_.Find(family_id);
    if (family == nullptr) return false;
    KeyTree::Place place;
    const KeyNode* node = family->tree.Find(key, &place);
    if (node == nullptr) return false;
    const KeyVersion* version = node->newest()->NewestAtMost(SeekTrailer(snapshot));
    if (version == nullptr) return false;
    *hit = VersionHit();
    hit->sequence = TrailerSequence(version->trailer());
    hit->type = TrailerType(version->trailer());
    hit->value = version->value();
    return true;
  }

  std::unique_ptr<InternalIterator> NewIterator(FamilyId family) const override {
    return std::make_unique<TreeIterator>(&families_, family);
  }

  DeadRanges* FindDeadRanges(FamilyId family_id) const override {
    MemTableFamily* family = families_.Find(family_id);
    return family == nullptr ? nullptr : family->FindOrMakeDeadRanges();
  }

  void InheritDeadRanges(const MemTable& older, std::span<const FamilyId> but_not) override {
    families_.InheritDeadRanges(static_cast<const TreeMemTable&>(older).families_, but_not,
                                &arena_);
  }

  void CloseDeadRanges(FamilyId family_id) override {
    families_.FindOrMake(family_id, &arena_)->FindOrMakeDeadRanges()->Close();
  }

  std::vector<MemTableFamilyCounts> Families() const override { return families_.List(); }

  uint64_t EstimateKeys(FamilyId family_id, Slice start, Slice end) const override {
    const MemTableFamily* family = families_.Find(family_id);
    if (family == nullptr || (!end.empty() && start >= end)) return 0;
    return family->tree.Estimate(start, end.empty() ? nullptr : &end);
  }

  double TombstoneShare(FamilyId family_id) const override {
    const MemTableFamily* family = families_.Find(family_id);
    if (family == nullptr) return 0;
    const uint64_t tombstones = family->tombstones.load(std::memory_order_relaxed);
    const uint64_t entries = family->entries.load(std::memory_order_relaxed);
    // Read one after the other, while others may be adding.
    return entries == 0
               ? 0
               : std::min(1.0, static_cast<double>(tombstones) / static_cast<double>(entries));
  }

  bool empty() const override {
    return last_sequence_.load(std::memory_order_relaxed) == kNoSequence;
  }
  size_t MemoryBytes() const override { return arena_.MemoryUsage(); }

  SequenceNumber FirstSequence() const override {
    DCHECK(!empty());
    return ~first_sequence_inverted_.load(std::memory_order_relaxed);
  }
  SequenceNumber LastSequence() const override {
    DCHECK(!empty());
    return last_sequence_.load(std::memory_order_relaxed) - 1;
  }

 private:
  static constexpr uint64_t kNoSequence = 0;

  struct Hint {
    MemTableFamily* family = nullptr;
    Leaf* leaf = nullptr;  // Of the last key.
  };
  static_assert(sizeof(Hint) == MemTableHint::kBytes);

  static Hint ReadHint(const MemTableHint& from) {
    Hint hint;
    std::memcpy(&hint, from.memory, sizeof(hint));
    return hint;
  }
  static void WriteHint(const Hint& hint, MemTableHint* to) {
    std::memcpy(to->memory, &hint, sizeof(hint));
    to->used = true;
  }

  void AddVersion(KeyNode* node, Trailer trailer, Slice value) {
    const KeyVersion* newest = node->newest();
    CHECK(TrailerSequence(trailer) > TrailerSequence(newest->trailer()));
    char* memory = arena_.AllocateAligned(KeyVersion::Bytes(newest, value));
    node->SetNewest(KeyVersion::Make(memory, newest, trailer, value));
  }

  // Node, key and first version are adjacent: a point read finds them in neighbouring cache lines.
  KeyNode* MakeNode(Slice key, Trailer trailer, Slice value) {
    const size_t node_bytes = Align8(KeyNode::Bytes(key));
    char* memory = arena_.AllocateAligned(node_bytes + KeyVersion::Bytes(nullptr, value));
    KeyNode* node = KeyNode::Make(memory, key);
    node->SetNewest(KeyVersion::Make(memory + node_bytes, nullptr, trailer, value));
    return node;
  }

  static void Count(MemTableFamily* family, ValueType type, size_t bytes) {
    family->entries.fetch_add(1, std::memory_order_acq_rel);  // DeadRanges' invariant 1.
    family->bytes.fetch_add(bytes, std::memory_order_relaxed);
    if (IsTombstone(type)) family->tombstones.fetch_add(1, std::memory_order_relaxed);
  }

  void NoteSequence(SequenceNumber sequence) {
    RaiseTo(&first_sequence_inverted_, ~sequence);
    RaiseTo(&last_sequence_, sequence + 1);
  }
  static void RaiseTo(std::atomic<uint64_t>* maximum, uint64_t value) {
    uint64_t old = maximum->load(std::memory_order_relaxed);
    while (old < value && !maximum->compare_exchange_weak(old, value, std::memory_order_relaxed)) {
    }
  }

  ConcurrentArena arena_;
  FamilyDirectory families_;
  // Relaxed: read while no Add is running.
  std::atomic<uint64_t> first_sequence_inverted_{
      0};  // The lowest with all bits flipped, so that the maximum is kept.
  std::atomic<uint64_t> last_sequence_{kNoSequence};  // One above the highest.
};

}  // namespace

std::unique_ptr<MemTable> NewMemTable(size_t block_bytes) {
  return std::make_unique<TreeMemTable>(block_bytes);
}

}  // namespace tidesdb
