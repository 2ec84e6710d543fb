// What a transaction has written and not yet spilled: per family an ordered index of keys, each
// with its operations, newest first.
//
// Threads: one at a time; LookAt() by any.
// Owns: an arena with all keys and values; bytes live until Clear().
// Invariants:
//   1. Operation numbers ascend over the life of a transaction, through spills and rollbacks.
//   2. A key whose operations were all undone stays in the index without one, and is as absent.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/arena.h"
#include "base/mutex.h"
#include "format/internal_key.h"
#include "lock/staged_keys.h"

namespace tidesdb {

struct WriteNode;

struct WriteOp {
  uint64_t number;
  WriteOp* older;   // Of the same key.
  WriteOp* before;  // The operation made before this one.
  WriteNode* node;
  const char* value_data;
  uint32_t value_bytes;
  ValueType type;

  Slice value() const { return {value_data, value_bytes}; }
};

// A key. In memory its `height` links to next nodes follow, then the bytes of the key.
struct WriteNode {
  WriteOp* newest;          // Null: all undone.
  WriteNode* prev;          // On the lowest level; null: the first.
  uint64_t head;            // The key's first bytes as a number, so that most comparisons end here.
  uint32_t key_bytes : 28;  // kKeyBytesMax
  uint32_t height : 4;
  FamilyId family;

  WriteNode** links() { return reinterpret_cast<WriteNode**>(this + 1); }
  WriteNode* const* links() const { return reinterpret_cast<WriteNode* const*>(this + 1); }
  Slice key() const { return {reinterpret_cast<const char*>(links() + height), key_bytes}; }
};

// The index of one family: a skip list that is linked backwards too.
class FamilyWrites {
 public:
  FamilyWrites(FamilyId family, Arena* arena);

  FamilyId family() const { return family_; }

  // The key's node, made when missing.
  WriteNode* FindOrInsert(Slice key);
  const WriteNode* Find(Slice key) const;

  // Keys with an operation only; null: there is none.
  const WriteNode* First() const;
  const WriteNode* Last() const;
  const WriteNode* AtLeast(Slice key) const;  // The first >= key.
  const WriteNode* AtMost(Slice key) const;   // The last <= key.
  const WriteNode* Before(Slice key) const;   // The last < key.
  static const WriteNode* Next(const WriteNode* node);
  static const WriteNode* Prev(const WriteNode* node);

 private:
  static constexpr uint32_t kHeightMax = 12;  // Branching 4: good for 4^12 keys.

  static int Compare(const WriteNode& node, uint64_t head, Slice key);
  static const WriteNode* SkipForward(const WriteNode* node);
  static const WriteNode* SkipBackward(const WriteNode* node);
  WriteNode* NewNode(Slice key, uint64_t head, uint32_t height);
  uint32_t RandomHeight();
  // Fills `before_` with the last node < key of each level, starting from where the last insertion
  // was when the key comes right after it.
  void FindPlace(uint64_t head, Slice key);
  // The last node < key; null: none.
  const WriteNode* LastLess(Slice key) const;

  const FamilyId family_;
  Arena* const arena_;
  WriteNode* head_node_;           // Stands before all keys.
  WriteNode* last_ = nullptr;      // The last key.
  WriteNode* inserted_ = nullptr;  // The newest node; before_ is its place.
  WriteNode* before_[kHeightMax];
  uint64_t random_;
};

class WriteSet final : public StagedKeys {
 public:
  WriteSet() = default;
  WriteSet(const WriteSet&) = delete;
  WriteSet& operator=(const WriteSet&) = delete;

  // A kSingleDelete of a key that has an operation here becomes a kDelete, which the commit may put
  // in the place of both.
  void Add(FamilyId family, Slice key, ValueType type, Slice value);
  // The key's newest operation; null: none here.
  const WriteOp* Find(FamilyId family, Slice key) const;

  // The number of the newest operation ever made; 0: none yet.
  uint64_t last_number() const { return last_number_; }
  // Undoes every operation with a greater number. Costs their count.
  void UndoTo(uint64_t number);

  // Forgets all operations (they are in a run now) and frees their memory; numbers go on.
  void Clear();
  // As a new one.
  void Reset();

  bool empty() const { return live_keys_ == 0; }
  uint64_t live_keys() const { return live_keys_; }
  // Grows whenever the contents change: cursors that see a new number look their place up again.
  uint64_t changes() const { return changes_; }
  // Grows at Clear: nodes from before are gone.
  uint64_t generation() const { return generation_; }
  // Keys and values of the newest operations, and room for their headers: what a record takes.
  uint64_t live_bytes() const { return live_bytes_; }
  // What operations took from the arena, undone ones included: what a spill gives back.
  uint64_t used_bytes() const { return used_bytes_; }
  size_t MemoryBytes() const { return arena_.MemoryUsage(); }

  // Ascending by family; some may have no live key.
  const std::vector<std::unique_ptr<FamilyWrites>>& families() const { return families_; }
  const FamilyWrites* FindFamily(FamilyId family) const;

  // Tells which keys have an operation here, where most are asked for in the order of the newest
  // operations: that spares the look into the index.
  // Lifetime: until the set changes.
  class NewestFirst {
   public:
    explicit NewestFirst(const WriteSet& set) : set_(set), next_(set.newest_op_) {}
    bool Has(FamilyId family, Slice key);

   private:
    const WriteSet& set_;
    const WriteOp* next_;  // The newest that was not asked for.
  };

  Look LookAt(FamilyId family, Slice start, Slice end, RangeHold hold) const override;

  // Of one operation, as live_bytes counts it.
  static uint64_t RecordBytes(Slice key, Slice value) { return key.size() + value.size() + 16; }

 private:
  FamilyWrites* MakeFamily(FamilyId family);
  static bool HasPut(const WriteNode& node);

  // Held by the owner while it changes families_ or what they hold, and by others who look at them;
  // the owner reads without it.
  mutable Mutex look_mutex_;
  Arena arena_;
  std::vector<std::unique_ptr<FamilyWrites>> families_;
  WriteOp* newest_op_ = nullptr;  // Heads the list of all operations, newest first.
  uint64_t last_number_ = 0;
  uint64_t live_keys_ = 0;
  uint64_t live_bytes_ = 0;
  uint64_t used_bytes_ = 0;
  uint64_t changes_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace tidesdb
