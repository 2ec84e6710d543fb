#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/bench/fatal.h"
#include "tools/bench/store.h"

#define TIDESDB_TEXT_OF(text) #text
#define TIDESDB_JOIN(major, minor, patch) \
  TIDESDB_TEXT_OF(major) "." TIDESDB_TEXT_OF(minor) "." TIDESDB_TEXT_OF(patch)

namespace tidesdb::bench {
namespace {

using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

void Must(const rocksdb::Status& status) {
  if (!status.ok()) Fatal("RocksDB: " + status.ToString());
}

rocksdb::Slice To(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view From(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

class RocksdbCursor : public Cursor {
 public:
  explicit RocksdbCursor(rocksdb::Iterator* it) : it_(it) {}
  void Seek(std::string_view key) override { it_->Seek(To(key)); }
  void SeekToFirst() override { it_->SeekToFirst(); }
  void SeekToLast() override { it_->SeekToLast(); }
  void Next() override { it_->Next(); }
  void Prev() override { it_->Prev(); }
  bool Valid() override {
    if (it_->Valid()) return true;
    Must(it_->status());
    return false;
  }
  std::string_view key() override { return From(it_->key()); }
  std::string_view value() override { return From(it_->value()); }

 private:
  const std::unique_ptr<rocksdb::Iterator> it_;
};

class RocksdbSession : public Session {
 public:
  // transactions: null unless the database was opened with transactions.
  RocksdbSession(rocksdb::DB* db, rocksdb::TransactionDB* transactions, const Handles* families,
                 bool sync)
      : db_(db), transactions_(transactions), families_(families) {
    write_.sync = sync;
  }

  void Put(size_t family, std::string_view key, std::string_view value) override {
    Must(db_->Put(write_, (*families_)[family], To(key), To(value)));
  }
  void Replace(std::string_view deleted, std::string_view key, std::string_view value) override {
    batch_.Clear();
    Must(batch_.Delete(families_->front(), To(deleted)));
    Must(batch_.Put(families_->front(), To(key), To(value)));
    Must(db_->Write(write_, &batch_));
  }
  void Increment(std::string_view key, const Change& change) override {
    Require(transactions_ != nullptr, "RocksDB: not opened with transactions");
    rocksdb::Transaction* const used = transactions_->BeginTransaction(write_, {}, writer_.get());
    if (used != writer_.get()) writer_.reset(used);
    pinned_.Reset();
    Must(used->GetForUpdate({}, families_->front(), To(key), &pinned_));
    changed_.assign(pinned_.data(), pinned_.size());
    change(&changed_);
    Must(used->Put(families_->front(), To(key), To(changed_)));
    Must(used->Commit());
  }
  void PutAll(uint64_t count, const EntryAt& entry) override {
    rocksdb::WriteBatch batch;
    std::string_view key;
    std::string_view value;
    for (uint64_t at = 0; at < count; ++at) {
      entry(at, &key, &value);
      Must(batch.Put(families_->front(), To(key), To(value)));
    }
    Must(db_->Write(write_, &batch));
  }
  bool Get(size_t family, std::string_view key, std::string_view* value) override {
    pinned_.Reset();
    const rocksdb::Status status = db_->Get(read_, (*families_)[family], To(key), &pinned_);
    if (status.IsNotFound()) return false;
    Must(status);
    *value = From(pinned_);
    return true;
  }
  std::unique_ptr<Cursor> NewCursor(size_t family) override {
    return std::make_unique<RocksdbCursor>(db_->NewIterator(read_, (*families_)[family]));
  }

 private:
  rocksdb::DB* const db_;
  rocksdb::TransactionDB* const transactions_;
  const Handles* const families_;
  rocksdb::WriteOptions write_;
  const rocksdb::ReadOptions read_;
  rocksdb::WriteBatch batch_;
  std::unique_ptr<rocksdb::Transaction> writer_;
  rocksdb::PinnableSlice pinned_;
  std::string changed_;
};

rocksdb::ColumnFamilyOptions FamilyOptions(const StoreOptions& options) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.cache_bytes);
  table.block_size = options.block_bytes;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));  // As ours: 1 % false positives.
  rocksdb::ColumnFamilyOptions made;
  made.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  made.compression = rocksdb::kNoCompression;
  made.write_buffer_size = options.memtable_bytes;
  made.max_write_buffer_number = 4;
  made.level_compaction_dynamic_level_bytes = true;
  made.max_bytes_for_level_base = 4 * options.memtable_bytes;
  made.target_file_size_base = 32 << 20;
  return made;
}

