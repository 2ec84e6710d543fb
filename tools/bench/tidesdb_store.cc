#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tidesdb/db.h"
#include "tidesdb/version.h"
#include "tools/bench/fatal.h"
#include "tools/bench/store.h"

namespace tidesdb::bench {
namespace {

void Must(const Status& status) {
  if (!status.ok()) Fatal("TidesDB: " + status.ToString());
}

template <typename T>
T Must(Result<T> result) {
  Must(result.status());
  return std::move(result).value();
}

class TidesdbCursor : public Cursor {
 public:
  explicit TidesdbCursor(std::unique_ptr<Iterator> it) : it_(std::move(it)) {}
  void Seek(std::string_view key) override { it_->Seek(key); }
  void SeekToFirst() override { it_->SeekToFirst(); }
  void SeekToLast() override { it_->SeekToLast(); }
  void Next() override { it_->Next(); }
  void Prev() override { it_->Prev(); }
  bool Valid() override {
    if (it_->Valid()) return true;
    Must(it_->status());
    return false;
  }
  std::string_view key() override { return it_->key(); }
  std::string_view value() override { return it_->value(); }

 private:
  const std::unique_ptr<Iterator> it_;
};

class TidesdbSession : public Session {
 public:
  TidesdbSession(Db* db, const std::vector<ColumnFamily*>* families)
      : db_(db), families_(families), reader_(db->Begin({})) {}

  void Put(size_t family, std::string_view key, std::string_view value) override {
    Transaction* const writer = Begin();
    Must(writer->Put((*families_)[family], key, value));
    Must(writer->Commit());
  }
  void Replace(std::string_view deleted, std::string_view key, std::string_view value) override {
    Transaction* const writer = Begin();
    Must(writer->Delete(family(), deleted));
    Must(writer->Put(family(), key, value));
    Must(writer->Commit());
  }
  void Increment(std::string_view key, const Change& change) override {
    Transaction* const writer = Begin();
    const bool there =
        Must(writer->GetForUpdate(family(), key, LockMode::kExclusive, LockWait::kWait, &pinned_));
    Require(there, "TidesDB: a key to be changed is missing");
    changed_.assign(pinned_.slice());
    pinned_.Reset();
    change(&changed_);
    Must(writer->Put(family(), key, changed_));
    Must(writer->Commit());
  }
  void PutAll(uint64_t count, const EntryAt& entry) override {
    Transaction* const writer = Begin();
    std::string_view key;
    std::string_view value;
    for (uint64_t at = 0; at < count; ++at) {
      entry(at, &key, &value);
      Must(writer->Put(family(), key, value));
    }
    Must(writer->Commit());
  }
  bool Get(size_t family, std::string_view key, std::string_view* value) override {
    const bool there = Must(reader_->Get((*families_)[family], key, &pinned_));
    *value = pinned_.slice();
    return there;
  }
  std::unique_ptr<Cursor> NewCursor(size_t family) override {
    return std::make_unique<TidesdbCursor>(reader_->NewIterator((*families_)[family], {}));
  }

 private:
  ColumnFamily* family() const { return families_->front(); }

  // A transaction without writes yet, in the memory of the previous one.
  Transaction* Begin() {
    if (writer_ == nullptr) {
      writer_ = db_->Begin({});
    } else {
      Must(writer_->Restart({}));
    }
    return writer_.get();
  }

  Db* const db_;
  const std::vector<ColumnFamily*>* const families_;
  const std::unique_ptr<Transaction> reader_;  // Without a snapshot: sees the newest commits.
  std::unique_ptr<Transaction> writer_;        // Null before the first write.
  PinnedValue pinned_;
  std::string changed_;
};

Options MakeOptions(const StoreOptions& options) {
  Options made;
  made.memory_max_bytes = options.budget_bytes;
  made.block_cache_bytes = options.cache_bytes;
  // From a quarter of the budget on, table files bypass the page cache.
  const bool direct_io = made.block_cache_bytes >= made.memory_max_bytes / 16 * 4;
  Require(direct_io == options.direct_io, "TidesDB: this cache size does not allow direct I/O");
  made.memtable_bytes = options.memtable_bytes;
  made.sync_mode = options.sync ? SyncMode::kFull : SyncMode::kNone;
  made.flush_threads = 1;
  made.compaction_threads = 2;
  made.open_files_max = 2048;
  return made;
}

class TidesdbStore : public Store {
 public:
  explicit TidesdbStore(const StoreOptions& options)
      : options_(options), db_(Must(Db::Open(MakeOptions(options), options.directory))) {
    Require(db_->options().memtable_bytes == options.memtable_bytes &&
                db_->options().block_cache_bytes == options.cache_bytes,
            "TidesDB: the memory was reduced, so the engines are not comparable");
    families_ = db_->ListFamilies();
    if (families_.empty()) CreateFamily();
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<TidesdbSession>(db_.get(), &families_);
  }
  void CreateFamily() override {
    ColumnFamilyOptions made;
    made.name = std::to_string(families_.size());
    made.compression = Compression::kNone;
    made.block_bytes = options_.block_bytes;
    families_.push_back(Must(db_->CreateFamily(made)));
  }
  size_t families() override { return families_.size(); }
  void Settle() override {
    Must(db_->Flush());
    for (;;) {
      const DbStats stats = db_->GetStats();
      if (stats.compactions_wanted == 0 && stats.compactions_running == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void Close() override { Must(db_->Close()); }

 private:
  const StoreOptions options_;
  const std::unique_ptr<Db> db_;
  std::vector<ColumnFamily*> families_;  // By id, in order of creation.
};

}  // namespace

Engine TidesdbEngine() {
  return {"TidesDB", kVersion, [](const StoreOptions& options) -> std::unique_ptr<Store> {
            return std::make_unique<TidesdbStore>(options);
          }};
}

}  // namespace tidesdb::bench
