// Key ranges whose merge was requested, until a compaction takes them.
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
    std::string first;
    std::string last;
    // It waits until this many sources of the memtable list are in files.
    uint64_t sources = kNew;

    static constexpr uint64_t kNew = UINT64_MAX;
    bool is_new() const { return sources == kNew; }
  };

  // A new request of the same family grows instead.
  void Add(FamilyId family, Slice first, Slice last) EXCLUDES(mu_);
  // All of them; the caller gives back those that must wait.
  std::vector<Request> Take() EXCLUDES(mu_);
  void GiveBack(std::vector<Request> waiting) EXCLUDES(mu_);

 private:
  void AddNew(Request request) REQUIRES(mu_);

  Mutex mu_;
  std::vector<Request> requests_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
