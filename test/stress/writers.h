// The writing threads of a stress run: transfers between accounts, and bulk rewrites.
#pragma once

#include <cstdint>
#include <memory>

#include "base/random.h"
#include "stress/shared.h"

namespace tidesdb::stress {

// Moves money between two accounts and counts itself, in every way that the engine protects from
// lost updates.
// Threads: one; it ends before everything it is given.
class TransferWriter {
 public:
  TransferWriter(Round* round, Truth* truth, Slot* slot, int number, uint64_t seed)
      : round_(round), truth_(truth), slot_(slot), number_(number), random_(seed) {}

  // Runs until the round stops or all writers together have made transfers_max attempts.
  void Run(uint64_t transfers_max);

 private:
  // How the old balances are read; each way prevents lost updates.
  enum class Way : uint8_t {
    kLockNewest,          // Row locks, no snapshot.
    kSnapshotThenWrite,   // Row locks, plain reads of a snapshot; the write finds the conflict.
    kLockPastSnapshot,    // Row locks; an open snapshot does not matter.
    kOptimisticSnapshot,  // Commit finds the conflict with the snapshot.
    kOptimisticNewest,    // Commit finds the conflict with what was read.
  };
  static constexpr uint64_t kWays = 5;

  void Begin();
  void One();
  Status Transfer(bool count_in_all);
  Status Finish(bool count_in_all);
  Status Distract(int account);
  Status AddToCounter(const std::string& key, int64_t* value);
  Result<int64_t> Read(Family family, const std::string& key);
  bool ReadsOwnCommit();
  void End();
  bool optimistic() const {
    return way_ == Way::kOptimisticSnapshot || way_ == Way::kOptimisticNewest;
  }

  Round* const round_;
  Truth* const truth_;
  Slot* const slot_;
  const int number_;
  Random random_;
  Way way_ = Way::kLockNewest;
  std::unique_ptr<Transaction> transaction_;
};

// Rewrites every row of bulk, and its index, in one transaction far over its share of memory.
// Threads: one.
class BulkWriter {
 public:
  BulkWriter(Round* round, Truth* truth, uint64_t seed)
      : round_(round), truth_(truth), random_(seed) {}
  void Run();

 private:
  Status Rewrite(Transaction* transaction, uint64_t generation);
  Status RewriteRows(Transaction* transaction, uint64_t generation, int begin, int end);

  Round* const round_;
  Truth* const truth_;
  Random random_;
};

}  // namespace tidesdb::stress
