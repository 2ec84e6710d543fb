#include "db/compaction_requests.h"

#include <algorithm>
#include <utility>

namespace tidesdb {

void CompactionRequests::Add(FamilyId family, Slice first, Slice last) {
  MutexLock lock(mu_);
  AddNew({.family = family, .first = std::string(first), .last = std::string(last)});
}

void CompactionRequests::AddLevel0(FamilyId family) {
  MutexLock lock(mu_);
  AddNew({.family = family, .level0 = true});
}

void CompactionRequests::AddNew(Request request) {
  const auto same = std::find_if(requests_.begin(), requests_.end(), [&](const Request& one) {
    return one.family == request.family && one.level0 == request.level0 && one.is_new();
  });
  if (same == requests_.end()) {
    requests_.push_back(std::move(request));
    return;
  }
  same->first = std::min(same->first, request.first);
  same->last = std::max(same->last, request.last);
}

std::vector<CompactionRequests::Request> CompactionRequests::Take() {
  MutexLock lock(mu_);
  return std::exchange(requests_, {});
}

void CompactionRequests::GiveBack(std::vector<Request> waiting) {
  MutexLock lock(mu_);
  for (Request& one : waiting) {
    if (one.is_new()) {
      AddNew(std::move(one));
    } else {
      requests_.push_back(std::move(one));
    }
  }
}

}  // namespace tidesdb
