// Random histories of one transaction after another against a map as the model. Results must not
// depend on spilling or on the kind of concurrency control.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/test_seed.h"
#include "txn/test_env.h"

namespace tidesdb {
namespace {

using Rows = std::map<std::string, std::string>;
using Families = std::map<FamilyId, Rows>;

constexpr uint32_t kFamilies = 2;

struct ModelOp {
  FamilyId family;
  std::string key;
  std::optional<std::string> value;
};

void Apply(const std::vector<ModelOp>& ops, Families* families) {
  for (const ModelOp& op : ops) {
    if (op.value) {
      (*families)[op.family][op.key] = *op.value;
    } else {
      (*families)[op.family].erase(op.key);
    }
  }
}

class ModelRun {
 public:
  ModelRun(uint64_t seed, uint64_t transaction_memory_bytes, Concurrency concurrency)
      : random_(seed), concurrency_(concurrency) {
    TestEnv::Options options;
    options.clock = &clock_;
    options.lock_wait_timeout_us = 0;
    options.families = kFamilies;
    options.transaction_memory_bytes = transaction_memory_bytes;
    options.spill_files_open_max = 3;
    options.memtable_bytes = 16 << 10;
    options.target_file_bytes = 2 << 10;
    env_ = std::make_unique<TestEnv>(options);
  }

  void Run() {
    auto txn = env_->Begin(concurrency_, false);
    for (int i = 0; i < 25; ++i) {
      RunTransaction(txn.get());
      if (testing::Test::HasFailure()) return;
      TransactionOptions options;
      options.concurrency = concurrency_;
      options.conflict_on_changed = false;
      if (random_.OneIn(4)) {
        txn.reset();
        txn = env_->Begin(concurrency_, false);
      } else {
        CHECK_OK(txn->Restart(options));
      }
    }
    txn.reset();
    EXPECT_EQ(env_->SpillFiles(), 0u);
    EXPECT_EQ(env_->UnusedTableFiles(), 0u);
    EXPECT_EQ(Flat(committed_), env_->NewestContents());
    EXPECT_EQ(Flat(committed_), env_->LoggedContents());
  }

  uint64_t spills() const { return env_->Counted(Counter::kSpills); }

 private:
  static TestEnv::Contents Flat(const Families& families) {
    TestEnv::Contents contents;
    for (const auto& [family, rows] : families) {
      for (const auto& [key, value] : rows) contents[{family, key}] = value;
    }
    return contents;
  }

  std::string RandomKey() { return std::to_string(random_.Uniform(random_.OneIn(2) ? 10 : 60)); }
  FamilyId RandomFamily() { return 1 + static_cast<FamilyId>(random_.Uniform(kFamilies)); }
  std::string RandomValue() {
    return std::to_string(++values_) + std::string(random_.Uniform(30), '.');
  }

  std::optional<Families>& snapshot() { return snapshots_[static_cast<size_t>(view_)]; }

  void UseView(Transaction* txn) {
    view_ = random_.OneIn(2) ? View::kTransaction : View::kStatement;
    txn->UseView(view_);
    EXPECT_EQ(txn->HasSnapshot(), snapshot().has_value());
  }

  void ChangeSnapshot(Transaction* txn) {
    if (random_.OneIn(2)) {
      txn->SetSnapshot();
      snapshot() = committed_;
    } else {
      txn->ReleaseSnapshot();
      snapshot().reset();
    }
  }

  // What the transaction must see now.
  Families Seen() {
    Families view = snapshot() ? *snapshot() : committed_;
    Apply(ops_, &view);
    return view;
  }

  void RunTransaction(Transaction* txn) {
    ops_.clear();
    savepoints_.clear();
    snapshots_ = {};
    view_ = View::kTransaction;
    for (uint64_t steps = random_.Uniform(60); steps > 0; --steps) {
      Step(txn);
      if (testing::Test::HasFailure()) return;
    }
    if (random_.OneIn(4)) {
      txn->Rollback();
    } else {
      if (random_.OneIn(2)) {
        ASSERT_TRUE(txn->Prepare().ok());
      }
      const Status status = txn->Commit();
      ASSERT_TRUE(status.ok()) << status.ToString();
      Apply(ops_, &committed_);
      EXPECT_TRUE(ops_.empty() || !HadWrites() || txn->CommitSequence() != 0);
    }
  }

  bool HadWrites() const { return !ops_.empty(); }

  void Step(Transaction* txn) {
    switch (random_.Uniform(17)) {
      default:
        return Write(txn);
      case 0:
      case 1:
        return Read(txn);
      case 2:
        return Insert(txn);
      case 3:
        savepoints_.emplace_back(txn->SetSavepoint(), ops_.size());
        return;
      case 4:
        return RollbackTo(txn);
      case 5:
        if (savepoints_.empty() || random_.OneIn(2)) return;
        txn->ReleaseSavepoint(savepoints_.back().first);
        savepoints_.pop_back();
        return;
      case 6:
        return ChangeSnapshot(txn);
      case 7:
        return WriteElsewhere();
      case 8:
        if (random_.OneIn(2)) env_->Rotate();
        if (random_.OneIn(2)) env_->Compact();
        return;
      case 9:
      case 10:
        return Scan(txn);
      case 11:
        return UseView(txn);
    }
  }

