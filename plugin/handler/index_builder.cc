#include "handler/index_builder.h"

#include <algorithm>

#include "base/stage.h"
#include "codec/value_reader.h"
#include "handler/open_table.h"

namespace tidesdb::plugin {
namespace {

constexpr uint64_t kRowsBetweenLooks =
    1000;                    // Rows between checks for KILL, and updates of the progress.
constexpr uint kStages = 2;  // Reading rows; sorting entries.

ScanOptions ReadOnce() {
  ScanOptions options;
  options.fill_cache = false;
  return options;
}

}  // namespace

IndexBuilder::IndexBuilder(Db* db, const TableState* table, std::shared_ptr<IndexBuild> build)
    : db_(db), rows_(table->primary), values_(table->values), build_(std::move(build)) {
  for (const IndexBuild::Index& index : build_->indexes) works_.push_back({index});
}

bool IndexBuilder::any_unique() const {
  return std::any_of(works_.begin(), works_.end(),
                     [](const Work& work) { return work.index.claims != nullptr; });
}

Status IndexBuilder::Look() const {
  if (thd_kill_level(thd_) == THD_IS_NOT_KILLED) return Status::Ok();
  return Status::Interrupted("ALTER TABLE was killed");
}

Status IndexBuilder::Begin(THD* thd, uint64_t memory_bytes) {
  thd_ = thd;
  snapshot_ = db_->Begin({});
  snapshot_->SetSnapshot();
  for (Work& work : works_) {
    LoadOptions options;
    options.memory_bytes = memory_bytes / works_.size();
    options.on_written = [this, &work](uint64_t entries) {
      if (sort_stage_ == nullptr) {
        work.written_early = entries;
      } else {
        // A merge of runs writes entries more than once.
        sort_stage_->Done(written_ + std::min(entries - work.written_early, rows_read_));
      }
      return Look();
    };
    TIDESDB_ASSIGN(work.load, db_->BeginLoad(work.index.entries, options));
  }
  return Status::Ok();
}

Status IndexBuilder::Run(TABLE* altered, uint64_t rows_about) {
  thd_progress_init(thd_, kStages);
  const auto run = [&]() -> Status {
    TIDESDB_TRY(ReadRows(altered, rows_about));
    thd_progress_next_stage(thd_);
    TIDESDB_TRY(SortAll());
    build_->loaded = true;
    claims_known_ = db_->Begin({});
    claims_known_->SetSnapshot();
    TIDESDB_TRY(CheckAllClaims(nullptr));
    return CheckWriters();
  };
  Status status = run();
  thd_progress_end(thd_);
  return status;
}

Status IndexBuilder::ReadRows(TABLE* altered, uint64_t rows_about) {
  std::vector<Field*> virtual_columns;
  std::vector<bool> wanted(altered->s->fields, false);
  for (uint i = 0; i < altered->s->fields; i++) {
    const auto has = [&](const Work& work) {
      return codec().is_made_from(work.index.key_number, i);
    };
    if (std::none_of(works_.begin(), works_.end(), has)) continue;
    wanted[i] = true;
    AddBaseColumns(*altered, i, &wanted);
    if (!altered->field[i]->stored_in_db()) virtual_columns.push_back(altered->field[i]);
  }
  RowPlan plan;
  plan.Build(codec().rows(), wanted);
  uchar* const record = altered->record[0];
  const auto scan = snapshot_->NewIterator(rows_, ReadOnce());
  Stage stage(thd_, StageOf::kIndexRead, rows_about);
  std::vector<ApartValue> apart;
  ValueReader values;
  for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
    stage.Done(++rows_read_);
    if (rows_read_ % kRowsBetweenLooks == 1) {
      TIDESDB_TRY(Look());
      TIDESDB_TRY(CheckWriters());
      thd_progress_report(thd_, rows_read_, std::max(rows_read_, rows_about));
    }
    TIDESDB_TRY(plan.Decode(scan->value(), record, &apart));
    TIDESDB_ASSIGN(const bool whole,
                   values.Read(snapshot_.get(), values_, codec().rows(), apart, record));
    if (!whole) return Status::Corruption(ValueMissing(scan->key()));
    if (!codec().RestorePrimaryKey(scan->key(), record)) {
      return Status::Corruption("a row's key is damaged");
    }
    for (Field* field : virtual_columns) {
      if (altered->update_virtual_field(field, false) != 0) {
        return Status::InvalidArgument("a virtual column has no value");
      }
    }
    TIDESDB_TRY(AddRow(scan->key(), record));
  }
  return scan->status();
}

