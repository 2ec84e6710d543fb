// Merges that were requested, until a compaction takes them: key ranges, or as much of a family's level 0 as one job
// takes.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "format/internal_key.h"
#include "tidesdb/slice.h"

namespace tidesdb {

class CompactionRequests {
 public:
  struct Request {
    FamilyId family = 0;
    bool level0 = false;     // Of all keys.
    std::string first = {};  // Otherwise of [first, last], in all levels.
    std::string last = {};
    // It waits until this many sources of the memtable list are in files.
    uint64_t sources = kNew;

    static constexpr uint64_t kNew = UINT64_MAX;
    bool is_new() const { return sources == kNew; }
  };

  // A new request of the same kind and family grows instead.
  void Add(FamilyId family, Slice first, Slice last) EXCLUDES(mu_);
  void AddLevel0(FamilyId family) EXCLUDES(mu_);
  // All of them; the caller gives back those that must wait.
  std::vector<Request> Take() EXCLUDES(mu_);
  void GiveBack(std::vector<Request> waiting) EXCLUDES(mu_);

 private:
  void AddNew(Request request) REQUIRES(mu_);

  Mutex mu_;
  std::vector<Request> requests_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
