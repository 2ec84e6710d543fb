#include "version/read_state_holder.h"

#include <algorithm>

#include "base/check.h"
#include "version/level_iter.h"
#include "version/merging_iter.h"

namespace tidesdb {
namespace {

class ReadStateImpl final : public ReadState, public std::enable_shared_from_this<ReadStateImpl> {
 public:
  explicit ReadStateImpl(ReadStateParts parts) : parts_(std::move(parts)) {}

  Result<bool> Get(FamilyId family, Slice key, SequenceNumber snapshot,
                   VersionHit* hit) const override {
    if (parts_.active->Get(family, key, snapshot, hit)) return true;
    for (const ImmutableSourceRef& source : parts_.immutables) {
      if (source->memtable != nullptr) {
        if (source->memtable->Get(family, key, snapshot, hit)) return true;
        continue;
      }
      TIDESDB_ASSIGN(const bool found, GetIngested(*source->ingested, family, key, snapshot, hit));
      if (found) return true;
    }
    const Version* version = parts_.versions.Find(family);
    return version == nullptr ? Result<bool>(false) : version->Get(key, snapshot, hit);
  }

  Result<bool> ChangedSince(FamilyId family, Slice key, SequenceNumber floor) const override {
    // The newest version of the key in the first source that has one decides: all others are older.
    VersionHit hit;
    if (parts_.active->Get(family, key, kSequenceMax, &hit)) return hit.sequence > floor;
    for (const ImmutableSourceRef& source : parts_.immutables) {
      if (source->sequence_last <= floor) return false;  // So does everything older.
      bool found = false;
      if (source->memtable != nullptr) {
        found = source->memtable->Get(family, key, kSequenceMax, &hit);
      } else {
        TIDESDB_ASSIGN(found, GetIngested(*source->ingested, family, key, kSequenceMax, &hit));
        if (found && hit.release != nullptr) hit.release(hit.owner, hit.arg);
      }
      if (found) return hit.sequence > floor;
    }
    const Version* version = parts_.versions.Find(family);
    return version == nullptr ? Result<bool>(false) : version->ChangedSince(key, floor);
  }

  Result<std::unique_ptr<InternalIterator>> NewIterator(FamilyId family,
                                                        const ReadOptions& options) const override {
    const LevelIterOptions level_options = {
        .lower = options.lower, .upper = options.upper, .fill_cache = options.fill_cache};
    std::vector<std::unique_ptr<InternalIterator>> sources;
    size_t young = 0;
    const auto add_files = [&](std::span<const FileRef> files) {
      const bool wanted = std::any_of(files.begin(), files.end(), [&](const FileRef& file) {
        return FileMeetsRange(*file, options.lower, options.upper);
      });
      if (wanted) sources.push_back(NewLevelIterator(files, parts_.tables, level_options));
    };
    sources.push_back(parts_.active->NewIterator(family));
    for (const ImmutableSourceRef& source : parts_.immutables) {
      if (source->memtable != nullptr) {
        sources.push_back(source->memtable->NewIterator(family));
      } else if (const IngestedFiles::Run* run = source->ingested->FindRun(family)) {
        add_files(run->files);
      }
    }
    if (const Version* version = parts_.versions.Find(family); version != nullptr) {
      const FileList& level0 = version->files(0);
      for (size_t i = 0; i < level0.size(); ++i) add_files(std::span(&level0[i], 1));
      young = sources.size();
      for (int level = 1; level <= version->BottomLevel(); ++level)
        add_files(version->files(level));
    }
    return NewMergingIterator(std::move(sources), shared_from_this(), young, options.old_max);
  }

  DeadRanges* FindDeadRanges(FamilyId family) const override {
    if (parts_.IsLoading(family)) return nullptr;
    return parts_.active->FindDeadRanges(family);
  }

  RangeEstimate EstimateRange(FamilyId family, Slice start, Slice end,
                              EstimateBy by) const override {
    RangeEstimate estimate;
    if (!end.empty() && start >= end) return estimate;
    const Version* version = parts_.versions.Find(family);
    if (version != nullptr) estimate = version->EstimateRange(start, end, by);
    const auto add = [&](const MemTable& memtable) {
      if (memtable.empty()) return;
      const uint64_t keys = memtable.EstimateKeys(family, start, end);
      estimate.keys += keys;
      estimate.tombstones +=
          static_cast<uint64_t>(static_cast<double>(keys) * memtable.TombstoneShare(family) + 0.5);
    };
    add(*parts_.active);
    for (const ImmutableSourceRef& source : parts_.immutables) {
      if (source->memtable != nullptr) {
        add(*source->memtable);
      } else if (const IngestedFiles::Run* run = source->ingested->FindRun(family)) {
        for (const FileRef& file : run->files)
          AddEstimate(parts_.tables, *file, start, end, by, &estimate);
      }
    }
    return estimate;
  }

