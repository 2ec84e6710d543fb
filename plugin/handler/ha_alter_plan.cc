// Which ALTER TABLE needs no copy: changes of no stored byte, or only of rows written from now on. For
// all other changes the server copies the table.
#include "handler/ha_tidesdb.h"

#include <algorithm>

#include "base/guard.h"
#include "base/sysvars.h"
#include "codec/collations.h"
#include "handler/alter_plan.h"
#include "handler/unsaid.h"

namespace tidesdb::plugin {
namespace {

// Changes of the server's own definition.
constexpr alter_table_operations kOfNameOnly =
    ALTER_COLUMN_NAME | ALTER_RENAME_COLUMN | ALTER_RENAME_INDEX | ALTER_RENAME |
    ALTER_CHANGE_COLUMN | ALTER_CHANGE_COLUMN_DEFAULT | ALTER_CHANGE_INDEX_COMMENT |
    ALTER_INDEX_IGNORABILITY | ALTER_DROP_CHECK_CONSTRAINT | ALTER_OPTIONS |
    ALTER_COLUMN_COLUMN_FORMAT | ALTER_PARTITIONED;

// Changes of columns: rows get another form.
constexpr alter_table_operations kOfColumns =
    ALTER_ADD_STORED_BASE_COLUMN | ALTER_DROP_STORED_COLUMN | ALTER_STORED_COLUMN_ORDER |
    ALTER_ADD_VIRTUAL_COLUMN | ALTER_DROP_VIRTUAL_COLUMN | ALTER_VIRTUAL_COLUMN_ORDER |
    ALTER_COLUMN_NULLABLE | ALTER_COLUMN_TYPE_CHANGE_BY_ENGINE | ALTER_COLUMN_INDEX_LENGTH;
// No row holds a virtual column.
constexpr alter_table_operations kOfVirtualColumns =
    ALTER_VIRTUAL_COLUMN_TYPE | ALTER_VIRTUAL_GCOL_EXPR;

// Changes after which a virtual column may have other values.
constexpr alter_table_operations kOfVirtualValues = kOfVirtualColumns | ALTER_CHANGE_COLUMN_DEFAULT;

constexpr alter_table_operations kOfIndexes =
    ALTER_DROP_NON_UNIQUE_NON_PRIM_INDEX | ALTER_DROP_UNIQUE_INDEX | ALTER_INDEX_ORDER;
constexpr alter_table_operations kOfNewIndexes =
    ALTER_ADD_NON_UNIQUE_NON_PRIM_INDEX | ALTER_ADD_UNIQUE_INDEX;

// The options of CREATE TABLE that only describe the table.
constexpr ulonglong kDescribingOptions =
    HA_CREATE_USED_COMMENT | HA_CREATE_USED_AVG_ROW_LENGTH | HA_CREATE_USED_MAX_ROWS |
    HA_CREATE_USED_MIN_ROWS | HA_CREATE_USED_STATS_PERSISTENT | HA_CREATE_USED_STATS_AUTO_RECALC |
    HA_CREATE_USED_STATS_SAMPLE_PAGES | HA_CREATE_USED_CHARSET | HA_CREATE_USED_DEFAULT_CHARSET |
    HA_CREATE_USED_ROW_FORMAT;

// A key's previous name; keys that the server matches may differ in case only.
const LEX_CSTRING& NameBefore(const KEY& key, const Alter_inplace_info& info) {
  for (const auto& rename : info.rename_keys) {
    if (port::SameName(rename.new_key->name, key.name)) return rename.old_key->name;
  }
  return key.name;
}

// Whether the server wants a key built, even if it replaces one of the same name.
bool IsAdded(const KEY& key, const Alter_inplace_info& info) {
  return std::any_of(
      info.index_add_buffer, info.index_add_buffer + info.index_add_count,
      [&](uint i) { return port::SameName(info.key_info_buffer[i].name, key.name); });
}

// Returns: -1 for a key that is added.
int KeyBefore(const KEY& key, const TABLE_SHARE& before, const Alter_inplace_info& info) {
  if (IsAdded(key, info)) return -1;
  const LEX_CSTRING& name = NameBefore(key, info);
  for (uint i = 0; i < before.keys; i++) {
    if (port::SameName(before.key_info[i].name, name)) return static_cast<int>(i);
  }
  return -1;
}

// For each column its previous number, or -1. Empty if the server does not say.
std::vector<int> ColumnsBefore(const TABLE& altered, const Alter_inplace_info& info) {
  std::vector<int> columns;
  List_iterator_fast<Create_field> definitions(info.alter_info->create_list);
  while (const Create_field* definition = definitions++) {
    columns.push_back(definition->field != nullptr ? definition->field->field_index : -1);
  }
  if (columns.size() != altered.s->fields) columns.clear();
  return columns;
}

bool CanBuild(const KEY& key, const TableCodec& codec, uint number) {
  if (key.algorithm == HA_KEY_ALG_FULLTEXT || key.algorithm == HA_KEY_ALG_RTREE) return false;
  if (codec.is_hash(number)) return false;
  for (uint i = 0; i < key.user_defined_key_parts; i++) {
    const Field& field = *key.key_part[i].field;
    const bool prefix = (key.key_part[i].key_part_flag & HA_PART_KEY_SEG) != 0;
    const bool filled = field.real_type() == MYSQL_TYPE_STRING;
    if (WhyNoIndex(field.charset(), filled, prefix) != nullptr) return false;
  }
  return true;
}

// The value of a new column in existing rows. Returns: false if it differs between rows or does not
// fit; the copy decides whether that is an error.
bool EvaluateDefault(Field* field, const Column& column, const uchar* record,
                     ColumnDefault* value) {
  constexpr uint kOnceForAll = VCOL_SESSION_FUNC | VCOL_TIME_FUNC;
  if (field->default_value != nullptr &&
      ((field->default_value->flags & ~kOnceForAll) != 0 ||
       (field->default_value->expr->used_tables() & RAND_TABLE_BIT) != 0)) {
    return false;
  }
  if ((field->flags & (AUTO_INCREMENT_FLAG | VERS_ROW_START | VERS_ROW_END)) != 0) return false;
  const Unsaid unsaid(field->get_thd());
  if (field->set_default() != 0 || unsaid.Any()) return false;
  value->null = IsNull(column, record);
  if (!value->null) value->value.assign(RawValue(column, record));
  return true;
}

// Whether the table's columns and options allow values that lie apart.
bool HasLongValues(TABLE* table) {
  TableCodec codec;
  if (!codec.Build(table, kKeyForms).ok()) return false;
  codec.SetApartOver(table->s->option_struct->klog_value_threshold);
  return !codec.rows().long_columns().empty();
}

const char* WhyNot(alter_table_operations flags) {
  if ((flags & (ALTER_STORED_COLUMN_TYPE | ALTER_COLUMN_VCOL)) != 0) {
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

// Whether something that the table stores or promises may follow from a virtual column or from a
// column's collation.
bool HasDerived(const TABLE& table) {
  const auto stores = [](const Field* field) {
    return field->vcol_info != nullptr && field->stored_in_db();
  };
  return table.check_constraints != nullptr || table.part_info != nullptr ||
         std::any_of(table.field, table.field + table.s->fields, stores);
}

// Whether an index of the table contains a virtual column.
bool HasVirtualIndex(const TableCodec& codec, uint keys) {
  for (uint i = 0; i < keys; i++) {
    if (codec.has_virtual(i)) return true;
  }
  return false;
}

// Whether a column exists, and all that it is made from, without a change of type. A column of the same name may be
// another one.
bool IsAsBefore(const TABLE& before, const TABLE& altered, const Alter_inplace_info& info,
                uint column) {
  const auto definition = [&](uint i) { return info.alter_info->create_list.elem(i); };
  const Field* const field = definition(column)->field;
  if (field == nullptr) return false;
  std::vector<bool> made_from(altered.s->fields, false);
  AddBaseColumns(altered, column, &made_from);
  std::vector<bool> was_made_from(before.s->fields, false);
  AddBaseColumns(before, field->field_index, &was_made_from);
  made_from[column] = was_made_from[field->field_index] = true;
  for (uint i = 0; i < altered.s->fields; i++) {
    if (!made_from[i]) continue;
    const Field* const base = definition(i)->field;
    if (base == nullptr || !was_made_from[base->field_index] || !base->is_equal(*definition(i))) {
      return false;
    }
  }
  return true;
}

// Whether all virtual columns of a new index have the values that the existing definition gives them.
bool VirtualPartsStay(const TABLE& before, const TABLE& altered, const Alter_inplace_info& info,
                      const TableCodec& codec, uint key) {
  for (uint i = 0; i < altered.s->fields; i++) {
    if (!altered.field[i]->stored_in_db() && codec.is_made_from(key, i) &&
        !IsAsBefore(before, altered, info, i)) {
      return false;
    }
  }
  return true;
}

// Writers compute the virtual columns of a new index by the existing definition.
enum_alter_inplace_result ResultOf(const TABLE& before, const TABLE& altered,
                                   const Alter_inplace_info& info, const AlterPlan& plan) {
  if (plan.added.empty()) return HA_ALTER_INPLACE_INSTANT;
  const auto writers_can = [&](uint key) {
    return !plan.codec->has_virtual(key) ||
           ((info.handler_flags & kOfVirtualValues) == 0 &&
            VirtualPartsStay(before, altered, info, *plan.codec, key));
  };
  return std::all_of(plan.added.begin(), plan.added.end(), writers_can)
             ? HA_ALTER_INPLACE_NOCOPY_NO_LOCK
             : HA_ALTER_INPLACE_NOCOPY_LOCK;
}

}  // namespace

// Whether the table's options store it as before.
bool ha_tidesdb::OptionsStay(TABLE* altered, const Alter_inplace_info& info) {
  const ha_table_option_struct* const before = table_share->option_struct;
  const ha_table_option_struct* const after = altered->s->option_struct;
  ulonglong changing = info.create_info->used_fields & ~kDescribingOptions;
  // The server counts for all partitions together.
  if (open_.name.find("#P#") == open_.name.npos) changing &= ~ulonglong{HA_CREATE_USED_AUTO};
  const bool describes = changing == 0 || (info.handler_flags & ALTER_OPTIONS) == 0;
  return describes && before != nullptr && after != nullptr &&
         sysvars::SameStorage(*before, *after) && CheckOptions(altered) == 0;
}

// As the table's keys; the newer form if those do not show it.
uint32_t ha_tidesdb::FormsAfterAlter() const {
  return open_.state->def.key_forms | ~open_.codec.forms_that_matter();
}

// The indexes of the new definition, each with its existing family if its entries stay.
// columns_before: null if only names change.
// Returns: false if that is impossible.
bool ha_tidesdb::PlanIndexes(const TABLE& altered, const Alter_inplace_info& info,
                             const std::vector<int>* columns_before, AlterPlan* plan) {
  const TableCodec& codec = *plan->codec;
  TableDef& def = plan->change.def;
  std::vector<IndexDef> indexes;
  for (uint i = 0; i < altered.s->keys; i++) {
    const KEY& key = altered.s->key_info[i];
    const int before = KeyBefore(key, *table_share, info);
    const auto same_entries = [&] {
      return codec.SameIndex(i, open_.codec, static_cast<uint>(before), *columns_before) &&
             VirtualPartsStay(*table, altered, info, codec, i);
    };
    const bool stays = before >= 0 && (columns_before == nullptr || same_entries());
    if (before >= 0 && open_.codec.is_primary(static_cast<uint>(before))) {
      if (!stays) return false;
      continue;
    }
    if (!stays) {
      if (columns_before == nullptr || !CanBuild(key, codec, i)) return false;
      plan->added.push_back(i);
      indexes.push_back({key.name.str, 0});
      continue;
    }
    const char* const name = table_share->key_info[before].name.str;
    for (const IndexDef& index : def.indexes) {
      if (index.name == name) indexes.push_back({key.name.str, index.family});
    }
  }
  def.indexes = std::move(indexes);
  return true;
}

// The new definition's columns and indexes, and where they come from.
// Returns: null, or the reason why it is impossible; "" if the server's own text suffices.
const char* ha_tidesdb::PlanColumns(TABLE* altered, const Alter_inplace_info& info,
                                    AlterPlan* plan) {
  if (info.error_if_not_empty) return "";
  const std::vector<int> columns_before = ColumnsBefore(*altered, info);
  if (columns_before.size() != altered->s->fields) return "";
  TableCodec& codec = *plan->codec;
  const Status built = codec.Build(altered, FormsAfterAlter());
  if (!built.ok() || codec.hidden_key() != open_.codec.hidden_key() ||
      !PlanIndexes(*altered, info, &columns_before, plan)) {
    return "";
  }
  if ((info.handler_flags & kOfVirtualColumns) != 0 &&
      (HasDerived(*altered) || HasVirtualIndex(open_.codec, table_share->keys))) {
    return "";
  }
  for (const int before : columns_before) plan->sources.push_back({before, {}});
  std::vector<int> place_before(table_share->fields, -1);
  const std::vector<uint32_t> stored_before = open_.codec.rows().StoredColumns();
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
      return "TidesDB: the value of a new column does not fit, or differs between rows";
    }
    if (origin.before < 0) plan->sources[field].added = origin.added;
  }
  const LEX_CUSTRING& frm = table_share->tabledef_version;
  const Slice frm_before(reinterpret_cast<const char*>(frm.str), frm.length);
  if (AddRowVersion(open_.codec.rows().Describe(), codec.rows().Describe(), std::move(origins),
                    frm_before, &plan->change.def.history)) {
    return nullptr;
  }
  return "TidesDB: the rows already have too many forms, or a column's bytes change; ALTER TABLE "
         "... FORCE rewrites all rows in one form";
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
    constexpr alter_table_operations kPossible =
        kOfNameOnly | kOfIndexes | kOfNewIndexes | kOfColumns | kOfVirtualColumns;
    if (why == nullptr && (flags & ~kPossible) == 0) {
      TableDef& def = plan->change.def;
      plan->change.name = open_.name;
      plan->change.long_values = HasLongValues(altered_table);
      def = open_.state->def;
      const LEX_CUSTRING& frm = altered_table->s->tabledef_version;
      def.frm_version.assign(reinterpret_cast<const char*>(frm.str), frm.length);
      if ((flags & ~kOfNameOnly) == 0) {
        if (PlanIndexes(*altered_table, *info, nullptr, plan)) {
          result = HA_ALTER_INPLACE_INSTANT;
        }
        return 0;
      }
      why = PlanColumns(altered_table, *info, plan);
      const bool builds = !plan->added.empty();
      if (builds && (info->ignore || port::HasVectorIndex(*altered_table->s))) return 0;
      if (why == nullptr) result = ResultOf(*table, *altered_table, *info, *plan);
      if (why == nullptr && builds) {
        def.key_forms = FormsAfterAlter() & plan->codec->forms_that_matter();
      }
    }
    if (why != nullptr && *why != '\0') info->unsupported_reason = why;
    return 0;
  });
  return result;
}

