// Opening a database: the directory, the tree, transactions.
#include <algorithm>
#include <utility>

#include "db/db_impl.h"
#include "io/file_names.h"
#include "io/huge_pages.h"

namespace tidesdb {
namespace {

// With the caller eight reads at a time: a disk gains little from more, and a batch of sixteen keys takes two turns.
constexpr size_t kReadHelpers = 7;
constexpr uint64_t kStagingBytesMin = 1 << 20;  // Smaller runs cost more than the memory saved.

}  // namespace

Status DbImpl::Start(const std::vector<std::string>& warnings) {
  TIDESDB_TRY(LockDirectory());
  OpenLog();
  for (const std::string& text : warnings) {
    LogF(logger_.get(), LogLevel::kWarn, "%s", text.c_str());
  }
  errors_ = std::make_unique<ErrorState>(logger_.get());
  // What a flush frees, the next memtable takes; more would be missing in the cache.
  KeepSpareHugePages(static_cast<size_t>(options_.memtable_bytes / kHugePageBytes));
  block_cache_ = NewClockCache(plan_.block_cache_bytes, ColumnFamilyOptions().block_bytes);
  scheduler_ = std::make_unique<Scheduler>(env_, options_.instruments);
  readers_ = std::make_unique<HelperThreads>("tdb-read-", kReadHelpers, options_.instruments);
  SequenceNumber last = 0;
  TIDESDB_TRY(OpenTree(&last));
  StartTransactions(last);
  LendMemory();
  if (only_checked_) return Status::Ok();
  StartThreads();
  scheduler_->WakeFlush();
  scheduler_->WakeCompaction();
  if (options_.reload_block_cache) {
    warmer_ = std::make_unique<CacheWarmer>(env_, directory_, block_cache_.get(), logger_.get(),
                                            options_.instruments);
    warmer_->Start(tree_->Families());
  }
  return Status::Ok();
}

Status DbImpl::LockDirectory() {
  TIDESDB_ASSIGN(const bool exists, env_->fs->Exists(directory_));
  if (!exists) {
    if (!options_.create_if_missing) {
      return Status::InvalidArgument("the database directory " + directory_ +
                                     " does not exist, and create_if_missing is off");
    }
    TIDESDB_TRY(env_->fs->CreateDir(directory_));
    TIDESDB_TRY(env_->fs->SyncDir(DirName(directory_)));
  }
  TIDESDB_ASSIGN(directory_lock_, env_->fs->LockFile(LockFileName(directory_)));
  return Status::Ok();
}

void DbImpl::OpenLog() {
  LogSink* sink = options_.log;
  if (sink == nullptr) {
    log_file_ = LogFile::Open(env_->fs, env_->clock, directory_);
    sink = log_file_.get();
  }
  logger_ = std::make_unique<Logger>(sink, options_.log_level);
}

Status DbImpl::OpenTree(SequenceNumber* last) {
  TIDESDB_ASSIGN(const bool exists, LsmTree::Exists(env_->fs, directory_));
  if (!exists && !options_.create_if_missing) {
    return Status::InvalidArgument("there is no database in " + directory_ +
                                   ", and create_if_missing is off");
  }
  LsmOptions options;
  options.env = this;
  options.fs = env_->fs;
  options.directory = directory_;
  options.log = logger_.get();
  options.metrics = &metrics_;
  options.block_cache = block_cache_.get();
  options.open_files_max = static_cast<size_t>(options_.open_files_max);
  options.bypass_page_cache = plan_.bypass_page_cache;
  TIDESDB_ASSIGN(tree_, LsmTree::Open(std::move(options), !exists));
  TIDESDB_ASSIGN(const std::vector<std::string> names, env_->fs->List(directory_));
  tree_->versions().ReserveFileNumbers(MaxFileNumber(names));
  for (const VersionRef& version : tree_->Families()) {
    families_.Add(version->family(), version->options());
  }
  return Replay(last);
}

FileRecord IngestedFileRecord(uint64_t number, uint64_t bytes, const TableProperties& properties,
                              SequenceNumber sequence) {
  FileRecord record;
  record.number = number;
  record.bytes = bytes;
  record.global_sequence = sequence;
  record.properties = properties;
  record.properties.sequence_min = sequence;
  record.properties.sequence_max = sequence;
  if (properties.tombstones != 0) record.properties.tombstone_sequence_min = sequence;
  return record;
}

void DbImpl::StartTransactions(SequenceNumber last) {
  TxnManagerOptions options;
  options.env = this;
  options.fs = env_->fs;
  options.clock = env_->clock;
  options.metrics = &metrics_;
  options.instruments = options_.instruments;
  options.cache = block_cache_.get();
  options.readers = readers_.get();
  options.visible_sequence = last;
  options.lock_wait_timeout_us = options_.lock_wait_timeout_us;
  options.transaction_memory_bytes = options_.transaction_memory_bytes;
  options.staging_bytes = std::max(options_.memtable_bytes, kStagingBytesMin);
  options.spill_files_open_max =
      std::min(options.spill_files_open_max, static_cast<size_t>(options_.open_files_max));
  options.sync_commits = options_.sync_mode == SyncMode::kFull;
  options.prepared_id_max = prepared_id_max_;
  txns_ = TxnManager::New(options);
}

}  // namespace tidesdb
