#include "metamorphic/run.h"

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/random.h"

namespace tidesdb::metamorphic {
namespace {

constexpr uint64_t kKeys = 150;
constexpr uint64_t kStepsToQuiet = 60;
constexpr size_t kFamilies = 2;
constexpr size_t kTransactions = 3;

class Runner {
 public:
  Runner(const OptionSet& set, uint64_t seed, Env* env)
      : set_(set), options_(set.options), random_(seed) {
    options_.env = env;
  }

  std::vector<std::string> Run(uint64_t steps) {
    Status status = Open();
    for (uint64_t step = 0; status.ok() && step < steps; ++step) {
      status = step % kStepsToQuiet == kStepsToQuiet - 1 ? Quiet() : Step();
    }
    if (status.ok()) status = Quiet();
    if (status.ok()) status = db_->Close();
    if (!status.ok()) Say(status.ToString());
    return std::move(said_);
  }

 private:
  struct Slot {
    std::unique_ptr<Transaction> transaction;
    std::vector<Savepoint> savepoints;
    std::set<std::string> once;  // Keys put or deleted by PutOrSingleDelete.
  };

  Status Open() {
    TIDESDB_ASSIGN(db_, Db::Open(options_, "/db"));
    for (size_t i = 0; i < kFamilies; ++i) {
      const std::string name = "family" + std::to_string(i);
      families_[i] = db_->FindFamily(name);
      if (families_[i] != nullptr) continue;
      ColumnFamilyOptions options = set_.family;
      options.name = name;
      TIDESDB_ASSIGN(families_[i], db_->CreateFamily(options));
    }
    return Status::Ok();
  }

  void Say(const std::string& line) { said_.push_back(line); }

  static std::string Bytes(Slice bytes) {
    return std::to_string(bytes.size()) + ":" + std::to_string(Hash64(bytes) % 1'000'000);
  }

  std::string Key() {
    const uint64_t number = random_.Skewed(8) % kKeys;
    return "key" + std::to_string(number) + std::string(number % 5, '.');
  }

