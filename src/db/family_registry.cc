#include "db/family_registry.h"

#include <string>

namespace tidesdb {

void FamilyRegistry::Reserve(FamilyId id) {
  MutexLock lock(mu_);
  reserved_.insert(id);
}

bool FamilyRegistry::IsReserved(FamilyId id) const {
  MutexLock lock(mu_);
  return reserved_.contains(id);
}

void FamilyRegistry::Add(FamilyId id, const ColumnFamilyOptions& options) {
  MutexLock lock(mu_);
  reserved_.erase(id);
  handles_.emplace(id, std::make_unique<FamilyHandle>(this, id, options));
}

void FamilyRegistry::Drop(FamilyId id) {
  MutexLock lock(mu_);
  const auto it = handles_.find(id);
  if (it != handles_.end()) it->second->usable_in_.store(nullptr, std::memory_order_relaxed);
}

void FamilyRegistry::Close() {
  MutexLock lock(mu_);
  closed_.store(true, std::memory_order_relaxed);
  for (const auto& [id, handle] : handles_) {
    handle->usable_in_.store(nullptr, std::memory_order_relaxed);
  }
}

FamilyHandle* FamilyRegistry::Find(FamilyId id) const {
  MutexLock lock(mu_);
  const auto it = handles_.find(id);
  return it == handles_.end() || it->second->usable_in() == nullptr ? nullptr : it->second.get();
}

FamilyHandle* FamilyRegistry::Find(Slice name) const {
  if (name.empty()) return nullptr;
  MutexLock lock(mu_);
  for (const auto& [id, handle] : handles_) {
    if (handle->usable_in() != nullptr && handle->options().name == name) return handle.get();
  }
  return nullptr;
}

std::vector<ColumnFamily*> FamilyRegistry::List() const {
  MutexLock lock(mu_);
  std::vector<ColumnFamily*> list;
  for (const auto& [id, handle] : handles_) {
    if (handle->usable_in() != nullptr) list.push_back(handle.get());
  }
  return list;
}

Status FamilyRegistry::Refusal(const ColumnFamily* family) const {
  if (family == nullptr) return Status::InvalidArgument("the column family handle is null");
  const std::string who = "column family " + std::to_string(family->id());
  if (static_cast<const FamilyHandle*>(family)->usable_in() != nullptr) {
    return Status::InvalidArgument(who + " belongs to another database");
  }
  if (closed_.load(std::memory_order_relaxed)) {
    return Status::ShuttingDown("the database is closed");
  }
  return Status::InvalidArgument(who + " was dropped");
}

}  // namespace tidesdb
