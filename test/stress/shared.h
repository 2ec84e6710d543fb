// The state that the threads of a stress run share: the open database, the first fault, and the
// counts.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tidesdb/db.h"

namespace tidesdb::stress {

constexpr int kAccounts = 24;
constexpr int64_t kStartBalance = 1000;
constexpr int kBulkRows = 1500;

// The column families. An invariant holds in every snapshot:
//   accounts   the balances add up to kAccounts * kStartBalance
//   mirror     the same balances as in accounts
//   counters   "writer<n>": acknowledged commits of that writer; "all": those that counted for all
//   bulk       kBulkRows rows (or none yet) of one generation, rewritten by one transaction
//   index      exactly one entry for each row of bulk, of the same generation
enum Family : uint8_t {
  kAccountsFamily,
  kMirrorFamily,
  kCountersFamily,
  kBulkFamily,
  kIndexFamily,
  kFamilies
};
constexpr std::array<const char*, kFamilies> kFamilyNames = {"accounts", "mirror", "counters",
                                                             "bulk", "index"};

std::string AccountKey(int account);
std::string BulkKey(int row);
std::string IndexKey(uint64_t generation, int row);
// A number with padding after it, and back; -1 for any other text.
std::string Padded(int64_t number, uint64_t padding_bytes);
int64_t Number(Slice value);

// Where a writer shows its running transaction to the thread that interrupts some.
struct Slot {
  Mutex mu;
  Transaction* transaction GUARDED_BY(mu) = nullptr;
};

// The truth for checking the database; it survives reopening. Each element has one writer thread.
struct Truth {
  explicit Truth(int writers)
      : acked(static_cast<size_t>(writers)), acked_all(static_cast<size_t>(writers)) {}
  std::vector<uint64_t> acked;      // Commits of each writer.
  std::vector<uint64_t> acked_all;  // Those of them that counted in "all".
  uint64_t generation = 0;          // Of bulk; 0: no rows yet.
};

// All relaxed: counts and a switch that order nothing.
struct Tally {
  std::atomic<uint64_t> transfers = 0;  // Attempts.
  std::atomic<uint64_t> commits = 0;
  std::atomic<uint64_t> conflicts = 0;
  std::atomic<uint64_t> deadlocks = 0;
  std::atomic<uint64_t> timeouts = 0;
  std::atomic<uint64_t> interrupted = 0;
  std::atomic<uint64_t> audits = 0;
  std::atomic<uint64_t> bulk_commits = 0;
  std::atomic<uint64_t> bulk_rollbacks = 0;
  std::atomic<uint64_t> flushes = 0;  // These three from DbStats.
  std::atomic<uint64_t> compactions = 0;
  std::atomic<uint64_t> spills = 0;
};

// One opening of the database.
// Threads: any.
class Round {
 public:
  Round(Db* db, const std::array<ColumnFamily*, kFamilies>& families, Tally* tally)
      : db_(db), families_(families), tally_(tally) {}

  Db* db() const { return db_; }
  ColumnFamily* family(Family family) const { return families_[family]; }
  Tally& tally() const { return *tally_; }

  // Ends the round at the first failure; later ones usually follow from it.
  void Fail(const std::string& what);
  std::string failure() const;
  void Stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // Counts an error that a client must expect; any other fails the round.
  void Judge(const Status& status, const char* who);

 private:
  Db* const db_;
  const std::array<ColumnFamily*, kFamilies> families_;
  Tally* const tally_;
  std::atomic<bool> stopped_ = false;
  mutable Mutex mu_;
  std::string failure_ GUARDED_BY(mu_);
};

}  // namespace tidesdb::stress
