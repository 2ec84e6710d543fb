#include "writes/spill_set.h"

#include <algorithm>

namespace tidesdb {
namespace {

class RunKeys final : public SpilledKeys {
 public:
  explicit RunKeys(SpillSet::Runs runs) : runs_(std::move(runs)) {}

  Result<bool> Contains(FamilyId family, Slice key) const override {
    const auto of_family = runs_.find(family);
    if (of_family == runs_.end()) return false;
    for (const auto& run : of_family->second) {
      VersionHit hit;
      TIDESDB_ASSIGN(const bool found, run->Get(key, nullptr, &hit));
      if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
      if (found) return true;
    }
    return false;
  }

  Result<bool> Intersects(FamilyId family, Slice start, Slice end) const override {
    const auto of_family = runs_.find(family);
    if (of_family == runs_.end()) return false;
    for (const auto& run : of_family->second) {
      TIDESDB_ASSIGN(const bool found, run->Intersects(start, end));
      if (found) return true;
    }
    return false;
  }

 private:
  const SpillSet::Runs runs_;
};

}  // namespace

Status SpillSet::Spill(const WriteSet& writes, const std::vector<uint64_t>& savepoints) {
  std::vector<RunRef> written;
  for (const auto& family : writes.families()) {
    if (family->First() == nullptr) continue;
    const auto runs = runs_.find(family->family());
    const SpillRun* last = runs == runs_.end() ? nullptr : runs->second.back().get();
    TIDESDB_ASSIGN(RunRef run, SpillRun::Write(context_, *family, savepoints, last));
    written.push_back(std::move(run));
  }
  for (RunRef& run : written) {
    memory_bytes_ += run->MemoryBytes();
    file_bytes_ += run->file_bytes();
    runs_[run->family()].push_back(std::move(run));
  }
  staged_bytes_ += writes.used_bytes();
  return Status::Ok();
}

Result<bool> SpillSet::Get(FamilyId family, Slice key, VersionHit* hit) const {
  const auto of_family = runs_.find(family);
  if (of_family == runs_.end()) return false;
  const std::vector<RunRef>& runs = of_family->second;
  for (size_t i = runs.size(); i-- > 0;) {
    TIDESDB_ASSIGN(const bool found, runs[i]->Get(key, &voided_, hit));
    if (found) return true;
  }
  return false;
}

std::vector<SpillSet::RunRef> SpillSet::RunsOf(FamilyId family) const {
  const auto of_family = runs_.find(family);
  return of_family == runs_.end() ? std::vector<RunRef>() : of_family->second;
}

std::vector<FamilyId> SpillSet::Families() const {
  std::vector<FamilyId> families;
  for (const auto& [family, runs] : runs_) families.push_back(family);
  return families;
}

void SpillSet::Void(uint64_t position, uint64_t last_number) {
  if (runs_.empty() || position >= last_number) return;
  voided_.Add(position, last_number);
}

bool SpillSet::HasLive() const { return LiveEntriesMax() > 0; }

uint64_t SpillSet::LiveEntriesMax() const {
  uint64_t entries = 0;
  for (const auto& [family, runs] : runs_) {
    for (const RunRef& run : runs) {
      if (!voided_.Covers(run->op_min(), run->op_max())) entries += run->properties().entries;
    }
  }
  return entries;
}

std::shared_ptr<const SpilledKeys> SpillSet::Keys() const {
  return std::make_shared<RunKeys>(runs_);
}

void SpillSet::Discard() {
  runs_.clear();
  voided_.Clear();
  memory_bytes_ = 0;
  file_bytes_ = 0;
  staged_bytes_ = 0;
}

}  // namespace tidesdb
