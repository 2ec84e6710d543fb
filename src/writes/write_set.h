// The writes of a transaction that are not spilled yet: for each family an ordered index of keys,
// each with its operations, newest first.
//
// Threads: one at a time; LookAt() by any.
// Owns: an arena with all keys and values; bytes live until Clear().
// Invariants:
//   1. Operation numbers ascend over the life of a transaction, through spills and rollbacks.
//   2. A key whose operations were all undone stays in the index without one, and counts as absent.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/arena.h"
#include "base/mutex.h"
#include "format/internal_key.h"
#include "lock/staged_keys.h"
#include "writes/family_writes.h"

namespace tidesdb {

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

class WriteSet final : public StagedKeys {
 public:
  WriteSet() = default;
  WriteSet(const WriteSet&) = delete;
  WriteSet& operator=(const WriteSet&) = delete;

  // A kSingleDelete of a key with an operation here becomes a kDelete, which can replace both in
  // the commit.
  void Add(FamilyId family, Slice key, ValueType type, Slice value);
  // The key's newest operation; null if there is none.
  const WriteOp* Find(FamilyId family, Slice key) const;

  // The number of the newest operation ever made; 0: none yet.
  uint64_t last_number() const { return last_number_; }
  // Undoes every operation with a higher number. Costs as much as their count.
  void UndoTo(uint64_t number);

  // Drops all operations (they are in a run now) and frees their memory; numbers continue.
  void Clear();
  // Makes it like a new one.
  void Reset();

  bool empty() const { return live_keys_ == 0; }
  uint64_t live_keys() const { return live_keys_; }
  // Grows with every change of the contents: cursors that see a new number find their place again.
  uint64_t changes() const { return changes_; }
  // Grows at Clear: earlier nodes are invalid.
  uint64_t generation() const { return generation_; }
  // Keys and values of the newest operations, plus their headers: the size of a record.
  uint64_t live_bytes() const { return live_bytes_; }
  // Arena bytes of operations, undone ones included: a spill frees them.
  uint64_t used_bytes() const { return used_bytes_; }
  size_t MemoryBytes() const { return arena_.MemoryUsage(); }

  // Ascending by family; some may have no live key.
  const std::vector<std::unique_ptr<FamilyWrites>>& families() const { return families_; }
  const FamilyWrites* FindFamily(FamilyId family) const;

  // Tells which keys have an operation here. If most queries come in the order of the newest
  // operations, it avoids the lookup in the index.
  // Lifetime: until the set changes.
  class NewestFirst {
   public:
    explicit NewestFirst(const WriteSet& set) : set_(set), next_(set.newest_op_) {}
    bool Has(FamilyId family, Slice key);

   private:
    const WriteSet& set_;
    const WriteOp* next_;  // The newest one not queried yet.
  };

  Look LookAt(FamilyId family, Slice start, Slice end, RangeHold hold) const override;

  // Of one operation, as live_bytes counts it.
  static uint64_t RecordBytes(Slice key, Slice value) { return key.size() + value.size() + 16; }

 private:
  FamilyWrites* MakeFamily(FamilyId family);
  static bool HasPut(const WriteNode& node);

  // Held by the owner while it changes families_ or their contents, and by others that look at
  // them; the owner reads without it.
  mutable Mutex look_mutex_;
  Arena arena_;
  std::vector<std::unique_ptr<FamilyWrites>> families_;
  WriteOp* newest_op_ = nullptr;  // Head of the list of all operations, newest first.
  uint64_t last_number_ = 0;
  uint64_t live_keys_ = 0;
  uint64_t live_bytes_ = 0;
  uint64_t used_bytes_ = 0;
  uint64_t changes_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace tidesdb
