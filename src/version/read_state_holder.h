// Holds the current ReadState, hands it to readers, and swaps it when memtables or versions change.
//
// Threads: any. Acquire() is on the way of every statement: a spin of a pointer copy, no lock, no
//   memory.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "version/read_state.h"
#include "version/version_map.h"

namespace tidesdb {

// Table files of a spilled transaction that stand where a memtable would, until they are in a
// version.
struct IngestedFiles {
  struct Run {
    FamilyId family = 0;
    FileList files;  // Ascending by key, disjoint.
  };
  SequenceNumber sequence = 0;
  std::vector<Run> runs;  // Ascending by family.

  const Run* FindRun(FamilyId family) const;
};

// One place in the age order above the versions: a full memtable, or the files of a spilled
// transaction. Constant after construction.
struct ImmutableSource {
  std::shared_ptr<MemTable> memtable;  // Exactly one of these two.
  std::shared_ptr<const IngestedFiles> ingested;
  uint64_t wal_segment_min = 0;      // The first WAL segment that holds anything of it.
  SequenceNumber sequence_last = 0;  // Every commit of it and of older sources is <= this.
};
using ImmutableSourceRef = std::shared_ptr<const ImmutableSource>;

// What a ReadState is made of.
struct ReadStateParts {
  std::shared_ptr<MemTable> active;
  std::vector<ImmutableSourceRef> immutables;  // Newest first.
  VersionMap versions;
  TableCache* tables = nullptr;  // For ingested files; outlives the state.
  // Families that are being loaded: something older than all that is in them is to come, so that no
  // deletion there may be taken for the last word. Null: none.
  std::shared_ptr<const std::set<FamilyId>> loading = nullptr;

  bool IsLoading(FamilyId family) const { return loading != nullptr && loading->contains(family); }
  // Returns false when it was so already.
  bool SetLoading(FamilyId family, bool on);
};

// The same, searchable.
ReadStateRef NewReadState(ReadStateParts parts);

class ReadStateHolder {
 public:
  explicit ReadStateHolder(ReadStateParts parts);
  ReadStateHolder(const ReadStateHolder&) = delete;
  ReadStateHolder& operator=(const ReadStateHolder&) = delete;

  ReadStateRef Acquire() const;

  // Changes a copy of the parts and publishes it as one step. `change` must be short and do no I/O.
  void Update(const std::function<void(ReadStateParts*)>& change) EXCLUDES(mutex_);

  // A copy of the current parts.
  ReadStateParts Parts() const EXCLUDES(mutex_);
  // Whether anybody holds a state that was acquired here. REQUIRES: nobody acquires one meanwhile.
  bool HasReaders() const EXCLUDES(mutex_);
  // Null: the family is unknown.
  VersionRef CurrentVersion(FamilyId family) const EXCLUDES(mutex_);

 private:
  // Readers spread over stripes, each with a reference count of its own, so that they do not share
  // a cache line.
  static constexpr size_t kStripes = 8;
  struct alignas(64) Stripe {
    mutable std::atomic<bool> busy = false;
    ReadStateRef state;
  };

  void Publish(const ReadStateParts& parts) REQUIRES(mutex_);

  mutable Mutex mutex_;
  ReadStateParts parts_ GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<const ReadState>> older_ GUARDED_BY(mutex_);  // Some still held.
  std::weak_ptr<const ReadState> current_ GUARDED_BY(mutex_);
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace tidesdb
