#include "sim/workload.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/thread.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "sim/checkpoints.h"
#include "sim/history.h"
#include "sim/passing.h"
#include "sim/two_phase.h"
#include "tidesdb/db.h"

namespace tidesdb::simtest {
namespace {

constexpr const char* kDirectory = "/db";
constexpr uint64_t kKeys = 150;

// How a life of the database ends.
enum class Ending : uint8_t { kPowerCut, kKill, kIoError, kNoSpace, kClose };

class Workload {
 public:
  explicit Workload(const WorkloadOptions& options)
      : options_(options), random_(options.seed), simulation_(options.seed) {}

  WorkloadResult Run() {
    disk_ = std::make_unique<MemFs>(random_.Next());
    ChooseOptions();
    simulation_.Run([this] {
      while (result_.failure.empty() && result_.operations < options_.operations) Live();
      db_.reset();  // After a failure it is still open.
    });
    result_.trace_hash = simulation_.trace_hash();
    result_.commits = history_.acked();
    result_.in_doubt_kept = history_.in_doubt_kept();
    result_.prepared_commits = two_phase_.commits();
    result_.prepared_found = two_phase_.found();
    result_.prepared_recommits = two_phase_.recommits();
    result_.checkpoints = checkpoints_.made();
    result_.loads = passing_.loads();
    return result_;
  }

 private:
  void ChooseOptions() {
    db_options_.sync_mode = static_cast<SyncMode>(random_.Uniform(3));
    db_options_.sync_interval_us = 2000;
    db_options_.memtable_bytes = random_.Between(6, 40) << 10;
    db_options_.wal_segment_bytes = random_.Between(4, 64) << 10;
    db_options_.memory_max_bytes = 16 << 20;
    db_options_.block_cache_bytes = random_.Between(0, 256) << 10;
    db_options_.transaction_memory_bytes = random_.OneIn(2) ? 2 << 10 : 1 << 20;
    db_options_.flush_threads = static_cast<int>(random_.Between(1, 2));
    db_options_.compaction_threads = static_cast<int>(random_.Between(1, 2));
    db_options_.open_files_max = 16;
    db_options_.lock_wait_timeout_us = 100'000;
    family_count_ = static_cast<int>(random_.Between(2, 4));
    threads_ = static_cast<int>(random_.Between(1, 4));
    db_options_.reload_block_cache = threads_ % 2 == 0;
    value_bytes_max_ = random_.OneIn(4) ? 2000 : 120;
  }

  // Opens and checks what the last life left, works on it until it ends, and leaves a disk for the next one.
  void Live() {
    env_ = *Env::Default();
    env_.fs = disk_.get();
    env_.clock = simulation_.clock();
    env_.is_real = false;
    db_options_.env = &env_;
    const std::string wrong_copy =
        checkpoints_.CheckAll(disk_.get(), db_options_, family_count_, history_);
    if (!wrong_copy.empty()) return Fail(wrong_copy);
    auto db = Db::Open(db_options_, kDirectory);
    if (!db.ok()) return Fail("open: " + db.status().ToString());
    db_ = std::move(db).value();
    if (!FindFamilies() || !CheckContents(promise_)) return;
    if (const std::string wrong = passing_.Recovered(db_.get(), &random_); !wrong.empty())
      return Fail(wrong);
    if (const std::string wrong = two_phase_.Resolve(&random_); !wrong.empty()) return Fail(wrong);

    const auto ending = static_cast<Ending>(random_.Uniform(5));
    ending_ = ending;
    ArmEnding(ending);
    stop_ = false;
    operations_left_ = options_.operations / 4 + random_.Uniform(options_.operations / 4);
    {
      std::vector<std::unique_ptr<Thread>> threads;
      threads.reserve(static_cast<size_t>(threads_));
      for (int i = 0; i < threads_; ++i) {
        threads.push_back(std::make_unique<Thread>(
            "client-" + std::to_string(i), [this, seed = random_.Next()] { Client(seed); }));
      }
      for (const auto& thread : threads) thread->Join();
    }
    if (result_.failure.empty()) End(ending);
  }

  bool FindFamilies() {
    families_.clear();
    for (int i = 0; i < family_count_; ++i) {
      const std::string name = "family" + std::to_string(i);
      ColumnFamily* family = db_->FindFamily(Slice(name));
      if (family == nullptr) {
        if (history_.acked() != 0 && !first_life_) {
          Fail("family " + name + " is gone");
          return false;
        }
        ColumnFamilyOptions options;
        options.name = name;
        options.block_bytes = 1 << 10;
        options.target_file_bytes = 8 << 10;
        options.level0_file_trigger = 2;
        options.level_size_ratio = 3;
        auto made = db_->CreateFamily(options);
        if (!made.ok()) {
          Fail("create family: " + made.status().ToString());
          return false;
        }
        family = *made;
      }
      families_.push_back(family);
    }
    first_life_ = false;
    return true;
  }

