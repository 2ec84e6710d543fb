// A dozen short paths of the engine, each under callgrind's counter: counted_paths DIRECTORY, run by
// tools/counts.py.
//
// It counts only this thread, so flush and compaction do not count. All data that is read is in memory, so the disk
// does not count. Keys, sizes and repetitions are constants.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tidesdb/db.h"

#if __has_include(<valgrind/callgrind.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <valgrind/callgrind.h>
#define COUNTED_TOGGLE() CALLGRIND_TOGGLE_COLLECT
#define COUNTED_DUMP(name) CALLGRIND_DUMP_STATS_AT(name)
#else  // Builds and runs, but counts nothing.
#define COUNTED_TOGGLE() (void)0
#define COUNTED_DUMP(name) (void)(name)
#endif

namespace tidesdb {
namespace {

constexpr int kKeys = 20'000;
constexpr int kRepeats = 1'000;  // Of each path; tools/counts.py divides by it.
const std::string kValue(100, 'v');

void Must(const Status& status) {
  if (status.ok()) return;
  fprintf(stderr, "%s\n", status.ToString().c_str());
  exit(1);
}

template <typename T>
T Must(Result<T> result) {
  Must(result.status());
  return std::move(result).value();
}

// Scatters keys like those of an application.
int Scatter(int number) { return static_cast<int>(number * 7919LL % kKeys); }

std::string Key(int number) {
  char text[24];
  snprintf(text, sizeof text, "user%012d", number);
  return text;
}

// Runs a path kRepeats times, after a tenth of that to warm up, and lets callgrind write the repeats' counts under
// this name.
template <typename Path>
void Count(const char* name, Path path) {
  for (int i = 0; i < kRepeats / 10; ++i) path(i);
  COUNTED_TOGGLE();
  for (int i = 0; i < kRepeats; ++i) path(kRepeats / 10 + i);
  COUNTED_TOGGLE();
  COUNTED_DUMP(name);
}

class Paths {
 public:
  explicit Paths(const std::string& directory) : directory_(directory), keys_(kKeys) {
    for (int i = 0; i < kKeys; ++i) keys_[static_cast<size_t>(i)] = Key(i);
    db_ = Must(Db::Open(MakeOptions(), directory_));
    table_ = MakeFamily("table");
    memory_ = MakeFamily("memory");
    Fill(table_);
    Must(db_->Flush());
    Must(db_->Compact(table_));
    Fill(memory_);
  }

  void Run() {
    CountReads();
    CountScans();
    CountLocks();
    CountWrites();
    transaction_.reset();
    Must(db_->Close());
  }

 private:
  static Options MakeOptions() {
    Options options;
    options.memory_max_bytes = 512 << 20;
    options.block_cache_bytes = 128 << 20;
    options.memtable_bytes = 64 << 20;
    options.sync_mode = SyncMode::kNone;
    options.log_level = LogLevel::kNone;
    options.flush_threads = 1;
    options.compaction_threads = 1;
    return options;
  }

  ColumnFamily* MakeFamily(const std::string& name) {
    ColumnFamilyOptions options;
    options.name = name;
    return Must(db_->CreateFamily(options));
  }

  void Fill(ColumnFamily* family) {
    auto transaction = db_->Begin({});
    for (int i = 0; i < kKeys; ++i) Must(transaction->Put(family, KeyOf(i), kValue));
    Must(transaction->Commit());
  }

  const std::string& KeyOf(int number) const {
    return keys_[static_cast<size_t>(Scatter(number % kKeys))];
  }

  // A transaction without writes yet.
  void Begin() {
    if (transaction_ == nullptr) {
      transaction_ = db_->Begin({});
      return;
    }
    transaction_->Rollback();
    Must(transaction_->Restart({}));
  }

  void Get(ColumnFamily* family, const std::string& key, bool there) {
    if (Must(transaction_->Get(family, key, &value_)) != there) exit(1);
    value_.Reset();
  }

  void CountReads() {
    Begin();
    for (int i = 0; i < kKeys; ++i) Get(table_, KeyOf(i), true);  // Now all of it is cached.
    Count("get_from_memtable", [&](int i) { Get(memory_, KeyOf(i), true); });
    Count("get_from_table", [&](int i) { Get(table_, KeyOf(i), true); });
    Count("get_of_no_key", [&](int i) { Get(table_, KeyOf(i) + "x", false); });
    Count("begin_and_end", [&](int) {
      Begin();
      transaction_->SetSnapshot();
    });
  }

  void CountScans() {
    Begin();
    for (ColumnFamily* family : {table_, memory_}) {
      auto it = transaction_->NewIterator(family, {});
      it->SeekToFirst();
      Count(family == table_ ? "next_in_table" : "next_in_memtable", [&](int) { it->Next(); });
      if (!it->Valid()) exit(1);
      Must(it->status());
    }
    Count("seek_in_table", [&](int i) {
      auto it = transaction_->NewIterator(table_, {});
      it->Seek(KeyOf(i));
      if (!it->Valid()) exit(1);
    });
  }

  void CountLocks() {
    Begin();
    Count("get_for_update", [&](int i) {
      if (!Must(transaction_->GetForUpdate(table_, KeyOf(i), LockMode::kExclusive, LockWait::kWait,
                                           &value_))) {
        exit(1);
      }
      value_.Reset();
    });
    Begin();
    Count("lock_range", [&](int i) {
      Must(transaction_->LockRange(table_, KeyOf(i), KeyOf(i) + "~", RangeHold::kPuts,
                                   LockWait::kWait));
    });
  }

  void CountWrites() {
    Begin();
    Count("put", [&](int i) { Must(transaction_->Put(memory_, KeyOf(i), kValue)); });
    Count("savepoint_and_back", [&](int i) {
      const Savepoint savepoint = transaction_->SetSavepoint();
      Must(transaction_->Put(memory_, KeyOf(i), kValue));
      Must(transaction_->RollbackTo(savepoint, LocksSince::kKeep));
    });
    Count("commit_of_one_put", [&](int i) {
      Begin();
      Must(transaction_->Put(memory_, KeyOf(i), kValue));
      Must(transaction_->Commit());
    });
    Count("commit_of_update_and_delete", [&](int i) {
      Begin();
      Must(transaction_->GetForUpdate(memory_, KeyOf(i), LockMode::kExclusive, LockWait::kWait,
                                      &value_));
      value_.Reset();
      Must(transaction_->Put(memory_, KeyOf(i), kValue));
      Must(transaction_->Delete(table_, KeyOf(i)));
      Must(transaction_->Commit());
    });
  }

  const std::string directory_;
  std::vector<std::string> keys_;
  std::unique_ptr<Db> db_;
  ColumnFamily* table_ = nullptr;   // In one table file, cached.
  ColumnFamily* memory_ = nullptr;  // In the memtable.
  PinnedValue value_;
  std::unique_ptr<Transaction> transaction_;
};

}  // namespace
}  // namespace tidesdb

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  tidesdb::Paths(argv[1]).Run();
  return 0;
}
