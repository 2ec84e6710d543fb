#include "lock/spill_registry.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {

SpillRegistry::~SpillRegistry() { CHECK(!any()); }

void SpillRegistry::Publish(LockOwner* owner, std::shared_ptr<const SpilledKeys> keys) {
  MutexLock lock(mu_);
  auto it = std::find_if(spillers_.begin(), spillers_.end(),
                         [owner](const Spiller& s) { return s.owner == owner; });
  if (it != spillers_.end()) {
    it->keys = std::move(keys);
    return;
  }
  spillers_.push_back({owner, owner->id, std::move(keys)});
  count_.fetch_add(1, std::memory_order_relaxed);
  owner->spilled = true;
}

void SpillRegistry::Remove(LockOwner* owner) {
  if (!owner->spilled) return;
  MutexLock lock(mu_);
  std::erase_if(spillers_, [owner](const Spiller& s) { return s.owner == owner; });
  count_.fetch_sub(1, std::memory_order_relaxed);
  owner->spilled = false;
}

std::vector<SpillRegistry::Spiller> SpillRegistry::Others(const LockOwner* owner) const {
  std::vector<Spiller> others;
  MutexLock lock(mu_);
  for (const Spiller& spiller : spillers_) {
    if (spiller.owner != owner) others.push_back(spiller);
  }
  return others;
}

Result<SpillRegistry::Spiller> SpillRegistry::FindKey(const LockOwner* owner, FamilyId family,
                                                      Slice key) {
  for (Spiller& spiller : Others(owner)) {
    TIDESDB_ASSIGN(const bool found, spiller.keys->Contains(family, key));
    if (found) return std::move(spiller);
  }
  return Spiller();
}

Result<SpillRegistry::Spiller> SpillRegistry::FindRange(const LockOwner* owner, FamilyId family,
                                                        Slice start, Slice end) {
  for (Spiller& spiller : Others(owner)) {
    TIDESDB_ASSIGN(const bool found, spiller.keys->Intersects(family, start, end));
    if (found) return std::move(spiller);
  }
  return Spiller();
}

Result<bool> SpillRegistry::AwaitEnd(LockOwner* owner, const Spiller& spiller, FamilyId family,
                                     Slice key) {
  MutexLock lock(mu_);
  for (const Spiller& running : spillers_) {
    if (running.owner != spiller.owner || running.id != spiller.id) continue;
    TIDESDB_TRY(graph_->BeginEndWait(owner, running.owner, {WaitFor::kWrite, family, key}));
    return true;
  }
  return false;
}

}  // namespace tidesdb