  void ArmEnding(Ending ending) {
    disk_->ClearFaults();
    FaultRule rule;
    rule.nth = 1 + random_.Uniform(3000);
    switch (ending) {
      case Ending::kPowerCut:
        rule.kind = FaultRule::Kind::kPowerCut;
        disk_->AddFault(rule);
        break;
      case Ending::kIoError:
        rule.kind = random_.OneIn(2) ? FaultRule::Kind::kIoError : FaultRule::Kind::kShortWrite;
        rule.op = rule.kind == FaultRule::Kind::kShortWrite
                      ? IoOp::kWrite
                      : (random_.OneIn(2) ? IoOp::kSync : IoOp::kAny);
        rule.nth = 1 + random_.Uniform(500);
        rule.times = random_.OneIn(2) ? 1 : 3;
        disk_->AddFault(rule);
        break;
      case Ending::kNoSpace:
        rule.kind = FaultRule::Kind::kNoSpace;
        rule.nth = 1 + random_.Uniform(500);
        rule.times = 1 + random_.Uniform(20);
        disk_->AddFault(rule);
        break;
      case Ending::kKill:
      case Ending::kClose:
        break;
    }
  }

  void End(Ending ending) {
    const DbStats stats = db_->GetStats();
    result_.flushes += stats.flushes;
    result_.compactions += stats.compactions;
    result_.spills += stats.spills;
    if (stats.read_only) ++result_.io_errors;
    two_phase_.ForgetHandles();
    const bool power = ending == Ending::kPowerCut ||
                       (ending != Ending::kKill && random_.OneIn(2)) || disk_->power_is_cut();
    if (ending == Ending::kClose && !disk_->power_is_cut()) {
      const Status status = db_->Close();
      if (!status.ok()) return Fail("close: " + status.ToString());
      // An orderly close makes everything durable, whatever the mode.
      promise_ = History::Promise::kAll;
      auto next = disk_->CrashClone(random_.Next());
      db_.reset();
      disk_ = std::move(next);
      return;
    }
    std::unique_ptr<MemFs> next;
    if (power) {
      ++result_.crashes;
      next = disk_->CrashClone(random_.Next());
      promise_ = db_options_.sync_mode == SyncMode::kFull ? History::Promise::kAll
                                                          : History::Promise::kPrefix;
    } else {
      ++result_.kills;
      next = disk_->CleanClone();
      promise_ = History::Promise::kAll;
    }
    disk_->PowerCut();  // The old process can do no more harm.
    db_.reset();
    disk_ = std::move(next);
  }

  bool CheckContents(History::Promise promise) {
    const auto found = ReadAll();
    if (!result_.failure.empty()) return false;
    auto prepared = db_->TakePrepared();
    if (!prepared.ok()) {
      Fail("prepared transactions: " + prepared.status().ToString());
      return false;
    }
    std::string wrong =
        two_phase_.Recovered(std::move(prepared).value(), found, promise == History::Promise::kAll);
    if (wrong.empty()) {
      wrong = history_.CheckRecovered(found, db_->GetStats().last_sequence, promise);
    }
    if (!wrong.empty()) Fail("after recovery: " + wrong);
    return wrong.empty();
  }

  Contents ReadAll() {
    Contents found;
    auto txn = db_->Begin({});
    txn->SetSnapshot();
    for (int f = 0; f < family_count_; ++f) {
      auto it = txn->NewIterator(families_[f], {});
      EntryBatch batch;
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        it->ReadAhead(EntryBatch::kEntriesMax, &batch);
        for (size_t i = 0; i < batch.size(); ++i) {
          found[{f, std::string(batch[i].key)}] = std::string(batch[i].value);
        }
        found[{f, std::string(it->key())}] = std::string(it->value());
      }
      size_t backward = 0;
      for (it->SeekToLast(); it->Valid(); it->Prev()) {
        ++backward;
        const auto same = found.find({f, std::string(it->key())});
        if (same == found.end() || same->second != it->value()) {
          Fail("backward scan differs at key " + std::string(it->key()));
        }
      }
      if (!it->status().ok()) Fail("scan: " + it->status().ToString());
      size_t forward = 0;
      for (const auto& [key, value] : found) forward += key.first == f ? 1 : 0;
      if (forward != backward && result_.failure.empty()) Fail("backward scan misses keys");
    }
    return found;
  }