  std::string Value() {
    const uint64_t size = random_.OneIn(20) ? random_.Uniform(20'000) : random_.Uniform(300);
    std::string value;
    while (value.size() < size) value += std::to_string(random_.Uniform(1000)) + ",";
    return value;
  }

  // Errors that a transaction may meet are part of the answer. All others end the run.
  static bool IsAnswer(const Status& status) {
    switch (status.code()) {
      case Code::kOk:
      case Code::kConflict:
      case Code::kTimedOut:
      case Code::kDeadlock:
        return true;
      default:
        return false;
    }
  }

  // After an error the transaction is rolled back, in the same way in every run.
  Status Answered(const std::string& what, const Status& status, size_t slot) {
    Say(what + " " + CodeName(status.code()));
    if (!IsAnswer(status)) return status;
    if (!status.ok()) End(slot);
    return Status::Ok();
  }

  void End(size_t slot) {
    open_[slot].transaction->Rollback();
    open_[slot] = {};
  }

  Status Step() {
    const size_t slot = random_.Uniform(kTransactions);
    ColumnFamily* family = families_[random_.Uniform(kFamilies)];
    const uint64_t kind = random_.Uniform(100);
    const std::string key = Key();
    const std::string value = Value();
    const uint64_t more = random_.Next();
    Begin(slot, more);
    const std::string who = std::to_string(slot) + " " + key;
    Transaction* transaction = open_[slot].transaction.get();
    if (kind < 35) return Answered("put " + who, transaction->Put(family, key, value), slot);
    if (kind < 40) return Answered("delete " + who, transaction->Delete(family, key), slot);
    if (kind < 45) return PutOrSingleDelete(slot, family, "once " + key, value);
    if (kind < 60) return Get(slot, family, key);
    if (kind < 68) return GetForUpdate(slot, family, key, more);
    if (kind < 80) return Scan(slot, family, key, more);
    if (kind < 84) return Save(slot);
    if (kind < 88) return Back(slot, more);
    if (kind < 97) return Commit(slot);
    Say("rollback " + who);
    End(slot);
    return Status::Ok();
  }

  void Begin(size_t slot, uint64_t more) {
    if (open_[slot].transaction != nullptr) return;
    TransactionOptions options;
    options.lock_wait_timeout_us = 0;  // One thread runs all of them.
    options.staging_bytes = set_.staging_bytes;
    open_[slot].transaction = db_->Begin(options);
    if (more % 2 == 0) open_[slot].transaction->SetSnapshot();
  }

  Status Get(size_t slot, ColumnFamily* family, const std::string& key) {
    PinnedValue value;
    auto found = open_[slot].transaction->Get(family, key, &value);
    if (!found.ok()) return found.status();
    Say("get " + std::to_string(slot) + " " + key + " " + (*found ? Bytes(value.slice()) : "none"));
    return Status::Ok();
  }

  Status GetForUpdate(size_t slot, ColumnFamily* family, const std::string& key, uint64_t more) {
    PinnedValue value;
    const LockMode mode = more % 3 == 0 ? LockMode::kShared : LockMode::kExclusive;
    auto found =
        open_[slot].transaction->GetForUpdate(family, key, mode, LockWait::kNoWait, &value);
    const std::string what = "lock " + std::to_string(slot) + " " + key;
    if (!found.ok()) return Answered(what, found.status(), slot);
    Say(what + " " + (*found ? Bytes(value.slice()) : "none"));
    return Status::Ok();
  }

  // As SingleDelete requires: each transaction puts a missing key or deletes an existing one.
  Status PutOrSingleDelete(size_t slot, ColumnFamily* family, const std::string& key,
                           const std::string& value) {
    Transaction* const transaction = open_[slot].transaction.get();
    const std::string what = "put or single delete " + std::to_string(slot) + " " + key;
    if (!open_[slot].once.insert(family->options().name + key).second) return Status::Ok();
    PinnedValue there;
    auto found =
        transaction->GetForUpdate(family, key, LockMode::kExclusive, LockWait::kNoWait, &there);
    if (!found.ok()) return Answered(what, found.status(), slot);
    return Answered(
        what,
        *found ? transaction->SingleDelete(family, key) : transaction->Put(family, key, value),
        slot);
  }

  Status Scan(size_t slot, ColumnFamily* family, const std::string& key, uint64_t more) {
    const std::string upper = key + "zz";
    ScanOptions options;
    if (more % 3 == 0) options.lower = key;
    if (more % 5 == 0) options.upper = upper;
    options.newest = more % 7 == 0;
    options.fill_cache = more % 2 == 0;
    auto it = open_[slot].transaction->NewIterator(family, options);
    const bool forward = more % 11 < 6;
    if (more % 13 < 6) {
      forward ? it->SeekToFirst() : it->SeekToLast();
    } else {
      forward ? it->Seek(key) : it->SeekForPrev(key);
    }
    std::string line = "scan " + std::to_string(slot) + " " + key;
    EntryBatch batch;
    for (uint64_t i = 0; it->Valid() && i < more % 40; ++i) {
      if (forward && more % 17 < 9) it->ReadAhead(more % 40 - i, &batch);
      for (size_t j = 0; j + 1 < batch.size(); ++j, ++i) {
        line += " " + std::string(batch[j].key) + "=" + Bytes(batch[j].value);
      }
      line += " " + std::string(it->key()) + "=" + Bytes(it->value());
      forward ? it->Next() : it->Prev();
    }
    Say(line);
    return it->status();
  }

  Status Save(size_t slot) {
    open_[slot].savepoints.push_back(open_[slot].transaction->SetSavepoint());
    Say("savepoint " + std::to_string(slot));
    return Status::Ok();
  }

  Status Back(size_t slot, uint64_t more) {
    auto& savepoints = open_[slot].savepoints;
    if (savepoints.empty()) return Status::Ok();
    savepoints.resize(1 + more % savepoints.size());
    // Not kRelease: spilled writes stay locked, and the options decide what spills.
    const Savepoint savepoint = savepoints.back();
    return Answered("back " + std::to_string(slot),
                    open_[slot].transaction->RollbackTo(savepoint, LocksSince::kKeep), slot);
  }

  Status Commit(size_t slot) {
    const Status status = open_[slot].transaction->Commit();
    const std::string what = "commit " + std::to_string(slot);
    if (!status.ok()) return Answered(what, status, slot);
    Say(what);
    open_[slot] = {};
    return Status::Ok();
  }

  // Ends all transactions, reads everything, then does the set's own maintenance.
  Status Quiet() {
    for (size_t slot = 0; slot < kTransactions; ++slot) {
      const bool commits = random_.OneIn(2);
      if (open_[slot].transaction == nullptr) continue;
      if (commits) {
        TIDESDB_TRY(Commit(slot));
      } else {
        End(slot);
      }
    }
    TIDESDB_TRY(All());
    ++quiet_points_;
    const auto due = [this](uint64_t every) { return every > 0 && quiet_points_ % every == 0; };
    if (due(set_.flush_every)) TIDESDB_TRY(db_->Flush());
    if (due(set_.compact_every)) {
      const bool part = quiet_points_ / set_.compact_every % 2 == 0;
      for (ColumnFamily* family : families_) {
        TIDESDB_TRY(part ? db_->RequestCompaction(family, "key1", "key3") : db_->Compact(family));
      }
    }
    if (due(set_.reopen_every)) {
      TIDESDB_TRY(db_->Close());
      db_.reset();
      TIDESDB_TRY(Open());
    }
    return Status::Ok();
  }

  Status All() {
    auto transaction = db_->Begin({});
    for (ColumnFamily* family : families_) {
      std::string line = "all";
      auto it = transaction->NewIterator(family, {});
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        line += " " + std::string(it->key()) + "=" + Bytes(it->value());
      }
      TIDESDB_TRY(it->status());
      Say(line);
    }
    return Status::Ok();
  }

