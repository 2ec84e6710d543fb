#include "db/family_registry.h"

#include <string>

namespace tidesdb {

void FamilyRegistry::Add(FamilyId id, const ColumnFamilyOptions& options) {
  MutexLock lock(mu_);
  handles_.emplace(id, std::make_unique<FamilyHandle>(id, options));
}

void FamilyRegistry::Drop(FamilyId id) {
  MutexLock lock(mu_);
  const auto it = handles_.find(id);
  if (it != handles_.end()) it->second->dropped_.store(true, std::memory_order_relaxed);
}

FamilyHandle* FamilyRegistry::Find(FamilyId id) const {
  MutexLock lock(mu_);
  const auto it = handles_.find(id);
  return it == handles_.end() || it->second->dropped() ? nullptr : it->second.get();
}

FamilyHandle* FamilyRegistry::Find(Slice name) const {
  if (name.empty()) return nullptr;
  MutexLock lock(mu_);
  for (const auto& [id, handle] : handles_) {
    if (!handle->dropped() && handle->options().name == name) return handle.get();
  }
  return nullptr;
}

std::vector<ColumnFamily*> FamilyRegistry::List() const {
  MutexLock lock(mu_);
  std::vector<ColumnFamily*> list;
  for (const auto& [id, handle] : handles_) {
    if (!handle->dropped()) list.push_back(handle.get());
  }
  return list;
}

Status CheckFamily(const ColumnFamily* family) {
  if (family == nullptr) return Status::InvalidArgument("the column family handle is null");
  if (static_cast<const FamilyHandle*>(family)->dropped()) {
    return Status::InvalidArgument("column family " + std::to_string(family->id()) +
                                   " was dropped");
  }
  return Status::Ok();
}

}  // namespace tidesdb
