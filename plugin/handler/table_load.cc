#include "handler/table_load.h"

#include <algorithm>

namespace tidesdb::plugin {

Result<std::unique_ptr<TableLoad>> TableLoad::Begin(Db* db, THD* thd,
                                                    const std::vector<ColumnFamily*>& families,
                                                    uint64_t memory_bytes) {
  std::unique_ptr<TableLoad> load(new TableLoad(db, thd));  // NOLINT: private constructor.
  load->rows_family_ = families[kRows];
  load->entries_.resize(families.size());
  for (size_t i = 0; i < families.size(); i++) {
    LoadOptions options;
    options.memory_bytes = memory_bytes / families.size();
    options.on_written = [self = load.get(), i](uint64_t entries) {
      return self->Written(i, entries);
    };
    TIDESDB_ASSIGN(std::unique_ptr<Load> one, db->BeginLoad(families[i], options));
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
    // Where runs are merged, entries are written more than once.
    sort_stage_->Done(sorted_ + std::min(entries - of.written_early, of.added));
  }
  return thd_kill_level(thd_) == THD_IS_NOT_KILLED ? Status::Ok()
                                                   : Status::Interrupted("ALTER TABLE was killed");
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

Status TableLoad::Commit() {
  copy_stage_ = nullptr;
  uint64_t all = 0;
  for (const Entries& of : entries_) all += of.added;
  Stage stage(thd_, StageOf::kLoadSort, all);
  sort_stage_ = &stage;
  Status status;
  for (size_t i = 0; i < loads_.size() && status.ok(); i++) {
    status = Note(i, loads_[i]->Commit());
    if (!status.ok()) break;
    rows_there_ = true;
    sorted_ += entries_[i].added;
    stage.Done(sorted_);
  }
  sort_stage_ = nullptr;
  return status;
}

bool TableLoad::FindRow(Slice primary_key, PinnedValue* row) {
  if (!rows_there_ && !loads_[kRows]->Commit().ok()) return false;
  rows_there_ = true;
  const auto transaction = db_->Begin({});
  const auto found = transaction->Get(rows_family_, primary_key, row);
  return found.ok() && *found;
}

}  // namespace tidesdb::plugin
