#include "stress/shared.h"

#include <cstdio>
#include <cstdlib>

namespace tidesdb::stress {
namespace {

std::string Zeros(const char* prefix, uint64_t number, size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return prefix + text;
}

}  // namespace

std::string AccountKey(int account) { return Zeros("account", static_cast<uint64_t>(account), 4); }
std::string BulkKey(int row) { return Zeros("row", static_cast<uint64_t>(row), 6); }
std::string IndexKey(uint64_t generation, int row) {
  return Zeros("generation", generation, 8) + Zeros("/", static_cast<uint64_t>(row), 6);
}

std::string Padded(int64_t number, uint64_t padding_bytes) {
  return std::to_string(number) + "|" + std::string(padding_bytes, 'p');
}

int64_t Number(Slice value) {
  const size_t end = value.find('|');
  if (end == Slice::npos || end == 0) return -1;
  return std::strtoll(std::string(value.substr(0, end)).c_str(), nullptr, 10);
}

void Round::Fail(const std::string& what) {
  Stop();
  MutexLock lock(mu_);
  if (failure_.empty()) failure_ = what;
}

std::string Round::failure() const {
  MutexLock lock(mu_);
  return failure_;
}

void Round::Judge(const Status& status, const char* who) {
  std::atomic<uint64_t>* count = nullptr;
  switch (status.code()) {
    case Code::kOk:
      return;
    case Code::kConflict:
      count = &tally_->conflicts;
      break;
    case Code::kDeadlock:
      count = &tally_->deadlocks;
      break;
    case Code::kTimedOut:
      count = &tally_->timeouts;
      break;
    case Code::kInterrupted:
      count = &tally_->interrupted;
      break;
    default:
      return Fail(std::string(who) + " got: " + status.ToString());
  }
  count->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace tidesdb::stress
