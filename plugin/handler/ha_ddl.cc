// Tables are created and dropped: the dictionary does it in one step; the server's part is around
// it.
#include "handler/ha_tidesdb.h"

#include <ctime>

#include "base/guard.h"
#include "base/sysvars.h"
#include "codec/collations.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

int DdlError(const Status& status) {
  if (status.ok()) return 0;
  my_printf_error(ER_GET_ERRMSG, "TidesDB: %s", MYF(0), status.ToString().c_str());
  return guard::ToHandlerError(status);
}

// Drops partitions that only the dictionary knows: without the .frm the server asks for the table.
Result<bool> DropLeftPartitions(const std::string& table) {
  if (my_access(FrmPath(table).c_str(), F_OK) == 0) return false;
  bool any = false;
  for (const auto& [name, def] : engine->dictionary.List()) {
    if (name.compare(0, table.size() + 3, table + "#P#") != 0) continue;
    TIDESDB_ASSIGN([[maybe_unused]] const bool found, engine->dictionary.Drop(name));
    any = true;
  }
  return any;
}

bool HasForeignKeys(THD* thd) {
  List_iterator<Key> keys(thd->lex->alter_info.key_list);
  while (const Key* key = keys++) {
    if (key->type == Key::FOREIGN_KEY) return true;
  }
  return false;
}

}  // namespace

// A connection with changed rows holds the server's metadata lock of the table, except a prepared
// branch whose connection is closed: its rows must not lose their table.
int ha_tidesdb::CheckNoBranchHolds(const std::string& name) {
  if (!engine->branches.any()) return 0;
  const auto table = engine->dictionary.Find(name);
  if (!table.ok() || *table == nullptr) return 0;
  // It goes with its connection, whatever a branch did to it.
  if ((*table)->def.temporary) return 0;
  const auto transaction = engine->db->Begin(TransactionOptions());
  const Status free =
      transaction->LockRange((*table)->primary, {}, {}, RangeHold::kWrites, LockWait::kNoWait);
  return free.ok() ? 0 : guard::ToHandlerError(free);
}

int ha_tidesdb::open(const char* name, int, uint) noexcept {
  return guard::Run([&] {
    open_.name = TableName(name);
    const auto found = engine->dictionary.Find(open_.name);
    if (!found.ok()) return guard::ToHandlerError(found.status());
    if (*found == nullptr) return HA_ERR_NO_SUCH_TABLE;
    const Status built = open_.codec.Build(table, (*found)->def.key_forms);
    if (!built.ok()) return DdlError(built);
    if (const int error = open_.Bind()) return error;
    ref_length = open_.codec.hidden_key() ? kHiddenKeyBytes
                                          : table->key_info[table_share->primary_key].key_length;
    // A scan that changes the primary key would meet its new rows; with this the server collects
    // positions first.
    key_used_on_scan = open_.codec.hidden_key() ? MAX_KEY : table_share->primary_key;
    return info(HA_STATUS_NO_LOCK | HA_STATUS_VARIABLE | HA_STATUS_CONST | HA_STATUS_OPEN);
  });
}

int ha_tidesdb::close() noexcept {
  return guard::Run([&] {
    scan_.CloseCursor();
    reader_.Forget();
    writer_.Forget();
    open_.state.reset();
    return 0;
  });
}

handler* ha_tidesdb::clone(const char*, MEM_ROOT* mem_root) noexcept {
  handler* copy = nullptr;
  guard::Run([&] {
    // By its own name: for a partition after one that is not open, the server passes that one's
    // name.
    copy = handler::clone(open_.name.c_str(), mem_root);
    if (copy != nullptr) {
      auto* const ours = static_cast<ha_tidesdb*>(copy);
      ours->statement_.Follow(statement_);
      ours->open_.is_clone = true;
    }
    return 0;
  });
  return copy;
}

int ha_tidesdb::Refuse(const char* what, const char* instead) {
  my_printf_error(ER_ILLEGAL_HA_CREATE_OPTION,
                  "Table storage engine 'TidesDB' does not support %s; %s", MYF(0), what, instead);
  return HA_ERR_WRONG_COMMAND;
}

int ha_tidesdb::CheckOptions(TABLE* form) {
  const ha_table_option_struct* const options = form->s->option_struct;
  if (options != nullptr && options->encrypted) {
    return Refuse("encryption yet", "leave out ENCRYPTED, or encrypt the file system");
  }
  if (options != nullptr && options->ttl != 0) {
    return Refuse("TTL yet", "leave it out and delete old rows with an event");
  }
  for (uint i = 0; i < form->s->fields; i++) {
    const ha_field_option_struct* const field = form->field[i]->option_struct;
    if (field != nullptr && field->ttl) {
      return Refuse("TTL yet", "leave it out and delete old rows with an event");
    }
  }
  return 0;
}

