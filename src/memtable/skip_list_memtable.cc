#include <algorithm>
#include <atomic>
#include <limits>

#include "base/arena.h"
#include "base/check.h"
#include "base/hash.h"
#include "memtable/family_counters.h"
#include "memtable/memtable.h"
#include "memtable/skip_list.h"
#include "memtable/version_chain.h"

namespace tidesdb {
namespace {

using Node = SkipListNode;

constexpr size_t Align8(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

// From the key's hash instead of a generator: no shared state, and the same on every run.
int HeightOf(const SkipListKey& key) {
  uint64_t bits = Hash64(key.bytes) ^ (uint64_t{key.family} * 0x9e3779b97f4a7c15);
  int height = 1;
  while (height < Node::kHeightMax && (bits & 3) == 0) {
    height++;
    bits >>= 2;
  }
  return height;
}

// Over all versions of one family.
class SkipListIterator final : public InternalIterator {
 public:
  SkipListIterator(const SkipList* list, FamilyId family) : list_(list), family_(family) {
    list_->Reset(&splice_);
  }

  bool Valid() const override { return version_ != nullptr; }

  void SeekToFirst() override { SetFirstOf(list_->FindAtLeast(SkipListKey(family_, Slice()))); }

  void SeekToLast() override {
    constexpr FamilyId kFamilyMax = std::numeric_limits<FamilyId>::max();
    SetLastOf(family_ == kFamilyMax
                  ? list_->FindLast()
                  : list_->FindBefore(SkipListKey(family_ + 1, Slice()), &splice_));
  }

  void Seek(Slice user_key, Trailer trailer) override {
    const SkipListKey key(family_, user_key);
    Node* node = list_->FindAtLeast(key);
    if (node == nullptr || node->Compare(key) != 0) return SetFirstOf(node);
    node_ = node;
    version_ = node->newest()->NewestAtMost(trailer);
    if (version_ == nullptr) SetFirstOf(node->Next(0));
  }

  void SeekForPrev(Slice user_key, Trailer trailer) override {
    const SkipListKey key(family_, user_key);
    Node* node = list_->Find(key, &splice_);
    if (node != nullptr) {
      node_ = node;
      version_ = node->newest()->OldestAtLeast(trailer);
      if (version_ != nullptr) return;
    }
    SetLastOf(list_->Before(splice_));
  }

  void Next() override {
    DCHECK(Valid());
    version_ = version_->older();
    if (version_ == nullptr) SetFirstOf(node_->Next(0));
  }

  void Prev() override {
    DCHECK(Valid());
    version_ = node_->newest()->OldestAtLeast(version_->trailer() + 1);
    if (version_ == nullptr) SetLastOf(list_->FindBefore(node_->search_key(), &splice_));
  }

  Slice user_key() const override { return node_->key(); }
  Trailer trailer() const override { return version_->trailer(); }
  Slice value() const override { return version_->value(); }
  Status status() const override { return Status::Ok(); }

 private:
  void SetFirstOf(Node* node) {
    node_ = node;
    version_ = node != nullptr && node->family() == family_ ? node->newest() : nullptr;
  }
  void SetLastOf(Node* node) {
    node_ = node;
    version_ = node != nullptr && node->family() == family_ ? node->newest()->Oldest() : nullptr;
  }

  const SkipList* const list_;
  const FamilyId family_;
  Node* node_ = nullptr;
  const KeyVersion* version_ = nullptr;  // Null: not Valid().
  SkipList::Splice splice_;              // Makes steps backwards nearly O(1).
};

class SkipListMemTable final : public MemTable {
 public:
  explicit SkipListMemTable(size_t block_bytes) : arena_(block_bytes) {}

  using MemTable::Add;

  void Add(FamilyId family, Slice key, ValueType type, SequenceNumber sequence, Slice value,
           MemTableHint* hint) override {
    CHECK(key.size() <= Node::kKeyBytesMax);
    CHECK(value.size() <= std::numeric_limits<uint32_t>::max());
    CHECK(sequence <= kSequenceMax);
    DCHECK(!IsTombstone(type) || value.empty());
    MemTableHint own_hint;
    SkipList::Splice* splice = SpliceOf(hint == nullptr ? &own_hint : hint);
    const SkipListKey search(family, key);
    const Trailer trailer = PackTrailer(sequence, type);
    if (Node* node = list_.Find(search, splice)) {
      AddVersion(node, trailer, value);
      SkipList::MoveBehind(node, splice);
    } else {
      list_.Insert(MakeNode(search, trailer, value), splice);
    }
    Count(family, type, key.size() + value.size());
    NoteSequence(sequence);
  }

  bool Get(FamilyId family, Slice key, SequenceNumber snapshot, VersionHit* hit) const override {
    const SkipListKey search(family, key);
    const Node* node = list_.FindAtLeast(search);
    if (node == nullptr || node->Compare(search) != 0) return false;
    const KeyVersion* version = node->newest()->NewestAtMost(SeekTrailer(snapshot));
    if (version == nullptr) return false;
    *hit = VersionHit();
    hit->sequence = TrailerSequence(version->trailer());
    hit->type = TrailerType(version->trailer());
    hit->value = version->value();
    return true;
  }

  std::unique_ptr<InternalIterator> NewIterator(FamilyId family) const override {
    return std::make_unique<SkipListIterator>(&list_, family);
  }

  std::vector<MemTableFamilyCounts> Families() const override { return counters_.List(); }

  uint64_t EstimateKeys(FamilyId family, Slice start, Slice end) const override {
    const SkipListKey low(family, start);
    if (!end.empty()) {
      const SkipListKey high(family, end);
      return start < end ? list_.Estimate(low, &high) : 0;
    }
    if (family == std::numeric_limits<FamilyId>::max()) return list_.Estimate(low, nullptr);
    const SkipListKey high(family + 1, Slice());
    return list_.Estimate(low, &high);
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

  SkipList::Splice* SpliceOf(MemTableHint* hint) const {
    static_assert(sizeof(SkipList::Splice) <= MemTableHint::kBytes);
    if (hint->used) return std::launder(reinterpret_cast<SkipList::Splice*>(hint->memory));
    hint->used = true;
    auto* splice = new (hint->memory) SkipList::Splice;
    list_.Reset(splice);
    return splice;
  }

  void AddVersion(Node* node, Trailer trailer, Slice value) {
    const KeyVersion* newest = node->newest();
    CHECK(TrailerSequence(trailer) > TrailerSequence(newest->trailer()));
    char* memory = arena_.AllocateAligned(KeyVersion::Bytes(newest, value));
    node->SetNewest(KeyVersion::Make(memory, newest, trailer, value));
  }

  // Node, key and first version lie side by side: a point read finds them in neighbouring cache
  // lines.
  Node* MakeNode(const SkipListKey& key, Trailer trailer, Slice value) {
    const int height = HeightOf(key);
    const size_t node_bytes = Align8(Node::Bytes(height, key.bytes));
    char* memory = arena_.AllocateAligned(node_bytes + KeyVersion::Bytes(nullptr, value));
    Node* node = Node::Make(memory, key, height);
    node->SetNewest(KeyVersion::Make(memory + node_bytes, nullptr, trailer, value));
    return node;
  }

  void Count(FamilyId family, ValueType type, size_t bytes) {
    FamilyCounters::Counter* counter =
        counters_.Get(family, [this](size_t size) { return arena_.AllocateAligned(size); });
    counter->entries.fetch_add(1, std::memory_order_relaxed);
    counter->bytes.fetch_add(bytes, std::memory_order_relaxed);
    if (IsTombstone(type)) counter->tombstones.fetch_add(1, std::memory_order_relaxed);
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
  SkipList list_;
  FamilyCounters counters_;
  // Relaxed: read when no Add is running.
  std::atomic<uint64_t> first_sequence_inverted_{
      0};  // All bits of the lowest flipped: the maximum is kept.
  std::atomic<uint64_t> last_sequence_{kNoSequence};  // One above the highest.
};

}  // namespace

std::unique_ptr<MemTable> NewSkipListMemTable(size_t block_bytes) {
  return std::make_unique<SkipListMemTable>(block_bytes);
}

}  // namespace tidesdb
