#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "base/handlerton.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

ha_tidesdb::ha_tidesdb(handlerton* hton, TABLE_SHARE* share) : handler(hton, share) {
  ref_length = kHiddenKeyBytes;
}

ulonglong ha_tidesdb::table_flags() const {
  // HA_BINLOG_STMT_CAPABLE: a replica executes logged statements in the order of their commits;
  // with ranges locked a statement sees here what it will see there.
  // HA_CAN_TABLES_WITHOUT_ROLLBACK: those of CREATE SEQUENCE.
  // HA_NO_ONLINE_ALTER: the server's log of rows keeps the changes of a transaction whose COMMIT
  // failed, and of partitioned tables it loses some.
  return HA_REC_NOT_IN_SEQ | HA_NULL_IN_KEY | HA_CAN_VIRTUAL_COLUMNS | HA_CAN_INDEX_BLOBS |
         HA_CAN_SQL_HANDLER | HA_REQUIRES_KEY_COLUMNS_FOR_DELETE |
         HA_PRIMARY_KEY_REQUIRED_FOR_POSITION | HA_PRIMARY_KEY_IN_READ_INDEX |
         HA_BINLOG_ROW_CAPABLE | HA_CAN_GEOMETRY | HA_PARTIAL_COLUMN_READ | HA_TABLE_SCAN_ON_INDEX |
         HA_ONLINE_ANALYZE | HA_CONCURRENT_OPTIMIZE | HA_CAN_SKIP_LOCKED | HA_CAN_ONLINE_BACKUPS |
         HA_CAN_TABLES_WITHOUT_ROLLBACK | HA_NO_ONLINE_ALTER |
         (logs_statements_ ? HA_BINLOG_STMT_CAPABLE : 0);
}

ulong ha_tidesdb::index_flags(uint index, uint, bool) const {
  const ulong kind = index == table_share->primary_key ? port::kPrimaryKeyFlags : HA_KEYREAD_ONLY;
  return kind | HA_READ_NEXT | HA_READ_PREV | HA_READ_ORDER | HA_READ_RANGE |
         HA_DO_INDEX_COND_PUSHDOWN;
}

// Which form this table's rows have, as its .frm goes with the dictionary.
int ha_tidesdb::BindHistory(const TableState& state) {
  const LEX_CUSTRING& frm = table_share->tabledef_version;
  const Slice frm_version(reinterpret_cast<const char*>(frm.str), frm.length);
  for (ReadPlan& plan : plans_) plan.made = false;
  const Status bound =
      codec_.SetHistory(&state.def.history, state.def.history.VersionOf(frm_version));
  if (bound.ok()) return 0;
  sql_print_error("TidesDB: the .frm file of table %s: %s", name_.c_str(),
                  bound.ToString().c_str());
  return HA_ERR_TABLE_DEF_CHANGED;
}

int ha_tidesdb::BindState() {
  if (state_ != nullptr && !state_->outdated) return 0;
  auto found = engine->dictionary.Find(name_);
  if (!found.ok()) return guard::ToHandlerError(found.status());
  if (*found == nullptr) return HA_ERR_NO_SUCH_TABLE;
  if (const int error = BindHistory(**found)) return error;
  state_ = *found;
  known_stats_.reset();
  known_stats_version_ = 0;
  families_.assign(table_share->keys, nullptr);
  index_made_.assign(table_share->keys, 0);
  for (uint i = 0; i < table_share->keys; i++) {
    if (codec_.is_primary(i)) {
      families_[i] = state_->primary;
      continue;
    }
    families_[i] = state_->FindIndex(table_share->key_info[i].name.str);
    if (families_[i] == nullptr) {
      sql_print_error("TidesDB: table %s has an index %s that is not in the engine's dictionary",
                      name_.c_str(), table_share->key_info[i].name.str);
      return HA_ERR_INDEX_CORRUPT;
    }
    index_made_[i] = state_->MadeOf(families_[i]);
  }
  codec_.KeepIndexes(table_share->keys);
  ShowKeyShapes();
  if (state_->build != nullptr && !state_->build->given_up) {
    for (const IndexBuild::Index& index : state_->build->indexes) {
      codec_.AddIndex(*state_->build->codec, index.key_number);
      families_.push_back(index.entries);
    }
  }
  BindLongValues();
  return 0;
}

void ha_tidesdb::ShowKeyShapes() {
  if (state_->key_shapes() != nullptr) return;
  auto shapes = std::make_shared<KeyShapes>();
  if (codec_.hidden_key()) shapes->emplace(state_->primary->id(), TableCodec::HiddenKeyShape());
  for (uint i = 0; i < table_share->keys; i++) {
    shapes->emplace(families_[i]->id(), codec_.ShapeOf(table, i));
  }
  state_->set_key_shapes(std::move(shapes));
}

