// ALTER TABLE without a copy: only what changes no stored byte. The server copies the table for all
// else.
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

// Of CREATE TABLE's options those that only describe.
constexpr ulonglong kDescribingOptions =
    HA_CREATE_USED_COMMENT | HA_CREATE_USED_AVG_ROW_LENGTH | HA_CREATE_USED_MAX_ROWS |
    HA_CREATE_USED_MIN_ROWS | HA_CREATE_USED_STATS_PERSISTENT | HA_CREATE_USED_STATS_AUTO_RECALC |
    HA_CREATE_USED_STATS_SAMPLE_PAGES;

}  // namespace

enum_alter_inplace_result ha_tidesdb::check_if_supported_inplace_alter(
    TABLE* altered_table, Alter_inplace_info* info) noexcept {
  enum_alter_inplace_result result = HA_ALTER_INPLACE_NOT_SUPPORTED;
  guard::Run([&] {
    const ha_table_option_struct* const before = table_share->option_struct;
    const ha_table_option_struct* const after = altered_table->s->option_struct;
    const bool describes = (info->create_info->used_fields & ~kDescribingOptions) == 0 ||
                           (info->handler_flags & ALTER_OPTIONS) == 0;
    if ((info->handler_flags & ~kOfNameOnly) == 0 && describes && before != nullptr &&
        after != nullptr && sysvars::SameStorage(*before, *after) &&
        CheckOptions(altered_table) == 0) {
      result = HA_ALTER_INPLACE_INSTANT;
    }
    return 0;
  });
  return result;
}

bool ha_tidesdb::commit_inplace_alter_table(TABLE*, Alter_inplace_info* info,
                                            bool commit) noexcept {
  return guard::Run([&] {
           if (!commit || (info->handler_flags & ALTER_RENAME_INDEX) == 0) return 0;
           TableDef def = state_->def;
           for (IndexDef& index : def.indexes) {
             for (const auto& rename : info->rename_keys) {
               if (index.name != rename.old_key->name.str) continue;
               index.name = rename.new_key->name.str;
               break;
             }
           }
           const Status changed = engine->dictionary.Change(name_, def);
           if (changed.ok()) return 0;
           my_printf_error(ER_GET_ERRMSG, "TidesDB: %s", MYF(0), changed.ToString().c_str());
           return 1;
         }) != 0;
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
