// Holds the current ReadState, hands it to readers, and swaps it when memtables or versions change.
//
// Threads: any. Every statement calls Acquire(): it spins for a pointer copy, without lock or
//   allocation.
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

// Table files of a spilled transaction that take the place of a memtable until they are in a
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
  std::shared_ptr<MemTable> memtable;  // Exactly one of these two is set.
  std::shared_ptr<const IngestedFiles> ingested;
  uint64_t wal_segment_min = 0;      // The first WAL segment with any of its writes.
  SequenceNumber sequence_last = 0;  // Every commit in it and in older sources is <= this.
};
using ImmutableSourceRef = std::shared_ptr<const ImmutableSource>;

// The parts of a ReadState.
struct ReadStateParts {
  std::shared_ptr<MemTable> active;
  std::vector<ImmutableSourceRef> immutables;  // Newest first.
  VersionMap versions;
  TableCache* tables = nullptr;  // For ingested files; outlives the state.
  // Families that are being loaded: entries older than everything in them will come, so deletions
  // there must be kept. Null: none.
  std::shared_ptr<const std::set<FamilyId>> loading = nullptr;

  bool IsLoading(FamilyId family) const { return loading != nullptr && loading->contains(family); }
  // Returns false if it was already so.
  bool SetLoading(FamilyId family, bool on);
};

// The same in searchable form.
ReadStateRef NewReadState(ReadStateParts parts);

class ReadStateHolder {
 public:
  explicit ReadStateHolder(ReadStateParts parts);
  ReadStateHolder(const ReadStateHolder&) = delete;
  ReadStateHolder& operator=(const ReadStateHolder&) = delete;

  ReadStateRef Acquire() const;

  // Changes a copy of the parts and publishes it in one step. `change` must be short and do no I/O.
  void Update(const std::function<void(ReadStateParts*)>& change) EXCLUDES(mutex_);

  // A copy of the current parts.
  ReadStateParts Parts() const EXCLUDES(mutex_);
  // Whether an acquired state is still held. REQUIRES: no thread acquires one meanwhile.
  bool HasReaders() const EXCLUDES(mutex_);
  // Null: the family is unknown.
  VersionRef CurrentVersion(FamilyId family) const EXCLUDES(mutex_);

 private:
  // Readers are spread over stripes with separate reference counts, so that they do not share a
  // cache line.
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
