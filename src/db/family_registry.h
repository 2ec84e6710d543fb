// The handles of the column families: one per id, alive until the Db closes.
//
// Threads: any. Owns the handles.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "format/internal_key.h"
#include "tidesdb/db.h"

namespace tidesdb {

class FamilyHandle final : public ColumnFamily {
 public:
  FamilyHandle(FamilyId id, ColumnFamilyOptions options) : id_(id), options_(std::move(options)) {}

  uint32_t id() const override { return id_; }
  const ColumnFamilyOptions& options() const override { return options_; }
  bool dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  friend class FamilyRegistry;

  const FamilyId id_;
  const ColumnFamilyOptions options_;
  std::atomic<bool> dropped_ =
      false;  // Relaxed: what a dropped family still reads is empty anyway.
};

class FamilyRegistry {
 public:
  void Add(FamilyId id, const ColumnFamilyOptions& options);
  void Drop(FamilyId id);

  // Null when there is none or it was dropped.
  FamilyHandle* Find(FamilyId id) const;
  FamilyHandle* Find(Slice name) const;
  std::vector<ColumnFamily*> List() const;

 private:
  mutable Mutex mu_;
  std::map<FamilyId, std::unique_ptr<FamilyHandle>> handles_ GUARDED_BY(mu_);
};

// OK, or kInvalidArgument when the handle is null or its family was dropped.
Status CheckFamily(const ColumnFamily* family);

}  // namespace tidesdb