  void Write(Transaction* txn) {
    ModelOp op = {RandomFamily(), RandomKey(), std::nullopt};
    ColumnFamily* family = env_->family(op.family);
    Status status;
    if (random_.OneIn(3)) {
      switch (random_.Uniform(3)) {
        case 0:
          status = txn->Delete(family, op.key);
          break;
        case 1:
          status = txn->SingleDelete(family, op.key);
          break;
        default:
          status = txn->DeleteUnderLock(family, op.key, random_.OneIn(2));
          break;
      }
    } else {
      op.value = RandomValue();
      status = random_.OneIn(2) ? txn->Put(family, op.key, *op.value)
                                : txn->PutUnderLock(family, op.key, *op.value);
    }
    ASSERT_TRUE(status.ok()) << status.ToString();
    ops_.push_back(std::move(op));
  }

  void Insert(Transaction* txn) {
    ModelOp op = {RandomFamily(), RandomKey(), RandomValue()};
    Families view = committed_;
    Apply(ops_, &view);
    PinnedValue there;
    const Result<bool> found =
        txn->Insert(env_->family(op.family), op.key, *op.value, LockWait::kWait, &there);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    const auto it = view[op.family].find(op.key);
    ASSERT_EQ(*found, it != view[op.family].end()) << op.key;
    if (*found) {
      EXPECT_EQ(there.slice(), it->second);
    } else {
      ops_.push_back(std::move(op));
    }
  }

  Result<bool> GetShownForUpdate(Transaction* txn, FamilyId family, const std::string& key,
                                 PinnedValue* value) {
    ScanOptions newest;
    newest.newest = true;
    const uint64_t as_of = txn->NewestSequence();
    const auto iter = txn->NewIterator(env_->family(family), newest);
    iter->Seek(key);
    const bool shown = iter->Valid() && iter->key() == key;
    bool as_shown;
    auto found =
        txn->GetShownForUpdate(env_->family(family), key, LockMode::kExclusive, LockWait::kWait,
                               shown ? as_of : Transaction::kNotShown, &as_shown, value);
    if (!as_shown) return found;
    EXPECT_TRUE(found.ok() && *found && value->slice().empty());
    found =
        txn->GetForUpdate(env_->family(family), key, LockMode::kExclusive, LockWait::kWait, value);
    EXPECT_EQ(iter->value(), value->slice()) << "what the iterator shows is not the newest";
    return found;
  }

  void Read(Transaction* txn) {
    const FamilyId family = RandomFamily();
    const std::string key = RandomKey();
    PinnedValue value;
    Families view = Seen();
    Result<bool> found = false;
    if (random_.OneIn(2)) {
      found = txn->Get(env_->family(family), key, &value);
    } else {
      found = random_.OneIn(2) ? GetShownForUpdate(txn, family, key, &value)
                               : txn->GetForUpdate(env_->family(family), key, LockMode::kExclusive,
                                                   LockWait::kWait, &value);
      view = committed_;
      Apply(ops_, &view);
    }
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    auto it = view[family].find(key);
    ASSERT_EQ(*found, it != view[family].end()) << key;
    if (*found) {
      EXPECT_EQ(value.slice(), it->second);
    }
  }

  void RollbackTo(Transaction* txn) {
    if (savepoints_.empty()) return;
    const size_t which = random_.Uniform(savepoints_.size());
    const auto [savepoint, ops] = savepoints_[which];
    ASSERT_TRUE(txn->RollbackTo(savepoint, LocksSince::kKeep).ok());
    ops_.resize(ops, {});
    savepoints_.resize(which + 1);
    EXPECT_TRUE(!ops_.empty() || !txn->HasWrites());
  }

  // Another transaction commits, on its own keys, because the first one holds locks.
  void WriteElsewhere() {
    auto other = env_->Begin(Concurrency::kPessimistic, false);
    std::vector<ModelOp> ops;
    for (uint64_t count = random_.Uniform(10) + 1; count > 0; --count) {
      ModelOp op = {RandomFamily(), "o" + RandomKey(), std::nullopt};
      if (random_.OneIn(3)) {
        ASSERT_TRUE(other->Delete(env_->family(op.family), op.key).ok());
      } else {
        op.value = RandomValue();
        ASSERT_TRUE(other->Put(env_->family(op.family), op.key, *op.value).ok());
      }
      ops.push_back(std::move(op));
    }
    ASSERT_TRUE(other->Commit().ok());
    Apply(ops, &committed_);
  }

