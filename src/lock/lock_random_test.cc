// Random transactions under random schedules: granted locks hold, and no wait lasts forever.
#include "lock/lock_manager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "lock/lock_test_util.h"

#ifdef TIDESDB_HOOKS

namespace tidesdb {
namespace {

// The test's own record of what the granted locks allow.
class Shadow {
 public:
  void Add(int key, LockMode mode) {
    (mode == kX ? exclusive_ : shared_)[key] += 1;
    Check(key);
  }
  void Remove(int key, LockMode mode) { (mode == kX ? exclusive_ : shared_)[key] -= 1; }

  // Ranges of the test reach from a key to the end; writes are those that passed the ranges. The
  // owner may do anything.
  void Touch(const LockOwner* owner) {
    ASSERT_TRUE(claimer_ == nullptr || claimer_ == owner);
    touched_.insert(owner);
  }
  void Claim(const LockOwner* owner) {
    Touch(owner);
    ASSERT_EQ(touched_.size(), 1u);
    claimer_ = owner;
  }
  void AddRange(const LockOwner* owner, int from) {
    Touch(owner);
    for (const auto& [other, keys] : writes_) {
      ASSERT_TRUE(other == owner || keys.lower_bound(from) == keys.end());
    }
    auto [it, added] = ranges_.emplace(owner, from);
    if (!added) it->second = std::min(it->second, from);
  }
  void AddWrite(const LockOwner* owner, int key) {
    Touch(owner);
    for (const auto& [other, from] : ranges_) ASSERT_TRUE(other == owner || from > key);
    writes_[owner].insert(key);
  }
  void End(const LockOwner* owner) {
    ranges_.erase(owner);
    writes_.erase(owner);
    touched_.erase(owner);
    if (claimer_ == owner) claimer_ = nullptr;
  }

 private:
  void Check(int key) {
    ASSERT_LE(exclusive_[key], 1);
    ASSERT_TRUE(exclusive_[key] == 0 || shared_[key] == 0);
  }
  std::map<int, int> shared_;
  std::map<int, int> exclusive_;
  std::map<const LockOwner*, int> ranges_;
  std::map<const LockOwner*, std::set<int>> writes_;
  std::set<const LockOwner*> touched_;
  const LockOwner* claimer_ = nullptr;
};

struct RandomOptions {
  bool ordered = false;  // Ascending keys and no upgrades: no deadlock is possible.
  bool ranges = false;
  bool claims = false;
  bool interrupts = false;
};

// One transaction after another on random keys. Waits have no limit, so a lost wakeup or a missed
// deadlock stops the simulation.
void RunRandomTransactions(World* world, Shadow* shadow, LockOwner* owner, uint64_t seed,
                           const RandomOptions& options) {
  constexpr int kKeys = 5;
  Random random(seed);
  for (int i = 0; i < 30; ++i) {
    std::map<int, LockMode> held;
    int key = -1;
    for (uint64_t locks = random.Between(1, 4); locks > 0; --locks) {
      if (options.claims && random.OneIn(5)) {
        const Status status = world->locks.Claim(owner, kFamily);
        ASSERT_TRUE(status.ok() || status.code() == Code::kTimedOut) << status.ToString();
        if (status.ok()) shadow->Claim(owner);
        continue;
      }
      if (options.ranges && random.OneIn(3)) {
        const int from = static_cast<int>(random.Uniform(kKeys));
        const bool write = random.OneIn(2);
        const std::string start = std::to_string(from);
        const Status status = write             ? world->WriteUnlocked(owner, start)
                              : random.OneIn(2) ? world->Range(owner, start, "")
                                                : world->locks.LockRangeWithRow(
                                                      owner, kFamily, start, "", start, kForEver);
        if (!status.ok()) {
          ASSERT_TRUE(status.code() == Code::kDeadlock) << status.ToString();
          break;
        }
        write ? shadow->AddWrite(owner, from) : shadow->AddRange(owner, from);
        continue;
      }
      key = options.ordered ? key + 1 + static_cast<int>(random.Uniform(2))
                            : static_cast<int>(random.Uniform(kKeys));
      if (key >= kKeys) break;
      const LockMode mode = random.OneIn(2) ? kX : kS;
      const Status status = world->Lock(owner, std::to_string(key), mode);
      if (!status.ok()) {
        const bool interrupted = options.interrupts && status.code() == Code::kInterrupted;
        ASSERT_TRUE(interrupted || status.code() == Code::kDeadlock) << status.ToString();
        ASSERT_TRUE(interrupted || !options.ordered) << status.ToString();
        owner->ClearInterrupt();
        break;
      }
      shadow->Touch(owner);
      auto [it, added] = held.emplace(key, mode);
      if (!added && it->second == kS && mode == kX) {
        shadow->Remove(key, kS);
        it->second = kX;
        shadow->Add(key, kX);
      } else if (added) {
        shadow->Add(key, mode);
      }
      SchedulingPoint();
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const auto& [k, mode] : held) shadow->Remove(k, mode);
    shadow->End(owner);
    world->End(owner);
  }
}

void RandomSchedules(int seeds, const RandomOptions& options) {
  ForSeeds(seeds, [&options](World* world, uint64_t seed) {
    Shadow shadow;
    std::vector<LockOwner*> owners;
    for (uint64_t i = 0; i < 5; ++i) {
      LockOwner* owner = world->NewOwner();
      owners.push_back(owner);
      world->Start([world, &shadow, owner, seed, i, &options] {
        RunRandomTransactions(world, &shadow, owner, seed * 31 + i, options);
      });
    }
    if (options.interrupts) {
      for (int i = 0; i < 30; ++i) {
        world->clock_->SleepMicros(20);
        owners[static_cast<size_t>(i) % owners.size()]->Interrupt();
      }
    }
    world->JoinAll();
    world->locks.TestingRows().TestingCheck();
  });
}

TEST(LockRandomTest, RandomSchedulesKeepLocksExclusive) { RandomSchedules(150, {}); }

TEST(LockRandomTest, OrderedLockingNeverDeadlocks) {
  RandomOptions options;
  options.ordered = true;
  RandomSchedules(100, options);
}

TEST(LockRandomTest, RandomSchedulesWithRanges) {
  RandomOptions options;
  options.ranges = true;
  RandomSchedules(100, options);
}

TEST(LockRandomTest, RandomSchedulesWithClaims) {
  RandomOptions options;
  options.claims = true;
  RandomSchedules(100, options);
  options.ranges = true;
  RandomSchedules(100, options);
}

TEST(LockRandomTest, RandomSchedulesWithInterrupts) {
  RandomOptions options;
  options.interrupts = true;
  RandomSchedules(60, options);
}

}  // namespace
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