// A row holds a text's bytes and, if they vary, their number; only the table knows the maximum and
// the collation.
bool ha_tidesdb::can_convert_nocopy(const Field& field,
                                    const Column_definition& definition) const noexcept {
  const auto type = field.real_type();
  // Other types may be stored as a text but mean something else, as UUID does.
  if (field.type_handler() != definition.type_handler() || field.vcol_info != nullptr ||
      definition.vcol_info != nullptr) {
    return false;
  }
  if (field.charset() != definition.charset &&
      (!Charset(field.charset()).encoding_allows_reinterpret_as(definition.charset) ||
       HasDerived(*field.table) || field.table->vfield != nullptr)) {
    return false;
  }
  if (type == MYSQL_TYPE_BLOB) return field.pack_length() == definition.pack_length;
  return (type == MYSQL_TYPE_VARCHAR || type == MYSQL_TYPE_STRING) &&
         field.field_length <= definition.length;
}

// A key over a whole column stays valid if the column grows.
Compare_keys ha_tidesdb::compare_key_parts(const Field& field, const Column_definition& definition,
                                           const KEY_PART_INFO& part,
                                           const KEY_PART_INFO& new_part) const noexcept {
  const bool same_order = field.charset() == definition.charset;
  if (!field.is_equal(definition) && !(same_order && can_convert_nocopy(field, definition))) {
    return Compare_keys::NotEqual;
  }
  if (part.length == new_part.length) return Compare_keys::Equal;
  const bool whole = part.length == field.key_length() && new_part.length == definition.length;
  return whole && part.length < new_part.length ? Compare_keys::EqualButKeyPartLength
                                                : Compare_keys::NotEqual;
}

// Called when a partition and a table are exchanged.
bool ha_tidesdb::check_if_incompatible_data(HA_CREATE_INFO* info, uint table_changes) noexcept {
  if (table_changes != IS_EQUAL_YES) return COMPATIBLE_DATA_NO;
  if ((info->used_fields & HA_CREATE_USED_AUTO) != 0 && info->auto_increment_value != 0) {
    return COMPATIBLE_DATA_NO;
  }
  return COMPATIBLE_DATA_YES;
}

}  // namespace tidesdb::plugin
