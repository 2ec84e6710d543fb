#include "handler/table_load.h"

namespace tidesdb::plugin {

Result<std::unique_ptr<TableLoad>> TableLoad::Begin(Db* db, THD* thd,
                                                    const std::vector<ColumnFamily*>& families,
                                                    uint64_t memory_bytes) {
  std::unique_ptr<TableLoad> load(new TableLoad(db));  // NOLINT: private constructor.
  load->rows_family_ = families[kRows];
  for (ColumnFamily* family : families) {
    LoadOptions options;
    options.memory_bytes = memory_bytes / families.size();
    options.on_written = [thd](uint64_t) {
      return thd_kill_level(thd) == THD_IS_NOT_KILLED
                 ? Status::Ok()
                 : Status::Interrupted("ALTER TABLE was killed");
    };
    TIDESDB_ASSIGN(std::unique_ptr<Load> one, db->BeginLoad(family, options));
    load->loads_.push_back(std::move(one));
  }
  return load;
}

Status TableLoad::Note(size_t family, Status status) {
  if (status.code() == Code::kAlreadyExists) duplicate_ = family;
  return status;
}

Status TableLoad::Add(size_t family, Slice key, Slice value) {
  return Note(family, loads_[family]->Add(key, value));
}

Status TableLoad::Commit() {
  for (size_t i = 0; i < loads_.size(); i++) {
    TIDESDB_TRY(Note(i, loads_[i]->Commit()));
    rows_there_ = true;
  }
  return Status::Ok();
}

bool TableLoad::FindRow(Slice primary_key, PinnedValue* row) {
  if (!rows_there_ && !loads_[kRows]->Commit().ok()) return false;
  rows_there_ = true;
  const auto transaction = db_->Begin({});
  const auto found = transaction->Get(rows_family_, primary_key, row);
  return found.ok() && *found;
}

}  // namespace tidesdb::plugin
