// ALTER TABLE without a copy: what changes no stored byte, or only what rows written from now on
// look like. The server copies the table for all else.
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"

namespace tidesdb::plugin {
namespace {

// Changes of the server's own definition.
constexpr alter_table_operations kOfNameOnly =
    ALTER_COLUMN_NAME | ALTER_RENAME_COLUMN | ALTER_RENAME_INDEX | ALTER_RENAME |
    ALTER_CHANGE_COLUMN | ALTER_CHANGE_COLUMN_DEFAULT | ALTER_CHANGE_INDEX_COMMENT |
    ALTER_INDEX_IGNORABILITY | ALTER_DROP_CHECK_CONSTRAINT | ALTER_OPTIONS |
    ALTER_COLUMN_COLUMN_FORMAT | ALTER_PARTITIONED;

// Of the columns: rows get another form.
constexpr alter_table_operations kOfColumns =
    ALTER_ADD_STORED_BASE_COLUMN | ALTER_DROP_STORED_COLUMN | ALTER_STORED_COLUMN_ORDER |
    ALTER_ADD_VIRTUAL_COLUMN | ALTER_DROP_VIRTUAL_COLUMN | ALTER_VIRTUAL_COLUMN_ORDER |
    ALTER_COLUMN_NULLABLE | ALTER_COLUMN_TYPE_CHANGE_BY_ENGINE | ALTER_COLUMN_INDEX_LENGTH;

constexpr alter_table_operations kOfIndexes =
    ALTER_DROP_NON_UNIQUE_NON_PRIM_INDEX | ALTER_DROP_UNIQUE_INDEX | ALTER_INDEX_ORDER;

// Of CREATE TABLE's options those that only describe.
constexpr ulonglong kDescribingOptions =
    HA_CREATE_USED_COMMENT | HA_CREATE_USED_AVG_ROW_LENGTH | HA_CREATE_USED_MAX_ROWS |
    HA_CREATE_USED_MIN_ROWS | HA_CREATE_USED_STATS_PERSISTENT | HA_CREATE_USED_STATS_AUTO_RECALC |
    HA_CREATE_USED_STATS_SAMPLE_PAGES;

// What becomes of the table, worked out while it can still be refused.
class AlterPlan final : public inplace_alter_handler_ctx {
 public:
  TableChange change;
};

// The name that a key had before; the keys that the server matches have the same one but for case.
const LEX_CSTRING& NameBefore(const KEY& key, const Alter_inplace_info& info) {
  for (const auto& rename : info.rename_keys) {
    if (port::SameName(rename.new_key->name, key.name)) return rename.old_key->name;
  }
  return key.name;
}

int KeyBefore(const KEY& key, const TABLE_SHARE& before, const Alter_inplace_info& info) {
  const LEX_CSTRING& name = NameBefore(key, info);
  for (uint i = 0; i < before.keys; i++) {
    if (port::SameName(before.key_info[i].name, name)) return static_cast<int>(i);
  }
  return -1;
}

// For each column the one that it was, or -1. Empty: the server does not say.
std::vector<int> ColumnsBefore(const TABLE& altered, const Alter_inplace_info& info) {
  std::vector<int> columns;
  List_iterator_fast<Create_field> definitions(info.alter_info->create_list);
  while (const Create_field* definition = definitions++) {
    columns.push_back(definition->field != nullptr ? definition->field->field_index : -1);
  }
  if (columns.size() != altered.s->fields) columns.clear();
  return columns;
}

// The value that existing rows get in a new column. Returns: false when it is not one for all rows.
bool EvaluateDefault(Field* field, const Column& column, const uchar* record,
                     ColumnDefault* value) {
  constexpr uint kOnceForAll = VCOL_SESSION_FUNC | VCOL_TIME_FUNC;
  if (field->default_value != nullptr &&
      ((field->default_value->flags & ~kOnceForAll) != 0 ||
       (field->default_value->expr->used_tables() & RAND_TABLE_BIT) != 0)) {
    return false;
  }
  if ((field->flags & (AUTO_INCREMENT_FLAG | VERS_ROW_START | VERS_ROW_END)) != 0) return false;
  field->set_default();
  value->null = IsNull(column, record);
  if (!value->null) value->value.assign(RawValue(column, record));
  return true;
}

const char* WhyNot(alter_table_operations flags) {
  if ((flags & (ALTER_STORED_COLUMN_TYPE | ALTER_VIRTUAL_COLUMN_TYPE)) != 0) {
    return my_get_err_msg(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE);
  }
  if ((flags & ALTER_COLUMN_NOT_NULLABLE) != 0) {
    return my_get_err_msg(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOT_NULL);
  }
  if ((flags & (ALTER_ADD_PK_INDEX | ALTER_DROP_PK_INDEX)) != 0) {
    return "TidesDB: another primary key";
  }
  return nullptr;
}

}  // namespace

// Whether the table's options store it as before.
bool ha_tidesdb::OptionsStay(TABLE* altered, const Alter_inplace_info& info) {
  const ha_table_option_struct* const before = table_share->option_struct;
  const ha_table_option_struct* const after = altered->s->option_struct;
  const bool describes = (info.create_info->used_fields & ~kDescribingOptions) == 0 ||
                         (info.handler_flags & ALTER_OPTIONS) == 0;
  return describes && before != nullptr && after != nullptr &&
         sysvars::SameStorage(*before, *after) && CheckOptions(altered) == 0;
}

// The indexes of the new definition, each with the family that it has.
bool ha_tidesdb::PlanIndexes(const TABLE& altered, const Alter_inplace_info& info, TableDef* def) {
  std::vector<IndexDef> indexes;
  for (uint i = 0; i < altered.s->keys; i++) {
    const KEY& key = altered.s->key_info[i];
    const int before = KeyBefore(key, *table_share, info);
    if (before < 0) return false;
    if (codec_.is_primary(static_cast<uint>(before))) continue;
    const char* const name = table_share->key_info[before].name.str;
    for (const IndexDef& index : def->indexes) {
      if (index.name == name) indexes.push_back({key.name.str, index.family});
    }
  }
  def->indexes = std::move(indexes);
  return true;
}

bool ha_tidesdb::KeysStay(const TABLE& altered, const TableCodec& codec,
                          const std::vector<int>& columns_before, const Alter_inplace_info& info) {
  if (codec.hidden_key() != codec_.hidden_key()) return false;
  for (uint i = 0; i < altered.s->keys; i++) {
    const int before = KeyBefore(altered.s->key_info[i], *table_share, info);
    if (before < 0 || !codec.SameIndex(i, codec_, static_cast<uint>(before), columns_before)) {
      return false;
    }
  }
  return true;
}

// Returns: null, or why it cannot be; "" where the server's own words will do.
const char* ha_tidesdb::PlanColumns(TABLE* altered, const Alter_inplace_info& info, TableDef* def) {
  if (info.error_if_not_empty) return "";
  const std::vector<int> columns_before = ColumnsBefore(*altered, info);
  if (columns_before.size() != altered->s->fields) return "";
  TableCodec codec;
  const Status built = codec.Build(altered);
  if (!built.ok() || !KeysStay(*altered, codec, columns_before, info)) return "";
  std::vector<int> place_before(table_share->fields, -1);
  const std::vector<uint32_t> stored_before = codec_.rows().StoredColumns();
  for (size_t i = 0; i < stored_before.size(); i++)
    place_before[stored_before[i]] = static_cast<int>(i);
  std::vector<ColumnOrigin> origins;
  for (const uint32_t field : codec.rows().StoredColumns()) {
    ColumnOrigin& origin = origins.emplace_back();
    if (const int before = columns_before[field]; before >= 0) {
      origin.before = place_before[static_cast<size_t>(before)];
      if (origin.before < 0) return "";
    } else if (!EvaluateDefault(altered->field[field], codec.rows().columns()[field],
                                altered->record[0], &origin.added)) {
      return "TidesDB: the value of a new column is not the same for all rows";
    }
  }
  const LEX_CUSTRING& frm = table_share->tabledef_version;
  const Slice frm_before(reinterpret_cast<const char*>(frm.str), frm.length);
  if (AddRowVersion(codec_.rows().Describe(), codec.rows().Describe(), std::move(origins),
                    frm_before, &def->history)) {
    return nullptr;
  }
  return "TidesDB: the rows have too many forms already, or a column's bytes change; ALTER TABLE "
         "... FORCE brings all rows to one form";
}

enum_alter_inplace_result ha_tidesdb::check_if_supported_inplace_alter(
    TABLE* altered_table, Alter_inplace_info* info) noexcept {
  enum_alter_inplace_result result = HA_ALTER_INPLACE_NOT_SUPPORTED;
  guard::Run([&] {
    auto* const plan = new (ha_thd()->mem_root) AlterPlan;
    info->handler_ctx = plan;
    if (!OptionsStay(altered_table, *info)) return 0;
    const alter_table_operations flags = info->handler_flags;
    const char* why = WhyNot(flags);
    if ((flags & ~(kOfNameOnly | kOfColumns | kOfIndexes)) == 0) {
      TableDef& def = plan->change.def;
      plan->change.name = name_;
      def = state_->def;
      if (!PlanIndexes(*altered_table, *info, &def)) return 0;
      const LEX_CUSTRING& frm = altered_table->s->tabledef_version;
      def.frm_version.assign(reinterpret_cast<const char*>(frm.str), frm.length);
      why = (flags & ~kOfNameOnly) == 0 ? nullptr : PlanColumns(altered_table, *info, &def);
      if (why == nullptr) result = HA_ALTER_INPLACE_INSTANT;
    }
    if (why != nullptr && *why != '\0') info->unsupported_reason = why;
    return 0;
  });
  return result;
}

// All partitions in one step: a crash finds all of them changed or none.
bool ha_tidesdb::commit_inplace_alter_table(TABLE*, Alter_inplace_info* info,
                                            bool commit) noexcept {
  return guard::Run([&] {
           if (!commit) return 0;
           std::vector<TableChange> changes;
           inplace_alter_handler_ctx* alone[] = {info->handler_ctx, nullptr};
           inplace_alter_handler_ctx** plans = info->group_commit_ctx;
           for (plans = plans != nullptr ? plans : alone; *plans != nullptr; plans++) {
             changes.push_back(static_cast<AlterPlan*>(*plans)->change);
           }
           info->group_commit_ctx = nullptr;
           const Status changed = engine->dictionary.Change(changes);
           if (changed.ok()) return 0;
           my_printf_error(ER_GET_ERRMSG, "TidesDB: %s", MYF(0), changed.ToString().c_str());
           return 1;
         }) != 0;
}

// A row holds a VARCHAR's bytes and their number; how many there may be is said by the table alone.
bool ha_tidesdb::can_convert_nocopy(const Field& field,
                                    const Column_definition& definition) const noexcept {
  return field.real_type() == MYSQL_TYPE_VARCHAR &&
         definition.real_field_type() == MYSQL_TYPE_VARCHAR &&
         field.charset() == definition.charset && field.field_length <= definition.length &&
         field.vcol_info == nullptr && definition.vcol_info == nullptr;
}

// A key over a whole column that grows goes on as it is.
Compare_keys ha_tidesdb::compare_key_parts(const Field& field, const Column_definition& definition,
                                           const KEY_PART_INFO& part,
                                           const KEY_PART_INFO& new_part) const noexcept {
  if (!field.is_equal(definition) && !can_convert_nocopy(field, definition)) {
    return Compare_keys::NotEqual;
  }
  if (part.length == new_part.length) return Compare_keys::Equal;
  const bool whole = part.length == field.key_length() && new_part.length == definition.length;
  return whole && part.length < new_part.length ? Compare_keys::EqualButKeyPartLength
                                                : Compare_keys::NotEqual;
}

// Asked when a partition and a table change places.
bool ha_tidesdb::check_if_incompatible_data(HA_CREATE_INFO* info, uint table_changes) noexcept {
  if (table_changes != IS_EQUAL_YES) return COMPATIBLE_DATA_NO;
  if ((info->used_fields & HA_CREATE_USED_AUTO) != 0 && info->auto_increment_value != 0) {
    return COMPATIBLE_DATA_NO;
  }
  return COMPATIBLE_DATA_YES;
}

}  // namespace tidesdb::plugin
