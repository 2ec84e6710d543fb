// Reads snapshots of the database under stress and reports faults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "stress/shared.h"

namespace tidesdb::stress {

// Threads: one.
class Auditor {
 public:
  Auditor(Round* round, uint64_t seed) : round_(round), random_(seed) {}

  // Audits until the round stops.
  void Run();
  // While no other thread works: every invariant, and that exactly the acknowledged commits exist.
  void CheckQuiet(const Truth& truth);

 private:
  void Snapshot();
  // The balances of accounts or mirror, in key order; fails the round if they are not complete.
  std::vector<int64_t> Balances(Transaction* transaction, Family family, bool forward);
  void CheckBalances(Transaction* transaction);
  void CheckPoints(Transaction* transaction, const std::vector<int64_t>& balances);
  // Returns the generation of bulk, 0 if it is empty.
  uint64_t CheckBulk(Transaction* transaction);
  void CheckIndex(Transaction* transaction, uint64_t generation);
  int64_t Counter(Transaction* transaction, const std::string& key);

  Round* const round_;
  Random random_;
  int64_t all_seen_ = 0;  // A later snapshot must not show less.
  uint64_t generation_seen_ = 0;
};

}  // namespace tidesdb::stress