Status IndexBuilder::AddRow(Slice primary_key, const uchar* record) {
  for (Work& work : works_) {
    build_->codec->Entry(work.index.key_number, record, primary_key, &key_, &value_);
    TIDESDB_TRY(OfLoad(work, work.load->Add(key_, value_)));
  }
  return Status::Ok();
}

Status IndexBuilder::SortAll() {
  Stage stage(thd_, StageOf::kLoadSort, rows_read_ * works_.size());
  sort_stage_ = &stage;
  Status status;
  for (Work& work : works_) {
    if (status.ok()) status = Sort(&work);
    if (status.ok()) stage.Done(written_);
  }
  sort_stage_ = nullptr;
  return status;
}

Status IndexBuilder::Sort(Work* work) {
  TIDESDB_TRY(OfLoad(*work, work->load->Finish()));
  written_ += rows_read_;
  thd_progress_report(thd_, written_, std::max<uint64_t>(1, rows_read_ * works_.size()));
  TIDESDB_TRY(work->load->Commit());
  work->load = nullptr;
  return Status::Ok();
}

Status IndexBuilder::OfLoad(const Work& work, Status status) {
  if (status.code() != Code::kAlreadyExists) return status;
  return Duplicate(work, work.load->duplicate_key(), work.load->duplicate_value());
}

Status IndexBuilder::Duplicate(const Work& work, Slice key, Slice value) {
  duplicate_ = {work.index.key_number, std::string(key), std::string(value)};
  return Status::AlreadyExists("two rows have the same key");
}

Status IndexBuilder::CheckAllClaims(Transaction* known) {
  if (!any_unique()) return Status::Ok();
  Stage stage(thd_, StageOf::kIndexCheck, 0);
  uint64_t claims = 0;
  for (const Work& work : works_) TIDESDB_TRY(CheckClaims(work, known, &stage, &claims));
  return Status::Ok();
}

Status IndexBuilder::CheckClaims(const Work& work, Transaction* known, Stage* stage,
                                 uint64_t* count) {
  if (work.index.claims == nullptr) return Status::Ok();
  const auto now = db_->Begin({});
  const auto claims = now->NewIterator(work.index.claims, ReadOnce());
  std::unique_ptr<Iterator> before;
  if (known != nullptr) {
    before = known->NewIterator(work.index.claims, ReadOnce());
    before->SeekToFirst();
  }
  for (claims->SeekToFirst(); claims->Valid(); claims->Next()) {
    if (++*count % kRowsBetweenLooks == 1) TIDESDB_TRY(Look());
    stage->Done(*count);
    // A claim is never removed.
    if (before != nullptr && before->Valid() && before->key() == claims->key()) {
      before->Next();
      continue;
    }
    TIDESDB_TRY(CheckClaim(work, claims->key(), claims->value()));
  }
  if (before != nullptr) TIDESDB_TRY(before->status());
  return claims->status();
}

Status IndexBuilder::CheckClaim(const Work& work, Slice key, Slice claim) {
  if (claim.empty()) return Status::Corruption("a claim of an index entry is damaged");
  if (claim[0] != IndexBuild::kPutFirst) return Status::Ok();
  TIDESDB_ASSIGN(const bool found, snapshot_->Get(work.index.entries, key, &found_));
  if (!found) return Status::Ok();
  Slice put_by;
  Slice had_by;
  std::string buffer;
  if (!build_->codec->PrimaryKeyOfEntry(work.index.key_number, key, claim.substr(1), &key_,
                                        &put_by) ||
      !build_->codec->PrimaryKeyOfEntry(work.index.key_number, key, found_.slice(), &buffer,
                                        &had_by)) {
    return Status::Corruption("an index entry is damaged");
  }
  return put_by == had_by ? Status::Ok() : Duplicate(work, key, found_.slice());
}

Status IndexBuilder::CheckWriters() {
  std::string why;
  if (build_->FindNoValue(&why)) {
    return Status::InvalidArgument("a virtual column of a new row has no value: " + why);
  }
  if (!build_->FindDuplicate(&duplicate_)) return Status::Ok();
  return Status::AlreadyExists("a writer made two rows have the same key");
}

Status IndexBuilder::Finish() {
  TIDESDB_TRY(CheckWriters());
  return CheckAllClaims(claims_known_.get());
}

}  // namespace tidesdb::plugin
