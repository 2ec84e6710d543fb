// The newest writes of all column families, ordered by (family, key), in memory.
//
// Threads: any number of Add, Get and iterators at once; no locks. REQUIRES of callers: two threads
//   never add versions of one key at the same time (the row lock ensures it), and versions of one
//   key are added in ascending sequence.
// Owns: an arena with all keys and values; returned bytes live as long as the memtable.
// Invariants:
//   1. A reader that has seen sequence s published (an acquire load) finds every version <= s.
//   2. (family, key, sequence) is unique.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/internal_iter.h"
#include "format/internal_key.h"
#include "format/version_hit.h"
#include "memtable/dead_ranges.h"

namespace tidesdb {

struct MemTableFamilyCounts {
  FamilyId family;
  uint64_t entries;
  uint64_t tombstones;
  uint64_t bytes;  // Of keys and values.
};

// Remembers the place of a caller's last Add, so that adding sorted keys is nearly O(1). Cheap to
// create; useless for another memtable.
// Threads: one at a time.
class MemTableHint {
 public:
  static constexpr size_t kBytes = 16;
  alignas(8) std::byte memory[kBytes];  // The memtable's own.
  bool used = false;
};

class MemTable {
 public:
  virtual ~MemTable() = default;

  // `value` must be empty for tombstones. The hint may be null; else REQUIRES: fresh, or used with
  // this memtable only. Limits: keys below 256 MiB, values below 4 GiB.
  virtual void Add(FamilyId family, Slice key, ValueType type, SequenceNumber sequence, Slice value,
                   MemTableHint* hint) = 0;
  void Add(FamilyId family, Slice key, ValueType type, SequenceNumber sequence, Slice value) {
    Add(family, key, type, sequence, value, nullptr);
  }

  // The newest version of the key with sequence <= snapshot, tombstones included. False if none.
  virtual bool Get(FamilyId family, Slice key, SequenceNumber snapshot, VersionHit* hit) const = 0;

  // Over the versions of one family. Lives no longer than the memtable.
  virtual std::unique_ptr<InternalIterator> NewIterator(FamilyId family) const = 0;

  // The dead ranges that scans found, for a reader with this memtable in front of its sources.
  // Null: nothing of the family was added yet, and no ranges were inherited. Lives as long as the
  // memtable.
  virtual DeadRanges* FindDeadRanges(FamilyId family) const = 0;
  // Begins with the dead ranges of the memtable before, but not of some families: keys come in
  // between the two. REQUIRES: `older` takes no more adds, and no other thread has this one.
  virtual void InheritDeadRanges(const MemTable& older, std::span<const FamilyId> but_not) = 0;
  // Scans find no dead ranges of the family any more: its keys come in behind this memtable.
  virtual void CloseDeadRanges(FamilyId family) = 0;

  // The families with entries, ascending. REQUIRES: no Add is running.
  virtual std::vector<MemTableFamilyCounts> Families() const = 0;

  // An estimate of the keys in [start, end) (empty end: no bound), from the upper levels of the
  // tree.
  virtual uint64_t EstimateKeys(FamilyId family, Slice start, Slice end) const = 0;
  // The share of tombstones in the family's entries, from 0 to 1.
  virtual double TombstoneShare(FamilyId family) const = 0;

  virtual bool empty() const = 0;
  virtual size_t MemoryBytes() const = 0;  // Allocated from the system.
  // Lowest and highest sequence added. REQUIRES: no Add is running and not empty.
  virtual SequenceNumber FirstSequence() const = 0;
  virtual SequenceNumber LastSequence() const = 0;
};

// A tree of keys per family, with a chain of versions per key. `block_bytes`: the size of the
// arena's requests to the system. Use a small one for a memtable that is rotated at a few KiB, and
// a multiple of kHugePageBytes (io/huge_pages.h) for a large one.
std::unique_ptr<MemTable> NewMemTable(size_t block_bytes = 256 << 10);

}  // namespace tidesdb