  void Client(uint64_t seed) {
    Random random(seed);
    while (!stop_ && result_.failure.empty() && operations_left_ > 0) OneTransaction(&random);
  }

  void OneTransaction(Random* random) {
    if (random->OneIn(50)) return TakeCheckpoint(random);
    if (random->OneIn(20)) {
      std::string wrong;
      Judge(random->OneIn(6) ? passing_.Load(db_.get(), random, &wrong)
                             : passing_.Change(db_.get(), random, &wrong));
      if (!wrong.empty()) Fail(wrong);
      return;
    }
    TransactionOptions options;
    options.concurrency = random->OneIn(3) ? Concurrency::kOptimistic : Concurrency::kPessimistic;
    auto txn = db_->Begin(options);
    if (random->OneIn(3)) txn->SetSnapshot();
    Writes writes;
    const uint64_t steps = random->OneIn(8) ? random->Between(20, 60) : random->Between(1, 6);
    Status status;
    for (uint64_t i = 0; i < steps && status.ok(); ++i) {
      ++result_.operations;
      if (operations_left_ > 0) --operations_left_;
      status = Step(random, txn.get(), &writes);
    }
    if (status.ok() && options.concurrency == Concurrency::kPessimistic && random->OneIn(12)) {
      status = LoadFamily(random, txn.get(), &writes);
    }
    if (status.ok() && random->OneIn(5)) status = passing_.Write(db_.get(), txn.get(), random);
    if (status.ok()) {
      // The key that distinguishes this transaction from all others.
      const std::string own = "own" + std::to_string(next_own_++);
      status = txn->Put(families_[0], own, "x");
      writes[{0, own}] = "x";
    }
    if (!status.ok()) return Judge(status);
    if (random->OneIn(10)) return txn->Rollback();
    if (random->OneIn(3)) return Judge(two_phase_.Run(random, std::move(txn), std::move(writes)));
    // Late locks and checks first, so that an error of the commit itself means an open outcome.
    if (status = txn->Prepare(); !status.ok()) return Judge(status);
    const size_t ticket = history_.Begin(std::move(writes));
    status = txn->Commit();
    if (status.ok()) {
      history_.Acked(ticket, txn->CommitSequence());
    } else {
      history_.Failed(ticket, true);
      Judge(status);
    }
  }

  void TakeCheckpoint(Random* random) {
    const Status status = checkpoints_.Make(db_.get(), random);
    const bool disk_is_well = ending_ == Ending::kKill || ending_ == Ending::kClose;
    if (disk_is_well && !status.ok()) return Fail("checkpoint: " + status.ToString());
    Judge(status);
  }

  // That the key and some others will be read.
  static void Hint(Transaction* txn, ColumnFamily* family, const std::string& key) {
    const std::string first = "key" + std::to_string(1000);
    const std::string middle = "key" + std::to_string(1000 + kKeys / 2);
    const std::array<Slice, 4> keys = {Slice(first), Slice(key), Slice(middle), Slice("key")};
    txn->Prefetch(family, keys.data(), keys.size());
  }

  Status Step(Random* random, Transaction* txn, Writes* writes) {
    const int f = static_cast<int>(random->Uniform(static_cast<uint64_t>(family_count_)));
    const std::string key = "key" + std::to_string(1000 + random->Uniform(kKeys));
    const FamilyKey family_key{f, key};
    PinnedValue value;
    switch (random->Uniform(9)) {
      case 0: {
        if (random->Uniform(2) == 0) Hint(txn, families_[f], key);
        const Result<bool> found = txn->Get(families_[f], key, &value);
        return found.ok() ? CheckOwn(*writes, family_key, *found, value.slice()) : found.status();
      }
      case 1: {
        const Result<bool> found =
            txn->GetForUpdate(families_[f], key, LockMode::kExclusive, LockWait::kWait, &value);
        return found.ok() ? CheckOwn(*writes, family_key, *found, value.slice()) : found.status();
      }
      case 2: {
        TIDESDB_TRY(txn->Delete(families_[f], key));
        (*writes)[family_key] = std::nullopt;
        return Status::Ok();
      }
      case 3: {
        const Savepoint savepoint = txn->SetSavepoint();
        TIDESDB_TRY(txn->Put(families_[f], key, "undone"));
        return txn->RollbackTo(savepoint, LocksSince::kKeep);
      }
      case 4:
        return PutOrSingleDelete(f, "once" + std::to_string(random->Uniform(kKeys)), txn, writes);
      default: {
        std::string bytes(random->Uniform(value_bytes_max_),
                          static_cast<char>('a' + random->Uniform(26)));
        bytes += std::to_string(random->Next());
        TIDESDB_TRY(txn->Put(families_[f], key, bytes));
        (*writes)[family_key] = std::move(bytes);
        return Status::Ok();
      }
    }
  }