rocksdb::DBOptions MakeOptions(const StoreOptions& options) {
  rocksdb::DBOptions made;
  made.create_if_missing = true;
  made.db_write_buffer_size = 4 * options.memtable_bytes;  // Of all families.
  made.max_background_jobs = 3;
  made.max_open_files = 2048;
  made.use_direct_reads = options.direct_io;
  made.use_direct_io_for_flush_and_compaction = options.direct_io;
  made.info_log_level = rocksdb::WARN_LEVEL;
  return made;
}

class RocksdbStore : public Store {
 public:
  explicit RocksdbStore(const StoreOptions& options)
      : options_(options), family_options_(FamilyOptions(options)) {
    const rocksdb::DBOptions made = MakeOptions(options);
    std::vector<std::string> names;
    const bool there =
        rocksdb::DB::ListColumnFamilies(made, options.directory, &names).ok() && !names.empty();
    if (!there) names = {rocksdb::kDefaultColumnFamilyName};
    std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
    for (const std::string& name : names) wanted.emplace_back(name, family_options_);
    if (options.transactional) {
      Must(rocksdb::TransactionDB::Open(made, {}, options.directory, wanted, &families_,
                                        &transactions_));
      db_.reset(transactions_);
    } else {
      rocksdb::DB* opened = nullptr;
      Must(rocksdb::DB::Open(made, options.directory, wanted, &families_, &opened));
      db_.reset(opened);
    }
    // Names come in any order; ids are in the order of creation.
    std::sort(families_.begin(), families_.end(),
              [](const auto* a, const auto* b) { return a->GetID() < b->GetID(); });
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<RocksdbSession>(db_.get(), transactions_, &families_, options_.sync);
  }
  void CreateFamily() override {
    rocksdb::ColumnFamilyHandle* made = nullptr;
    Must(db_->CreateColumnFamily(family_options_, std::to_string(families_.size()), &made));
    families_.push_back(made);
  }
  size_t families() override { return families_.size(); }
  void Settle() override {
    Must(db_->Flush({}, families_));
    for (;;) {
      if (Running("rocksdb.num-running-flushes") + Running("rocksdb.num-running-compactions") ==
              0 &&
          !Pending()) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void Close() override {
    for (auto* family : families_) Must(db_->DestroyColumnFamilyHandle(family));
    families_.clear();
    Must(db_->Close());
    db_.reset();
  }

 private:
  uint64_t Running(const char* property) {
    uint64_t value = 0;
    Require(db_->GetIntProperty(property, &value), "RocksDB: no property of this name");
    return value;
  }
  bool Pending() {
    return std::any_of(families_.begin(), families_.end(), [this](auto* family) {
      uint64_t value = 0;
      return db_->GetIntProperty(family, "rocksdb.compaction-pending", &value) && value != 0;
    });
  }

  const StoreOptions options_;
  const rocksdb::ColumnFamilyOptions family_options_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::TransactionDB* transactions_ = nullptr;  // db_ if it has transactions, else null.
  Handles families_;
};

}  // namespace

Engine RocksdbEngine() {
  return {"RocksDB", TIDESDB_JOIN(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH),
          [](const StoreOptions& options) -> std::unique_ptr<Store> {
            return std::make_unique<RocksdbStore>(options);
          }};
}

}  // namespace tidesdb::bench