  const OptionSet& set_;
  Options options_;
  Random random_;
  std::unique_ptr<Db> db_;
  std::array<ColumnFamily*, kFamilies> families_ = {};
  std::array<Slot, kTransactions> open_;
  uint64_t quiet_points_ = 0;
  std::vector<std::string> said_;
};

OptionSet Named(const std::string& name) {
  OptionSet set;
  set.name = name;
  set.options.sync_mode = SyncMode::kNone;
  set.options.memory_max_bytes = 64 << 20;
  set.options.memtable_bytes = 4 << 20;
  set.options.block_cache_bytes = 8 << 20;
  set.options.wal_segment_bytes = 1 << 20;
  return set;
}

}  // namespace

std::vector<OptionSet> OptionSets() {
  std::vector<OptionSet> sets;
  const auto add = [&sets](const std::string& name) -> OptionSet& {
    sets.push_back(Named(name));
    return sets.back();
  };
  add("default");
  OptionSet& tiny = add("memtables of 4 KiB, writers slow at once");
  tiny.options.memtable_bytes = 4 << 10;
  tiny.options.flush_queue_max = 1;
  OptionSet& small = add("small files, many levels");
  small.options.memtable_bytes = 16 << 10;
  small.family.target_file_bytes = 8 << 10;
  small.family.level_size_ratio = 2;
  small.family.level0_file_trigger = 1;
  OptionSet& late = add("no compaction, small blocks");
  late.flush_every = 1;
  late.family.level0_file_trigger = 1024;
  late.family.block_bytes = 1 << 10;
  OptionSet& compacted = add("flushed and compacted often, no filters");
  compacted.flush_every = 2;
  compacted.compact_every = 2;
  compacted.family.bloom_filter = false;
  OptionSet& deletions = add("every deletion compacted at once");
  deletions.flush_every = 1;
  deletions.family.tombstone_density_trigger = 1;
  deletions.family.tombstone_density_min_entries = 0;
  OptionSet& reopened = add("opened anew all the time");
  reopened.reopen_every = 1;
  reopened.options.reload_block_cache = true;
  reopened.options.wal_segment_bytes = 4 << 10;
  OptionSet& spilled = add("transactions that spill");
  spilled.staging_bytes = 1 << 10;
  spilled.compact_every = 3;
  OptionSet& mixed = add("spills, small memtables, opened anew, no cache to speak of");
  mixed.staging_bytes = 2 << 10;
  mixed.options.memtable_bytes = 8 << 10;
  mixed.options.block_cache_bytes = 0;
  mixed.options.open_files_max = 16;
  mixed.reopen_every = 2;
  for (const auto& [name, compression] : {std::pair{"none", Compression::kNone},
                                          {"snappy", Compression::kSnappy},
                                          {"zstd", Compression::kZstd}}) {
    OptionSet& set = add(std::string("compression ") + name);
    set.family.compression = compression;
    set.flush_every = 2;
    set.reopen_every = 5;
  }
  OptionSet& threads = add("synced, many threads, huge blocks");
  threads.options.sync_mode = SyncMode::kInterval;
  threads.options.flush_threads = 4;
  threads.options.compaction_threads = 4;
  threads.options.memtable_bytes = 8 << 10;
  threads.family.block_bytes = 256 << 10;
  threads.family.bloom_fpr = 0.5;
  return sets;
}

std::vector<std::string> Run(const OptionSet& set, uint64_t seed, uint64_t steps, Env* env) {
  return Runner(set, seed, env).Run(steps);
}

}  // namespace tidesdb::metamorphic
