#include "db/compaction_requests.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidesdb {

void CompactionRequests::Add(FamilyId family, Slice first, Slice last) {
  MutexLock lock(mu_);
  const auto same = std::find_if(requests_.begin(), requests_.end(), [family](const Request& one) {
    return one.family == family && one.is_new();
  });
  if (same == requests_.end()) {
    requests_.push_back({family, std::string(first), std::string(last)});
    return;
  }
  if (first < same->first) same->first.assign(first);
  if (last > same->last) same->last.assign(last);
}

std::vector<CompactionRequests::Request> CompactionRequests::Take() {
  MutexLock lock(mu_);
  return std::exchange(requests_, {});
}

void CompactionRequests::GiveBack(std::vector<Request> waiting) {
  MutexLock lock(mu_);
  std::move(waiting.begin(), waiting.end(), std::back_inserter(requests_));
}

}  // namespace tidesdb