int ha_tidesdb::Bind(THD* thd) {
  session_ = &Session::Of(thd);
  return BindState();
}

// Whether plain reads must not use it. Temporary tables are nobody else's.
bool ha_tidesdb::IsNewerThanSnapshot(uint64_t made) const {
  return row_lock_ == RowLock::kNone && session_->SnapshotIsOlderThan(made) &&
         table_share->tmp_table == NO_TMP_TABLE;
}

int ha_tidesdb::Ready() const {
  if (session_->aborted()) return HA_ERR_ROLLBACK;
  if (IsNewerThanSnapshot(state_->made) ||
      (active_ < index_made_.size() && IsNewerThanSnapshot(index_made_[active_]))) {
    return HA_ERR_TABLE_DEF_CHANGED;
  }
  return 0;
}

// Where the server gathers rows before it reads them (index merge, filesort) it drops the error of a
// read, or tells another one: a DELETE then counts no rows and succeeds. So it is told here.
int ha_tidesdb::Fail(const Status& status) {
  const int error = FailUntold(status);
  // What a KILL is answered the server knows itself.
  if (status.code() == Code::kInterrupted || ha_thd()->is_error()) return error;
  print_error(error, MYF(0));
  told_error_ = error;
  return error;
}

int ha_tidesdb::FailUntold(const Status& status) {
  const Code code = status.code();
  error_text_.clear();
  if (code == Code::kDeadlock || code == Code::kConflict) {
    if (sysvars::PrintAllConflicts()) {
      sql_print_information("TidesDB: %s: %s", name_.c_str(), status.ToString().c_str());
    }
    const bool locked = session_->row_locks_on();
    session_->Abort();
    ha_thd()->mark_transaction_to_rollback(true);
    return code == Code::kConflict && locked ? HA_ERR_RECORD_CHANGED : HA_ERR_LOCK_DEADLOCK;
  }
  if (code == Code::kTimedOut) {
    ha_thd()->mark_transaction_to_rollback(false);
  } else {
    error_text_ = status.ToString();
  }
  return guard::ToHandlerError(status);
}

bool ha_tidesdb::get_error_message(int, String* message) noexcept {
  guard::Run([&] {
    message->copy(error_text_.data(), static_cast<uint32>(error_text_.size()), system_charset_info);
    return 0;
  });
  return false;
}

// An error that a later try may not meet is one that handlers of stored programs can catch, also
// where the server calls it fatal because an UPDATE had begun to change the row.
void ha_tidesdb::print_error(int error, myf flags) noexcept {
  guard::Run([&] {
    if (error == told_error_ && ha_thd()->is_error()) return 0;
    switch (error) {
      case HA_ERR_LOCK_DEADLOCK:
      case HA_ERR_LOCK_WAIT_TIMEOUT:
      case HA_ERR_RECORD_CHANGED:
      case HA_ERR_ROLLBACK:
        handler::print_error(error, flags & ~static_cast<myf>(ME_FATAL));
        break;
      default:
        handler::print_error(error, flags);
    }
    return 0;
  });
}

namespace {

// Which statements lock what they read is as in InnoDB: above READ COMMITTED, all that change rows.
// Those that define or check tables have the table to themselves already.
bool LocksWhatItReads(int command) {
  switch (command) {
    case SQLCOM_UPDATE:
    case SQLCOM_UPDATE_MULTI:
    case SQLCOM_DELETE:
    case SQLCOM_DELETE_MULTI:
    case SQLCOM_INSERT:
    case SQLCOM_INSERT_SELECT:
    case SQLCOM_REPLACE:
    case SQLCOM_REPLACE_SELECT:
    case SQLCOM_CREATE_TABLE:
    case SQLCOM_LOAD:
    case SQLCOM_SET_OPTION:
    case SQLCOM_DO:
    case SQLCOM_CALL:
      return true;
    default:
      return false;
  }
}

}  // namespace

THR_LOCK_DATA** ha_tidesdb::store_lock(THD* thd, THR_LOCK_DATA** to, thr_lock_type type) noexcept {
  if (type == TL_IGNORE) return to;
  skip_locked_ = type == TL_WRITE_SKIP_LOCKED || type == TL_READ_SKIP_LOCKED;
  const int command = thd_sql_command(thd);
  const bool plain_read =
      type == TL_READ || type == TL_READ_NO_INSERT || type == TL_READ_HIGH_PRIORITY;
  const bool weak = thd_tx_isolation(thd) <= ISO_READ_COMMITTED;
  const bool reads_of_a_write =
      plain_read && !weak &&
      (thd_in_lock_tables(thd) || LocksWhatItReads(command) ||
       (type == TL_READ_NO_INSERT && thd_binlog_format(thd) == BINLOG_FORMAT_STMT));
  const bool shared =
      type == TL_READ_WITH_SHARED_LOCKS || type == TL_READ_SKIP_LOCKED || reads_of_a_write;
  const RowLock lock = shared ? RowLock::kShared : RowLock::kNone;
  row_lock_ = stored_lock_ = lock;
  return to;
}

