// The running jobs of each family, so that two jobs never touch the same files or write the same
// key range.
//
// Threads: any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "compaction/compaction_picker.h"

namespace tidesdb {

class RunningCompactions {
 public:
  // Leaves the registry when destroyed.
  class Ticket {
   public:
    Ticket() = default;
    ~Ticket() { Release(); }
    Ticket(Ticket&& other) noexcept;
    Ticket& operator=(Ticket&& other) noexcept;
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    void Release();

   private:
    friend class RunningCompactions;
    RunningCompactions* owner_ = nullptr;
    FamilyId family_ = 0;
    uint64_t id_ = 0;
  };

  using Decide = std::function<std::optional<RunningCompaction>(
      const std::vector<const RunningCompaction*>& running)>;

  // Calls `decide` with the family's running jobs, while no other job can register; registers its
  // result. Read versions inside of `decide`: a finished job installs its edit before it leaves.
  std::optional<Ticket> Register(FamilyId family, const Decide& decide) EXCLUDES(mutex_);

  size_t Count() const EXCLUDES(mutex_);

 private:
  void Leave(FamilyId family, uint64_t id) EXCLUDES(mutex_);

  mutable Mutex mutex_;
  uint64_t next_id_ GUARDED_BY(mutex_) = 1;
  std::map<FamilyId, std::map<uint64_t, RunningCompaction>> running_ GUARDED_BY(mutex_);
};

}  // namespace tidesdb