  // Moves at random, with writes between moves. A move is relative to the iterator's place in what
  // the transaction sees then (over what was committed when the iterator was made).
  void Scan(Transaction* txn) {
    const FamilyId family = RandomFamily();
    ScanOptions options;
    options.newest = random_.OneIn(3);
    const std::string lower = random_.OneIn(3) ? RandomKey() : "";
    const std::string upper = random_.OneIn(3) ? RandomKey() : "";
    options.lower = lower;
    options.upper = upper;
    const Families base = snapshot() && !options.newest ? *snapshot() : committed_;
    auto it = txn->NewIterator(env_->family(family), options);
    std::string from;
    std::string to;
    std::optional<std::string> at;
    for (int moves = 0; moves < 25; ++moves) {
      if (random_.OneIn(3)) {
        Write(txn);
      } else if (random_.OneIn(20)) {
        RollbackTo(txn);
      } else if (random_.OneIn(20)) {
        WriteElsewhere();
      } else if (random_.OneIn(20)) {
        UseView(txn);
        ChangeSnapshot(txn);
      }
      if (random_.OneIn(5)) {
        from = random_.OneIn(2) ? RandomKey() : "";
        to = random_.OneIn(2) ? RandomKey() : "";
        it->SetBounds(from, to);
        ASSERT_FALSE(it->Valid());
        at.reset();
      }
      Families view = base;
      Apply(ops_, &view);
      Rows rows;
      for (const auto& [key, value] : view[family]) {
        if (key >= std::max(lower, from) && (upper.empty() || key < upper) &&
            (to.empty() || key < to)) {
          rows[key] = value;
        }
      }
      const Rows::const_iterator expected = Move(it.get(), rows, at);
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
      ASSERT_EQ(it->Valid(), expected != rows.end());
      at.reset();
      if (!it->Valid()) continue;
      ASSERT_EQ(it->key(), expected->first);
      ASSERT_EQ(it->value(), expected->second);
      at = expected->first;
    }
  }

  Rows::const_iterator ReadAhead(Iterator* it, const Rows& rows, const std::string& at) {
    EntryBatch batch;
    it->ReadAhead(1 + random_.Uniform(20), &batch);
    auto expected = rows.find(at);
    if (expected == rows.end()) {  // It was deleted meanwhile.
      EXPECT_TRUE(batch.empty());
      it->Next();
      return rows.upper_bound(at);
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      if (i > 0) ++expected;
      if (expected == rows.end()) {
        ADD_FAILURE() << "read beyond the end";
        break;
      }
      EXPECT_EQ(batch[i].key, expected->first);
      EXPECT_EQ(batch[i].value, expected->second);
    }
    if (!batch.empty()) return expected;
    it->Next();
    return rows.upper_bound(at);
  }

  Rows::const_iterator Move(Iterator* it, const Rows& rows, const std::optional<std::string>& at) {
    const auto before = [&rows](Rows::const_iterator i) {
      return i == rows.begin() ? rows.end() : std::prev(i);
    };
    const std::string key = RandomKey();
    switch (random_.Uniform(at ? 12 : 4)) {
      case 0:
        it->SeekToFirst();
        return rows.begin();
      case 1:
        it->SeekToLast();
        return before(rows.end());
      case 2:
        it->Seek(key);
        return rows.lower_bound(key);
      case 3:
        it->SeekForPrev(key);
        return before(rows.upper_bound(key));
      case 4:
      case 5:
      case 6:
        it->Prev();
        return before(rows.lower_bound(*at));
      case 7:
      case 8:
        return ReadAhead(it, rows, *at);
      default:
        it->Next();
        return rows.upper_bound(*at);
    }
  }

  Random random_;
  const Concurrency concurrency_;
  FakeClock clock_;
  std::unique_ptr<TestEnv> env_;
  uint64_t values_ = 0;

  Families committed_;
  View view_ = View::kTransaction;
  std::array<std::optional<Families>, 2> snapshots_;  // By view.
  std::vector<ModelOp> ops_;
  std::vector<std::pair<Savepoint, size_t>> savepoints_;  // With the operations before it.
};

constexpr uint64_t kSeeds = SerialRounds(12);

class TransactionModelTest : public testing::TestWithParam<Concurrency> {};

INSTANTIATE_TEST_SUITE_P(Both, TransactionModelTest,
                         testing::Values(Concurrency::kPessimistic, Concurrency::kOptimistic));

TEST_P(TransactionModelTest, InMemory) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + kSeeds; ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    ModelRun run(seed, 1 << 20, GetParam());
    run.Run();
    if (HasFailure()) return;
    EXPECT_EQ(run.spills(), 0u);
  }
}

TEST_P(TransactionModelTest, Spilled) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + kSeeds; ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    constexpr uint64_t kShares[] = {1, 400, 1500, 4000};
    ModelRun run(seed, kShares[seed % 4], GetParam());
    run.Run();
    if (HasFailure()) return;
    EXPECT_GT(run.spills(), 0u);
  }
}

}  // namespace
}  // namespace tidesdb