int ha_tidesdb::CheckCollations(const KEY& key) {
  for (uint i = 0; i < key.user_defined_key_parts; i++) {
    const KEY_PART_INFO& part = key.key_part[i];
    const Field& field = *part.field;
    const bool prefix = (part.key_part_flag & HA_PART_KEY_SEG) != 0;
    const bool filled = field.real_type() == MYSQL_TYPE_STRING;
    const char* const why = WhyNoIndex(field.charset(), filled, prefix);
    if (why == nullptr) continue;
    const std::string what = std::string("an index on ") + (prefix ? "a prefix of " : "") +
                             "column " + field.field_name.str + ", whose collation " +
                             field.charset()->coll_name.str + " " + why;
    return Refuse(what.c_str(), prefix ? "index the whole column, or take another collation"
                                       : "take VARCHAR, or another collation");
  }
  return 0;
}

int ha_tidesdb::CheckDefinition(TABLE* form, const HA_CREATE_INFO& info) {
  if (HasForeignKeys(ha_thd())) {
    return Refuse("FOREIGN KEY yet", "leave the constraint out, it would not be enforced");
  }
  if (info.data_file_name != nullptr || info.index_file_name != nullptr) {
    return Refuse("DATA DIRECTORY and INDEX DIRECTORY",
                  "tidesdb_data_home_dir places the whole database");
  }
  if (port::HasVectorIndex(*form->s)) {
    return Refuse("VECTOR indexes yet", "leave the index out");
  }
  for (uint i = 0; i < form->s->keys; i++) {
    const KEY& key = form->key_info[i];
    if (key.algorithm == HA_KEY_ALG_FULLTEXT) {
      return Refuse("FULLTEXT indexes yet", "leave the index out");
    }
    if (key.algorithm == HA_KEY_ALG_RTREE) {
      return Refuse("SPATIAL indexes yet", "leave the index out");
    }
    if (const int error = CheckCollations(key)) return error;
  }
  return CheckOptions(form);
}

int ha_tidesdb::create(const char* name, TABLE* form, HA_CREATE_INFO* info) noexcept {
  return guard::Run([&] {
    if (const int error = CheckDefinition(form, *info)) return error;
    TableCodec codec;
    const Status built = codec.Build(form, kKeyForms);
    if (!built.ok()) return DdlError(built);
    NewTable table_def;
    table_def.name = TableName(name);
    table_def.options = sysvars::FamilyOptions(*form->s->option_struct);
    table_def.def.hidden_key = codec.hidden_key();
    table_def.def.temporary = info->tmp_table();
    table_def.def.key_forms = codec.forms_that_matter();
    table_def.def.created_s = static_cast<uint64_t>(time(nullptr));
    if (info->auto_increment_value > 0) {
      table_def.def.auto_increment_base = info->auto_increment_value;
    }
    codec.SetApartOver(form->s->option_struct->klog_value_threshold);
    table_def.long_values = !codec.rows().long_columns().empty();
    for (uint i = 0; i < form->s->keys; i++) {
      if (!codec.is_primary(i)) table_def.def.indexes.push_back({form->key_info[i].name.str, 0});
    }
    const Status created = engine->dictionary.Create(std::move(table_def));
    if (created.code() == Code::kAlreadyExists) return HA_ERR_TABLE_EXIST;
    return DdlError(created);
  });
}

int ha_tidesdb::delete_table(const char* name) noexcept {
  return guard::Run([&] {
    if (const int error = CheckNoBranchHolds(TableName(name))) return error;
    auto dropped = engine->dictionary.Drop(TableName(name));
    if (dropped.ok() && !*dropped) dropped = DropLeftPartitions(TableName(name));
    if (!dropped.ok()) return DdlError(dropped.status());
    return *dropped ? 0 : HA_ERR_NO_SUCH_TABLE;
  });
}

int ha_tidesdb::rename_table(const char* from, const char* to) noexcept {
  return guard::Run([&] {
    if (const int error = CheckNoBranchHolds(TableName(from))) return error;
    auto renamed = engine->dictionary.Rename(TableName(from), TableName(to));
    if (!renamed.ok()) {
      if (renamed.status().code() == Code::kAlreadyExists) return HA_ERR_TABLE_EXIST;
      return DdlError(renamed.status());
    }
    return *renamed ? 0 : HA_ERR_NO_SUCH_TABLE;
  });
}

int ha_tidesdb::truncate() noexcept {
  return guard::Run([&] {
    scan_.CloseCursor();
    reader_.Forget();
    writer_.Forget();
    if (const int error = CheckNoBranchHolds(open_.name)) return error;
    const Status truncated = engine->dictionary.Truncate(open_.name);
    if (!truncated.ok()) return DdlError(truncated);
    return open_.Bind();
  });
}

}  // namespace tidesdb::plugin
