// The handles of the column families: one per id, alive as long as the engine.
//
// Threads: any.
// Owns: the handles.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "db/scan_watch.h"
#include "format/internal_key.h"
#include "tidesdb/db.h"

namespace tidesdb {

class FamilyRegistry;

class FamilyHandle final : public ColumnFamily {
 public:
  FamilyHandle(const FamilyRegistry* usable_in, FamilyId id, ColumnFamilyOptions options)
      : id_(id), usable_in_(usable_in), options_(std::move(options)) {}

  uint32_t id() const override { return id_; }
  const ColumnFamilyOptions& options() const override { return options_; }
  // Null once the family was dropped or its database closed.
  const FamilyRegistry* usable_in() const { return usable_in_.load(std::memory_order_relaxed); }

 private:
  friend class FamilyRegistry;

  const FamilyId id_;
  // Relaxed: a reader that still sees a dropped family finds it empty.
  std::atomic<const FamilyRegistry*> usable_in_;
  const ColumnFamilyOptions options_;
  mutable ScanWatch scans_;
};

class FamilyRegistry {
 public:
  // Reserves an id for a new family. Each id is used once, because the WAL may still hold writes of
  // an older family with the same id.
  void Reserve(FamilyId id);
  bool IsReserved(FamilyId id) const;
  void Add(FamilyId id, const ColumnFamilyOptions& options);
  void Drop(FamilyId id);
  // From now on every handle fails with kShuttingDown.
  void Close();

  // OK if the handle is one of these and in use. Runs for every operation: one load and one
  // comparison.
  // Errors: kInvalidArgument (null, dropped, of another database), kShuttingDown (closed).
  Status Check(const ColumnFamily* family) const {
    if (family != nullptr && static_cast<const FamilyHandle*>(family)->usable_in() == this)
        [[likely]] {
      return Status::Ok();
    }
    return Refusal(family);
  }

  // REQUIRES: Check(family) was OK.
  static ScanWatch& ScansOf(const ColumnFamily* family) {
    return static_cast<const FamilyHandle*>(family)->scans_;
  }

  // Null if it does not exist or was dropped.
  FamilyHandle* Find(FamilyId id) const;
  FamilyHandle* Find(Slice name) const;
  std::vector<ColumnFamily*> List() const;

 private:
  Status Refusal(const ColumnFamily* family) const;

  std::atomic<bool> closed_ = false;  // Relaxed: only the error text depends on it.
  mutable Mutex mu_;
  std::map<FamilyId, std::unique_ptr<FamilyHandle>> handles_ GUARDED_BY(mu_);
  std::set<FamilyId> reserved_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