int ha_tidesdb::external_lock(THD* thd, int lock_type) noexcept {
  return guard::Run([&] {
    if (lock_type == F_UNLCK) return 0;
    if (const int error = Bind(thd)) return error;
    if (session_->aborted()) return HA_ERR_ROLLBACK;
    if (lock_type == F_WRLCK && tidesdb_hton->prepare == nullptr &&
        thd->transaction->xid_state.is_explicit_XA()) {
      // The plugin came at run time. The server would let XA PREPARE pass with a warning, and a
      // crash would undo what it promised.
      my_error(ER_NOT_SUPPORTED_YET, MYF(0),
               "XA transactions that write to TidesDB tables, unless the plugin is loaded when the "
               "server starts,");
      return HA_ERR_UNSUPPORTED;
    }
    session_->BeginStatement();
    if (lock_type == F_WRLCK) {
      row_lock_ = stored_lock_ = RowLock::kExclusive;
    } else if (row_lock_ == RowLock::kNone && session_->isolation() == ISO_SERIALIZABLE &&
               thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN)) {
      row_lock_ = stored_lock_ = RowLock::kShared;
    }
    logs_statements_ = thd_binlog_format(thd) == BINLOG_FORMAT_STMT && session_->pessimistic() &&
                       session_->isolation() > ISO_READ_COMMITTED;
    return 0;
  });
}

int ha_tidesdb::start_stmt(THD* thd, thr_lock_type lock_type) noexcept {
  return guard::Run([&] {
    if (const int error = Bind(thd)) return error;
    if (session_->aborted()) return HA_ERR_ROLLBACK;
    session_->BeginStatement();
    if (table_share->tmp_table != NO_TMP_TABLE) {
      // A temporary table made under LOCK TABLES never saw external_lock().
      row_lock_ = lock_type >= TL_FIRST_WRITE ? RowLock::kExclusive : RowLock::kNone;
    } else if (thd_sql_command(thd) == SQLCOM_SELECT && lock_type == TL_READ &&
               session_->isolation() != ISO_SERIALIZABLE) {
      row_lock_ = RowLock::kNone;
    } else {
      row_lock_ = stored_lock_;
    }
    return 0;
  });
}

void ha_tidesdb::init_table_handle_for_HANDLER() noexcept {
  guard::Run([&] {
    if (const int error = Bind(ha_thd())) return error;
    session_->BeginStatement();
    row_lock_ = stored_lock_ = RowLock::kNone;
    return 0;
  });
}

int ha_tidesdb::extra(ha_extra_function operation) noexcept {
  return guard::Run([&] {
    switch (operation) {
      case HA_EXTRA_KEYREAD:
        key_read_ = true;
        break;
      case HA_EXTRA_NO_KEYREAD:
        key_read_ = false;
        break;
      case HA_EXTRA_WRITE_CAN_REPLACE:
      case HA_EXTRA_INSERT_WITH_UPDATE:
        replaces_duplicates_ = true;
        [[fallthrough]];
      case HA_EXTRA_IGNORE_DUP_KEY:
        duplicates_wanted_ = true;
        break;
      case HA_EXTRA_NO_IGNORE_DUP_KEY:
      case HA_EXTRA_WRITE_CANNOT_REPLACE:
        duplicates_wanted_ = replaces_duplicates_ = false;
        break;
      case port::kBeginCopy:
        return BeginTableLoad();
      case port::kEndCopy:
      case port::kAbortCopy:
        load_ = nullptr;
        break;
      default:
        break;
    }
    return 0;
  });
}

int ha_tidesdb::reset() noexcept {
  return guard::Run([&] {
    cursor_.Close();
    ForgetRow();
    key_read_ = false;
    semi_consistent_ = read_semi_consistent_ = false;
    duplicates_wanted_ = replaces_duplicates_ = false;
    auto_increment_last_ = 0;
    return 0;
  });
}

void ha_tidesdb::column_bitmaps_signal() noexcept {
  guard::Run([&] {
    if (table->vfield == nullptr || table->current_lock != F_WRLCK) return 0;
    // The entries of indexed virtual columns are written from their values.
    for (Field** field = table->vfield; *field != nullptr; field++) {
      if (!(*field)->stored_in_db() && ((*field)->flags & PART_KEY_FLAG) != 0) {
        table->mark_virtual_column_with_deps(*field);
      }
    }
    return 0;
  });
}

}  // namespace tidesdb::plugin