  // Fills a family that the transaction does not write to otherwise, and not the family of the own keys. Leaves
  // nothing if it is given up or rolled back to a savepoint.
  Status LoadFamily(Random* random, Transaction* txn, Writes* writes) {
    const int f = static_cast<int>(random->Between(1, static_cast<uint64_t>(family_count_) - 1));
    for (const auto& [key, value] : *writes) {
      if (key.first == f) return Status::Ok();
    }
    const Savepoint savepoint = txn->SetSavepoint();
    TIDESDB_ASSIGN(const auto load,
                   txn->BeginLoad(families_[f], {.memory_bytes = 64 << 10, .on_written = nullptr}));
    Writes loaded;
    for (uint64_t count = random->Between(1, 100); count > 0; --count) {
      const std::string key = "key" + std::to_string(1000 + random->Uniform(kKeys));
      const auto [own, first] = loaded.try_emplace({f, key});
      if (!first) continue;
      own->second =
          std::string(random->Uniform(2 * value_bytes_max_), 'l') + std::to_string(random->Next());
      TIDESDB_TRY(load->Add(key, *own->second));
    }
    if (random->OneIn(8)) return Status::Ok();
    TIDESDB_TRY(load->Commit());
    if (random->OneIn(8)) return txn->RollbackTo(savepoint, LocksSince::kRelease);
    writes->merge(loaded);
    ++result_.transaction_loads;
    return Status::Ok();
  }

  // As SingleDelete requires: each transaction puts a missing key or deletes an existing one.
  Status PutOrSingleDelete(int f, const std::string& key, Transaction* txn, Writes* writes) {
    const auto [own, first] = writes->try_emplace({f, key});
    if (!first) return Status::Ok();
    PinnedValue value;
    TIDESDB_ASSIGN(const bool found, txn->GetForUpdate(families_[f], key, LockMode::kExclusive,
                                                       LockWait::kWait, &value));
    if (found) return txn->SingleDelete(families_[f], key);
    own->second = "once" + std::to_string(next_own_++);
    return txn->Put(families_[f], key, *own->second);
  }

  Status CheckOwn(const Writes& writes, const FamilyKey& key, bool found, Slice value) {
    const auto own = writes.find(key);
    if (own == writes.end()) return Status::Ok();
    if (found != own->second.has_value() || (found && *own->second != value)) {
      Fail("a transaction does not see its own write of key " + key.second);
    }
    return Status::Ok();
  }

  // Decides which errors a client may see, and which end this life.
  void Judge(const Status& status) {
    switch (status.code()) {
      case Code::kOk:
        return;
      case Code::kConflict:
      case Code::kDeadlock:
      case Code::kTimedOut:
        ++result_.conflicts;
        return;
      case Code::kNoSpace:
        return;
      case Code::kIoError:
      case Code::kReadOnly:
        stop_ = true;
        return;
      default:
        Fail("a client got: " + status.ToString());
    }
  }

  void Fail(const std::string& what) {
    if (result_.failure.empty()) result_.failure = what;
  }

  const WorkloadOptions options_;
  Random random_;
  Simulation simulation_;
  WorkloadResult result_;
  History history_;
  Checkpoints checkpoints_;
  PassingFamilies passing_;
  Ending ending_ = Ending::kClose;  // Of this life.

  Options db_options_;
  int family_count_ = 0;
  int threads_ = 0;
  uint64_t value_bytes_max_ = 0;

  std::unique_ptr<MemFs> disk_;
  Env env_;
  std::unique_ptr<Db> db_;
  TwoPhaseClients two_phase_{&history_};  // Its handles are destroyed before the database.
  std::vector<ColumnFamily*> families_;
  History::Promise promise_ = History::Promise::kAll;
  bool first_life_ = true;
  bool stop_ = false;
  uint64_t operations_left_ = 0;
  uint64_t next_own_ = 0;
};

}  // namespace

WorkloadResult RunWorkload(const WorkloadOptions& options) {
  auto workload = std::make_unique<Workload>(options);
  return workload->Run();
}

}  // namespace tidesdb::simtest
