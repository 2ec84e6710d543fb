#include "handler/table_load.h"

#include <algorithm>

namespace tidesdb::plugin {

Result<std::unique_ptr<TableLoad>> TableLoad::Begin(Db* db, Transaction* transaction, THD* thd,
                                                    const std::vector<ColumnFamily*>& families,
                                                    uint64_t memory_bytes) {
  const bool in_transaction = transaction != nullptr;
  std::unique_ptr<TableLoad> load(new TableLoad(thd, in_transaction));  // NOLINT: private.
  load->entries_.resize(families.size());
  for (size_t i = 0; i < families.size(); i++) {
    LoadOptions options;
    options.memory_bytes = memory_bytes / families.size();
    options.on_written = [self = load.get(), i](uint64_t entries) {
      return self->Written(i, entries);
    };
    TIDESDB_ASSIGN(std::unique_ptr<Load> one, transaction == nullptr
                                                  ? db->BeginLoad(families[i], options)
                                                  : transaction->BeginLoad(families[i], options));
    load->loads_.push_back(std::move(one));
  }
  return load;
}

Status TableLoad::Note(size_t family, Status status) {
  if (status.code() == Code::kAlreadyExists) duplicate_ = family;
  return status;
}

Status TableLoad::Written(size_t family, uint64_t entries) {
  Entries& of = entries_[family];
  if (sort_stage_ == nullptr) {
    of.written_early = entries;
  } else {
    // A merge of runs writes entries more than once.
    sort_stage_->Done(sorted_ + std::min(entries - of.written_early, of.added));
  }
  return IsKilled(thd_) ? Status::Interrupted("the statement was killed") : Status::Ok();
}

void TableLoad::CountRow(uint64_t rows_about) {
  if (copy_stage_ == nullptr) {
    copy_stage_ = std::make_unique<Stage>(thd_, StageOf::kCopyRows, rows_about);
  }
  copy_stage_->Done(static_cast<uint64_t>(++rows_));
}

Status TableLoad::Add(size_t family, Slice key, Slice value) {
  entries_[family].added++;
  return Note(family, loads_[family]->Add(key, value));
}

Status TableLoad::Finish(size_t family) {
  if (entries_[family].sorted) return Status::Ok();
  TIDESDB_TRY(Note(family, loads_[family]->Finish()));
  entries_[family].sorted = true;
  return Status::Ok();
}

Status TableLoad::Commit() {
  copy_stage_ = nullptr;
  uint64_t all = 0;
  for (const Entries& of : entries_) all += of.added;
  Stage stage(thd_, StageOf::kLoadSort, all);
  sort_stage_ = &stage;
  Status status;
  for (size_t i = 0; i < loads_.size() && status.ok(); i++) {
    status = Finish(i);
    sorted_ += entries_[i].added;
    stage.Done(sorted_);
  }
  // Only when no duplicate is possible any more.
  for (size_t i = 0; i < loads_.size() && status.ok(); i++) status = loads_[i]->Commit();
  sort_stage_ = nullptr;
  return status;
}

Result<bool> TableLoad::Find(size_t family, Slice key, std::string* value) {
  TIDESDB_TRY(Finish(family));
  return loads_[family]->Find(key, value);
}

}  // namespace tidesdb::plugin