 private:
  Result<bool> GetIngested(const IngestedFiles& ingested, FamilyId family, Slice key,
                           SequenceNumber snapshot, VersionHit* hit) const {
    if (ingested.sequence > snapshot) return false;
    const IngestedFiles::Run* run = ingested.FindRun(family);
    if (run == nullptr) return false;
    const size_t at = FindFileByKey(run->files, key);
    if (at == run->files.size() || key < run->files[at]->key_min()) return false;
    TIDESDB_ASSIGN(const TableRef table, parts_.tables->Find(*run->files[at]));
    return table->Get({}, key, snapshot, hit);
  }

  const ReadStateParts parts_;
};

// Numbers threads at their first read; it only spreads them over stripes, so the values do not
// matter.
size_t ThreadStripe() {
  static std::atomic<size_t> next = 0;
  static thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace

const IngestedFiles::Run* IngestedFiles::FindRun(FamilyId family) const {
  const auto at = std::lower_bound(runs.begin(), runs.end(), family,
                                   [](const Run& run, FamilyId id) { return run.family < id; });
  return at == runs.end() || at->family != family ? nullptr : &*at;
}

bool ReadStateParts::SetLoading(FamilyId family, bool on) {
  if (IsLoading(family) == on) return false;
  auto changed = loading == nullptr ? std::make_shared<std::set<FamilyId>>()
                                    : std::make_shared<std::set<FamilyId>>(*loading);
  if (on) {
    changed->insert(family);
  } else {
    changed->erase(family);
  }
  loading = std::move(changed);
  return true;
}

ReadStateRef NewReadState(ReadStateParts parts) {
  return std::make_shared<const ReadStateImpl>(std::move(parts));
}

ReadStateHolder::ReadStateHolder(ReadStateParts parts) : parts_(std::move(parts)) {
  CHECK(parts_.active != nullptr);
  MutexLock lock(mutex_);
  Publish(parts_);
}

ReadStateRef ReadStateHolder::Acquire() const {
  const Stripe& stripe = stripes_[ThreadStripe() % kStripes];
  while (stripe.busy.exchange(true, std::memory_order_acquire)) {
    while (stripe.busy.load(std::memory_order_relaxed)) SpinPause();
  }
  ReadStateRef state = stripe.state;
  stripe.busy.store(false, std::memory_order_release);
  return state;
}

void ReadStateHolder::Update(const std::function<void(ReadStateParts*)>& change) {
  // Everything that the change drops is freed after the lock is released, because it may close
  // files.
  ReadStateParts before;
  MutexLock lock(mutex_);
  before = parts_;
  change(&parts_);
  Publish(parts_);
}

ReadStateParts ReadStateHolder::Parts() const {
  MutexLock lock(mutex_);
  return parts_;
}

bool ReadStateHolder::HasReaders() const {
  MutexLock lock(mutex_);
  const auto held = [](const auto& state) { return !state.expired(); };
  if (std::any_of(older_.begin(), older_.end(), held)) return true;
  return std::any_of(stripes_.begin(), stripes_.end(),
                     [](const Stripe& stripe) { return stripe.state.use_count() > 1; });
}

VersionRef ReadStateHolder::CurrentVersion(FamilyId family) const {
  MutexLock lock(mutex_);
  return parts_.versions.Get(family);
}

void ReadStateHolder::Publish(const ReadStateParts& parts) {
  const ReadStateRef state = NewReadState(parts);
  std::erase_if(older_, [](const auto& older) { return older.expired(); });
  older_.push_back(std::exchange(current_, state));
  for (Stripe& stripe : stripes_) {
    // A separate reference count for each stripe: one more indirection when the last reference
    // goes, none for readers.
    auto owner = std::make_shared<ReadStateRef>(state);
    ReadStateRef mine(owner, state.get());
    while (stripe.busy.exchange(true, std::memory_order_acquire)) SpinPause();
    stripe.state.swap(mine);
    stripe.busy.store(false, std::memory_order_release);
  }
}

}  // namespace tidesdb
