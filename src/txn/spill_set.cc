#include "txn/spill_set.h"

#include <algorithm>

namespace tidesdb {
namespace {

class RunKeys final : public SpilledKeys {
 public:
  explicit RunKeys(std::vector<SpillSet::RunRef> runs) : runs_(std::move(runs)) {}

  Result<bool> Contains(FamilyId family, Slice key) const override {
    for (const auto& run : runs_) {
      if (run->family() != family) continue;
      VersionHit hit;
      TIDESDB_ASSIGN(const bool found, run->Get(key, nullptr, &hit));
      if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
      if (found) return true;
    }
    return false;
  }

  Result<bool> Intersects(FamilyId family, Slice start, Slice end) const override {
    for (const auto& run : runs_) {
      if (run->family() != family) continue;
      TIDESDB_ASSIGN(const bool found, run->Intersects(start, end));
      if (found) return true;
    }
    return false;
  }

 private:
  const std::vector<SpillSet::RunRef> runs_;
};

}  // namespace

Status SpillSet::Spill(const WriteSet& writes, const std::vector<uint64_t>& savepoints) {
  const size_t runs_before = runs_.size();
  for (const auto& family : writes.families()) {
    if (family->First() == nullptr) continue;
    auto run = SpillRun::Write(context_, *family, savepoints);
    if (!run.ok()) {
      for (size_t i = runs_before; i < runs_.size(); ++i) runs_[i]->DeleteFile(context_);
      runs_.resize(runs_before);
      return run.status();
    }
    runs_.push_back(std::move(*run));
  }
  for (size_t i = runs_before; i < runs_.size(); ++i) {
    memory_bytes_ += runs_[i]->MemoryBytes();
    file_bytes_ += runs_[i]->file_bytes();
  }
  return Status::Ok();
}

Result<bool> SpillSet::Get(FamilyId family, Slice key, VersionHit* hit) const {
  for (size_t i = runs_.size(); i-- > 0;) {
    if (runs_[i]->family() != family) continue;
    TIDESDB_ASSIGN(const bool found, runs_[i]->Get(key, &voided_, hit));
    if (found) return true;
  }
  return false;
}

std::vector<SpillSet::RunRef> SpillSet::RunsOf(FamilyId family) const {
  std::vector<RunRef> runs;
  for (const RunRef& run : runs_) {
    if (run->family() == family) runs.push_back(run);
  }
  return runs;
}

std::vector<FamilyId> SpillSet::Families() const {
  std::vector<FamilyId> families;
  for (const RunRef& run : runs_) families.push_back(run->family());
  std::sort(families.begin(), families.end());
  families.erase(std::unique(families.begin(), families.end()), families.end());
  return families;
}

void SpillSet::Void(uint64_t position, uint64_t last_number) {
  if (runs_.empty() || position >= last_number) return;
  voided_.Add(position, last_number);
}

bool SpillSet::HasLive() const { return LiveEntriesMax() > 0; }

uint64_t SpillSet::LiveEntriesMax() const {
  uint64_t entries = 0;
  for (const RunRef& run : runs_) {
    if (!voided_.Covers(run->op_min(), run->op_max())) entries += run->properties().entries;
  }
  return entries;
}

std::shared_ptr<const SpilledKeys> SpillSet::Keys() const {
  return std::make_shared<RunKeys>(runs_);
}

void SpillSet::Discard() {
  for (const RunRef& run : runs_) run->DeleteFile(context_);
  runs_.clear();
  voided_.Clear();
  memory_bytes_ = 0;
  file_bytes_ = 0;
}

}  // namespace tidesdb
