#include "handler/index_builder.h"

#include <algorithm>

#include "codec/row_codec.h"

namespace tidesdb::plugin {
namespace {

constexpr uint64_t kRowsBetweenLooks =
    1000;  // Whether the statement was killed, and how far it is.
// What one transaction writes: a writer waits for no longer than its commit.
constexpr size_t kBatchEntries = 4000;
constexpr size_t kBatchBytes = 1 << 20;
constexpr uint64_t kEntryOverhead = 96;  // Of memory.

Status Look(THD* thd) {
  if (thd_kill_level(thd) == THD_IS_NOT_KILLED) return Status::Ok();
  return Status::Interrupted("ALTER TABLE was killed");
}

}  // namespace

IndexBuilder::IndexBuilder(Db* db, const TableCodec* codec, ColumnFamily* rows,
                           std::shared_ptr<IndexBuild> build, uint64_t bytes_max)
    : db_(db), codec_(codec), rows_(rows), build_(std::move(build)), bytes_max_(bytes_max) {
  for (const IndexBuild::Index& index : build_->indexes) works_.emplace_back().index = index;
}

Status IndexBuilder::Run(THD* thd, uchar* record, uint64_t rows_about) {
  std::vector<bool> wanted;
  for (uint i = 0; i < codec_->rows().columns().size(); i++) {
    wanted.push_back(std::any_of(works_.begin(), works_.end(), [&](const Work& work) {
      return build_->codec->is_made_from(work.index.key_number, i);
    }));
  }
  RowPlan plan;
  plan.Build(codec_->rows(), wanted);
  const auto transaction = db_->Begin({});
  transaction->SetSnapshot();
  ScanOptions options;
  options.fill_cache = false;
  const auto scan = transaction->NewIterator(rows_, options);
  uint64_t rows = 0;
  for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
    if (rows++ % kRowsBetweenLooks == 0) {
      TIDESDB_TRY(Look(thd));
      thd_progress_report(thd, rows, std::max(rows, rows_about));
    }
    TIDESDB_TRY(plan.Decode(scan->value(), record));
    if (!codec_->RestorePrimaryKey(scan->key(), record)) {
      return Status::Corruption("a row's key is damaged");
    }
    TIDESDB_TRY(AddRow(scan->key(), record));
    if (bytes_ >= bytes_max_) TIDESDB_TRY(WriteAll(thd));
  }
  TIDESDB_TRY(scan->status());
  return WriteAll(thd);
}

Status IndexBuilder::AddRow(Slice primary_key, const uchar* record) {
  for (Work& work : works_) {
    build_->codec->Entry(work.index.key_number, record, primary_key, &key_, &value_);
    bytes_ += key_.size() + value_.size() + kEntryOverhead;
    work.entries.emplace_back(key_, value_);
  }
  return Status::Ok();
}

Status IndexBuilder::WriteAll(THD* thd) {
  for (Work& work : works_) TIDESDB_TRY(Write(thd, &work));
  bytes_ = 0;
  return Status::Ok();
}

Status IndexBuilder::Write(THD* thd, Work* work) {
  std::sort(work->entries.begin(), work->entries.end());
  for (size_t from = 0; from < work->entries.size();) {
    TIDESDB_TRY(Look(thd));
    size_t to = from;
    TIDESDB_TRY(WriteBatch(work, from, &to));
    from = to;
  }
  work->written |= !work->entries.empty();
  work->entries.clear();
  return Status::Ok();
}

Status IndexBuilder::WriteBatch(Work* work, size_t from, size_t* to) {
  const auto transaction = db_->Begin({});
  size_t bytes = 0;
  for (; *to < work->entries.size() && *to - from < kBatchEntries && bytes < kBatchBytes; ++*to) {
    const Entry& entry = work->entries[*to];
    bytes += entry.first.size() + entry.second.size();
    if (build_->online) {
      TIDESDB_TRY(PutBesideWriters(transaction.get(), work, entry));
      continue;
    }
    TIDESDB_TRY(CheckUnique(transaction.get(), *work, *to));
    TIDESDB_TRY(transaction->PutUnderLock(work->index.entries, entry.first, entry.second));
  }
  return transaction->Commit();
}

// Until the commit nobody else can touch the entry; who does then comes later, and stays.
Status IndexBuilder::PutBesideWriters(Transaction* transaction, Work* work, const Entry& entry) {
  auto touched = transaction->GetForUpdate(work->index.touched, entry.first, LockMode::kExclusive,
                                           LockWait::kNoWait, &found_);
  if (!touched.ok()) {
    if (touched.status().code() != Code::kTimedOut) return touched.status();
    work->deferred.push_back(entry);
    return Status::Ok();
  }
  if (*touched) return Status::Ok();
  return transaction->PutUnderLock(work->index.entries, entry.first, entry.second);
}

// Of entries that are the same those of one batch of memory are neighbours.
Status IndexBuilder::CheckUnique(Transaction* transaction, const Work& work, size_t at) {
  if (!build_->codec->is_unique(work.index.key_number)) return Status::Ok();
  const Entry& entry = work.entries[at];
  if (at > 0 && work.entries[at - 1].first == entry.first) return Duplicate(work, entry);
  if (!work.written) return Status::Ok();
  TIDESDB_ASSIGN(const bool found, transaction->Get(work.index.entries, entry.first, &found_));
  return found ? Duplicate(work, entry) : Status::Ok();
}

Status IndexBuilder::Duplicate(const Work& work, const Entry& entry) {
  Slice primary_key;
  if (!build_->codec->PrimaryKeyOfEntry(work.index.key_number, entry.first, entry.second, &key_,
                                        &primary_key)) {
    return Status::Corruption("an index entry is damaged");
  }
  duplicate_ = work.index.key_number;
  duplicate_row_.assign(primary_key);
  return Status::AlreadyExists("two rows have the same key");
}

Status IndexBuilder::Finish() {
  for (Work& work : works_) {
    const auto transaction = db_->Begin({});
    for (const Entry& entry : work.deferred) {
      TIDESDB_ASSIGN(const bool touched,
                     transaction->Get(work.index.touched, entry.first, &found_));
      if (touched) continue;
      TIDESDB_TRY(transaction->PutUnderLock(work.index.entries, entry.first, entry.second));
    }
    TIDESDB_TRY(transaction->Commit());
    work.deferred.clear();
  }
  return Status::Ok();
}

}  // namespace tidesdb::plugin
