// Carries out an ALTER TABLE without a copy.
#include "handler/ha_tidesdb.h"

#include <algorithm>

#include "base/guard.h"
#include "base/sysvars.h"
#include "codec/auto_increment.h"
#include "codec/value_reader.h"
#include "dictionary/engine.h"
#include "handler/alter_plan.h"

namespace tidesdb::plugin {

namespace {

// For a build without its own limit.
constexpr uint64_t kBuildBytes = 32 << 20;

}  // namespace

// From here on writers update the new indexes.
bool ha_tidesdb::prepare_inplace_alter_table(TABLE*, Alter_inplace_info* info) noexcept {
  return guard::Run([&] {
           auto* const plan = static_cast<AlterPlan*>(info->handler_ctx);
           const bool counts_anew = (info->create_info->used_fields & HA_CREATE_USED_AUTO) != 0;
           if (plan->added.empty() && !counts_anew) return 0;
           TableChange& change = plan->change;
           if (const int error = CheckNoBranchHolds(change.name)) {
             print_error(error, MYF(0));
             return error;
           }
           if (plan->added.empty()) return 0;
           auto build = std::make_shared<IndexBuild>();
           build->history = change.def.history;
           const Status read = plan->codec->SetHistory(&build->history, build->history.newest());
           if (!read.ok()) return AlterError(read);
           build->codec = plan->codec;
           build->sources = std::move(plan->sources);
           for (const uint key : plan->added) build->indexes.push_back({key, nullptr, nullptr});
           const Status begun = engine->dictionary.BeginBuild(change.name, build);
           if (!begun.ok()) return AlterError(begun);
           change.build = std::move(build);
           auto index = change.build->indexes.begin();
           for (IndexDef& def : change.def.indexes) {
             if (def.family == 0) def.family = (index++)->entries->id();
           }
           if (const int error = open_.Bind()) return error;
           THD* const thd = ha_thd();
           const uint64_t staging = sysvars::StagingBytes(thd);
           plan->builder =
               std::make_unique<IndexBuilder>(engine->db.get(), open_.state.get(), change.build);
           const Status taken = plan->builder->Begin(thd, staging == 0 ? kBuildBytes : staging);
           return taken.ok() ? 0 : AlterError(taken);
         }) != 0;
}

bool ha_tidesdb::inplace_alter_table(TABLE* altered_table, Alter_inplace_info* info) noexcept {
  return guard::Run([&] {
           auto* const plan = static_cast<AlterPlan*>(info->handler_ctx);
           if (plan->builder == nullptr) return 0;
           const auto rows_about = static_cast<uint64_t>(std::max<int64_t>(0, open_.state->rows));
           const Status built = plan->builder->Run(altered_table, rows_about);
           return built.ok() ? 0 : BuildError(altered_table, *plan->builder, built);
         }) != 0;
}

int ha_tidesdb::BuildError(TABLE* altered, const IndexBuilder& builder, const Status& status) {
  if (status.code() != Code::kAlreadyExists) return AlterError(status);
  PrintDuplicate(altered, builder);
  return 1;
}

int ha_tidesdb::AlterError(const Status& status) {
  if (ha_thd()->is_error()) return 1;  // The client has been told.
  if (status.code() == Code::kInterrupted) {
    my_error(ER_QUERY_INTERRUPTED, MYF(0));
  } else {
    my_printf_error(ER_GET_ERRMSG, "TidesDB: %s", MYF(0), status.ToString().c_str());
  }
  return 1;
}

// The server reads the key's values from the new definition's record.
void ha_tidesdb::PrintDuplicate(TABLE* altered, const IndexBuilder& builder) {
  const IndexBuild::Duplicate& duplicate = builder.duplicate();
  const TableCodec& codec = builder.codec();
  KEY* const key = &altered->key_info[duplicate.key_number];
  uchar* const record = altered->record[0];
  std::string buffer;
  Slice primary_key;
  PinnedValue row;
  ValueReader values;  // The record's blobs point into it.
  RowPlan plan;
  plan.Build(codec.rows(), std::vector<bool>(altered->s->fields, true));
  std::vector<ApartValue> apart;
  const auto transaction = engine->db->Begin({});
  const auto found = codec.PrimaryKeyOfEntry(duplicate.key_number, duplicate.key, duplicate.value,
                                             &buffer, &primary_key)
                         ? transaction->Get(builder.rows(), primary_key, &row)
                         : Result<bool>(false);
  bool restored =
      found.ok() && *found && plan.Decode(row.slice(), record, &apart).ok() &&
      values.Read(transaction.get(), open_.state->values, codec.rows(), apart, record).ok() &&
      codec.RestorePrimaryKey(primary_key, record);
  for (uint i = 0; restored && i < key->user_defined_key_parts; i++) {
    Field* const field = altered->field[key->key_part[i].fieldnr - 1];
    if (!field->stored_in_db()) restored = altered->update_virtual_field(field, true) == 0;
  }
  if (!restored) {
    // The row was not committed.
    restored = true;
    for (uint i = 0; i < key->user_defined_key_parts; i++) {
      restored &= codec.gives_back(duplicate.key_number, key->key_part[i].fieldnr - 1);
    }
    restored = restored &&
               codec.RestoreEntry(duplicate.key_number, duplicate.key, duplicate.value, record);
  }
  if (restored) {
    print_keydup_error(altered, key, MYF(0));
  } else {
    my_error(ER_DUP_UNKNOWN_IN_INDEX, MYF(0), key->name.str);
  }
}

// For AUTO_INCREMENT = n: counts from n, or from above the largest existing value.
Status ha_tidesdb::RestartAutoIncrement(const HA_CREATE_INFO& info, TableDef* def) {
  Field* const field = table->found_next_number_field;
  if ((info.used_fields & HA_CREATE_USED_AUTO) == 0 || field == nullptr) return Status::Ok();
  const uint number = table_share->next_number_index;
  const bool descending =
      (table->key_info[number].key_part[0].key_part_flag & HA_REVERSE_SORT) != 0;
  uint64_t next = std::max<uint64_t>(info.auto_increment_value, 1);
  const auto transaction = engine->db->Begin({});
  const auto entries = transaction->NewIterator(open_.families[number], {});
  if (descending) {
    entries->SeekToFirst();
  } else {
    entries->SeekToLast();
  }
  if (entries->Valid()) {
    uchar* const record = table->record[0];
    if (!(open_.codec.is_primary(number)
              ? open_.codec.RestorePrimaryKey(entries->key(), record)
              : open_.codec.RestoreEntry(number, entries->key(), entries->value(), record))) {
      return Status::Corruption("the largest AUTO_INCREMENT value is damaged");
    }
    const uint64_t max = field->get_max_int_value();
    const uint64_t used = field->val_uint();
    if (used <= max) next = std::max(next, NextAutoIncrement(used, 1, 1, 0, max));
  }
  TIDESDB_TRY(entries->status());
  def->auto_increment_base = next;
  def->auto_increment_generation++;
  return Status::Ok();
}

// All partitions in one step: after a crash either all have changed or none.
bool ha_tidesdb::commit_inplace_alter_table(TABLE* altered_table, Alter_inplace_info* info,
                                            bool commit) noexcept {
  return guard::Run([&] {
           if (!commit) {
             auto* const plan = static_cast<AlterPlan*>(info->handler_ctx);
             if (plan == nullptr || plan->change.build == nullptr) return 0;
             plan->builder = nullptr;
             const Status dropped = engine->dictionary.GiveUpBuild(plan->change.build.get());
             return dropped.ok() ? 0 : AlterError(dropped);
           }
           std::vector<TableChange> changes;
           inplace_alter_handler_ctx* alone[] = {info->handler_ctx, nullptr};
           inplace_alter_handler_ctx** plans = info->group_commit_ctx;
           for (plans = plans != nullptr ? plans : alone; *plans != nullptr; plans++) {
             auto* const plan = static_cast<AlterPlan*>(*plans);
             const Status restarted = RestartAutoIncrement(*info->create_info, &plan->change.def);
             if (!restarted.ok()) return AlterError(restarted);
             changes.push_back(plan->change);
             const auto changed_table = engine->dictionary.Find(plan->change.name);
             if (!changed_table.ok()) return AlterError(changed_table.status());
             // It may lose indexes that are being measured.
             if (*changed_table != nullptr) engine->statistics.Withdraw(**changed_table);
             if (plan->builder == nullptr) continue;
             // Its writes may be duplicates that no later check would find.
             if (plan->builder->any_unique()) {
               if (const int error = CheckNoBranchHolds(plan->change.name)) {
                 print_error(error, MYF(0));
                 return error;
               }
             }
             const Status finished = plan->builder->Finish();
             if (!finished.ok()) return BuildError(altered_table, *plan->builder, finished);
             plan->builder = nullptr;
           }
           info->group_commit_ctx = nullptr;
           const Status changed = engine->dictionary.Change(changes);
           return changed.ok() ? 0 : AlterError(changed);
         }) != 0;
}

}  // namespace tidesdb::plugin
