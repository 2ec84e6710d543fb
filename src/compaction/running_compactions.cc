#include "compaction/running_compactions.h"

#include <utility>

namespace tidesdb {

RunningCompactions::Ticket::Ticket(Ticket&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), family_(other.family_), id_(other.id_) {}

RunningCompactions::Ticket& RunningCompactions::Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    Release();
    owner_ = std::exchange(other.owner_, nullptr);
    family_ = other.family_;
    id_ = other.id_;
  }
  return *this;
}

void RunningCompactions::Ticket::Release() {
  if (RunningCompactions* owner = std::exchange(owner_, nullptr); owner != nullptr) {
    owner->Leave(family_, id_);
  }
}

std::optional<RunningCompactions::Ticket> RunningCompactions::Register(FamilyId family,
                                                                       const Decide& decide) {
  MutexLock lock(mutex_);
  std::vector<const RunningCompaction*> of_family;
  if (const auto at = running_.find(family); at != running_.end()) {
    for (const auto& [id, running] : at->second) of_family.push_back(&running);
  }
  std::optional<RunningCompaction> decision = decide(of_family);
  if (!decision) return std::nullopt;
  Ticket ticket;
  ticket.owner_ = this;
  ticket.family_ = family;
  ticket.id_ = next_id_++;
  running_[family].emplace(ticket.id_, *std::move(decision));
  return ticket;
}

size_t RunningCompactions::Count() const {
  MutexLock lock(mutex_);
  size_t count = 0;
  for (const auto& [family, running] : running_) count += running.size();
  return count;
}

void RunningCompactions::Leave(FamilyId family, uint64_t id) {
  MutexLock lock(mutex_);
  const auto at = running_.find(family);
  at->second.erase(id);
  if (at->second.empty()) running_.erase(at);
}

}  // namespace tidesdb
