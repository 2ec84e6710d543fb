#include "stress/auditor.h"

#include <algorithm>
#include <memory>
#include <numeric>

namespace tidesdb::stress {

void Auditor::Run() {
  while (!round_->stopped()) {
    Snapshot();
    round_->tally().audits.fetch_add(1, std::memory_order_relaxed);
  }
}

void Auditor::Snapshot() {
  auto transaction = round_->db()->Begin({});
  transaction->SetSnapshot();
  const int64_t all = Counter(transaction.get(), "all");
  if (all < all_seen_) round_->Fail("the counter went back in a later snapshot");
  all_seen_ = all;
  CheckBalances(transaction.get());
  if (random_.OneIn(4)) {
    const uint64_t generation = CheckBulk(transaction.get());
    if (generation < generation_seen_) round_->Fail("bulk went back in a later snapshot");
    generation_seen_ = generation;
    CheckIndex(transaction.get(), generation);
  }
  // An old snapshot never changes, whatever was committed, flushed or merged since.
  if (random_.OneIn(2)) CheckBalances(transaction.get());
  if (Counter(transaction.get(), "all") != all) round_->Fail("a counter changed under a snapshot");
}

void Auditor::CheckBalances(Transaction* transaction) {
  const bool forward = random_.OneIn(2);
  const std::vector<int64_t> balances = Balances(transaction, kAccountsFamily, forward);
  const std::vector<int64_t> mirror = Balances(transaction, kMirrorFamily, !forward);
  if (balances != mirror) round_->Fail("accounts and mirror differ in one snapshot");
  const int64_t sum = std::accumulate(balances.begin(), balances.end(), int64_t{0});
  if (sum != kAccounts * kStartBalance) {
    round_->Fail("the balances of a snapshot add up to " + std::to_string(sum));
  }
  CheckPoints(transaction, balances);
}

std::vector<int64_t> Auditor::Balances(Transaction* transaction, Family family, bool forward) {
  std::vector<int64_t> balances;
  auto it = transaction->NewIterator(round_->family(family), {});
  for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
       forward ? it->Next() : it->Prev()) {
    const int expected = forward ? static_cast<int>(balances.size())
                                 : kAccounts - 1 - static_cast<int>(balances.size());
    if (it->key() != Slice(AccountKey(expected))) {
      round_->Fail("a scan of " + std::string(kFamilyNames[family]) + " met " +
                   std::string(it->key()) + " in place of " + AccountKey(expected));
      break;
    }
    balances.push_back(Number(it->value()));
  }
  if (!it->status().ok()) round_->Fail("a scan got: " + it->status().ToString());
  if (balances.size() != kAccounts) {
    round_->Fail("a scan of " + std::string(kFamilyNames[family]) + " met " +
                 std::to_string(balances.size()) + " rows");
  }
  if (!forward) std::reverse(balances.begin(), balances.end());
  return balances;
}

void Auditor::CheckPoints(Transaction* transaction, const std::vector<int64_t>& balances) {
  for (int i = 0; i < 8 && !round_->stopped(); ++i) {
    const auto account = random_.Uniform(balances.size());
    PinnedValue value;
    const auto found = transaction->Get(round_->family(kAccountsFamily),
                                        AccountKey(static_cast<int>(account)), &value);
    if (!found.ok()) return round_->Fail("a read got: " + found.status().ToString());
    if (!*found || Number(value.slice()) != balances[account]) {
      return round_->Fail("a point read and a scan of one snapshot differ at account " +
                          std::to_string(account));
    }
  }
}

uint64_t Auditor::CheckBulk(Transaction* transaction) {
  int64_t generation = 0;
  int rows = 0;
  auto it = transaction->NewIterator(round_->family(kBulkFamily), {});
  const auto check = [&](Slice key, Slice value) {
    const int64_t number = Number(value);
    if (rows == 0) generation = number;
    if (number == generation && key == Slice(BulkKey(rows))) return true;
    round_->Fail("bulk shows " + std::string(key) + " of generation " + std::to_string(number) +
                 " in a snapshot of generation " + std::to_string(generation) + ", at row " +
                 std::to_string(rows));
    return false;
  };
  EntryBatch batch;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++rows) {
    it->ReadAhead(EntryBatch::kEntriesMax, &batch);
    for (size_t i = 0; i + 1 < batch.size(); ++i, ++rows) {
      if (!check(batch[i].key, batch[i].value)) return 0;
    }
    if (!check(it->key(), it->value())) return 0;
  }
  if (!it->status().ok()) round_->Fail("a scan of bulk got: " + it->status().ToString());
  if (rows != 0 && rows != kBulkRows) round_->Fail("bulk has " + std::to_string(rows) + " rows");
  return static_cast<uint64_t>(generation);
}

void Auditor::CheckIndex(Transaction* transaction, uint64_t generation) {
  int row = kBulkRows;
  auto it = transaction->NewIterator(round_->family(kIndexFamily), {});
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    --row;
    if (row < 0 || it->key() != Slice(IndexKey(generation, row))) {
      return round_->Fail("the index shows " + std::string(it->key()) + " at row " +
                          std::to_string(row) + " of generation " + std::to_string(generation));
    }
  }
  if (!it->status().ok()) round_->Fail("a scan of the index got: " + it->status().ToString());
  if (row != (generation == 0 ? kBulkRows : 0)) {
    round_->Fail("the index misses " + std::to_string(row) + " rows of generation " +
                 std::to_string(generation));
  }
}

int64_t Auditor::Counter(Transaction* transaction, const std::string& key) {
  PinnedValue value;
  const auto found = transaction->Get(round_->family(kCountersFamily), key, &value);
  if (found.ok() && *found) return Number(value.slice());
  round_->Fail("the counter " + key + (found.ok() ? " is gone" : ": " + found.status().ToString()));
  return -1;
}

void Auditor::CheckQuiet(const Truth& truth) {
  auto transaction = round_->db()->Begin({});
  CheckBalances(transaction.get());
  if (const uint64_t generation = CheckBulk(transaction.get()); generation != truth.generation) {
    round_->Fail("bulk has generation " + std::to_string(generation) + ", acknowledged was " +
                 std::to_string(truth.generation));
  }
  CheckIndex(transaction.get(), truth.generation);
  int64_t all = 0;
  for (size_t writer = 0; writer < truth.acked.size(); ++writer) {
    const std::string key = "writer" + std::to_string(writer);
    const int64_t found = Counter(transaction.get(), key);
    if (found != static_cast<int64_t>(truth.acked[writer])) {
      round_->Fail(key + " counts " + std::to_string(found) + " commits, acknowledged were " +
                   std::to_string(truth.acked[writer]));
    }
    all += static_cast<int64_t>(truth.acked_all[writer]);
  }
  if (const int64_t found = Counter(transaction.get(), "all"); found != all) {
    round_->Fail("\"all\" counts " + std::to_string(found) + " commits, acknowledged were " +
                 std::to_string(all));
  }
  transaction->Rollback();
  const DbStats stats = round_->db()->GetStats();
  if (stats.locks_held != 0 || stats.read_only) {
    round_->Fail(std::to_string(stats.locks_held) +
                 " locks are held by nobody, or the database is read-only");
  }
}

}  // namespace tidesdb::stress
