#include "handler/ha_tidesdb.h"

#include <algorithm>
#include <utility>

#include "base/guard.h"
#include "base/handlerton.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

ha_tidesdb::ha_tidesdb(handlerton* hton, TABLE_SHARE* share)
    : handler(hton, share),
      open_(this),
      statement_(&open_),
      reader_(&open_, &statement_),
      scan_(&open_, &statement_, &reader_),
      ranges_ahead_(&open_, &statement_),
      writer_(&open_, &statement_, &reader_) {
  ref_length = kHiddenKeyBytes;
}

ulonglong ha_tidesdb::table_flags() const {
  // HA_BINLOG_STMT_CAPABLE: a replica executes logged statements in commit order; with locked ranges a statement
  // sees the same rows here and there.
  // HA_CAN_TABLES_WITHOUT_ROLLBACK: those of CREATE SEQUENCE.
  // HA_NO_ONLINE_ALTER: the server's log of rows keeps the changes of a transaction whose COMMIT failed, and loses
  // some changes of partitioned tables.
  return HA_REC_NOT_IN_SEQ | HA_NULL_IN_KEY | HA_CAN_VIRTUAL_COLUMNS | HA_CAN_INDEX_BLOBS |
         HA_CAN_SQL_HANDLER | HA_REQUIRES_KEY_COLUMNS_FOR_DELETE |
         HA_PRIMARY_KEY_REQUIRED_FOR_POSITION | HA_PRIMARY_KEY_IN_READ_INDEX |
         HA_BINLOG_ROW_CAPABLE | HA_CAN_GEOMETRY | HA_PARTIAL_COLUMN_READ | HA_TABLE_SCAN_ON_INDEX |
         HA_ONLINE_ANALYZE | HA_CONCURRENT_OPTIMIZE | HA_CAN_SKIP_LOCKED | HA_CAN_ONLINE_BACKUPS |
         HA_CAN_TABLES_WITHOUT_ROLLBACK | HA_NO_ONLINE_ALTER |
         (statement_.logs_statements ? HA_BINLOG_STMT_CAPABLE : 0);
}

// Whether the server may fill a filter of row ids from one index and check the entries of another against it, before
// their rows are read.
//
// A statement that locks rows gets none. It would lock all rows of the filter, and would have to read each of them,
// although the filter is to save reads.
// The server also asks before the table is open.
bool ha_tidesdb::TakesRowFilters() const {
  if (statement_.row_lock != RowLock::kNone) return false;
  if (table_share->primary_key >= table_share->keys) return true;
  const KEY& key = table_share->key_info[table_share->primary_key];
  return std::none_of(
      key.key_part, key.key_part + key.user_defined_key_parts,
      [](const KEY_PART_INFO& part) { return (part.key_part_flag & HA_PART_KEY_SEG) != 0; });
}

// Call when the kind of lock may be another one.
void ha_tidesdb::OfferRowFilters() {
  const bool offers = statement_.row_lock == RowLock::kNone;
  if (offers == std::exchange(offers_row_filters_, offers)) return;
  port::RefreshIndexFlags(table);
}

ulong ha_tidesdb::index_flags(uint index, uint part, bool) const {
  // A read by the primary key has the row at once.
  const ulong filter = TakesRowFilters() ? HA_DO_RANGE_FILTER_PUSHDOWN : 0;
  const ulong kind =
      index == table_share->primary_key ? port::kPrimaryKeyFlags : HA_KEYREAD_ONLY | filter;
  // Backward, the server itself checks where a range begins. It treats a row with the same weights but other first
  // characters as a row before the range.
  const ulong backward = open_.codec.has_weights_of_start(index, part + 1) ? 0 : HA_READ_PREV;
  return kind | backward | HA_READ_NEXT | HA_READ_ORDER | HA_READ_RANGE | HA_DO_INDEX_COND_PUSHDOWN;
}

int ha_tidesdb::Bind(THD* thd) {
  statement_.session = &Session::Of(thd);
  return open_.Bind();
}

int ha_tidesdb::Ready() const {
  if (statement_.session->aborted()) return HA_ERR_ROLLBACK;
  if (statement_.IsNewerThanSnapshot(open_.state->made) ||
      (reader_.index() < open_.index_made.size() &&
       statement_.IsNewerThanSnapshot(open_.index_made[reader_.index()]))) {
    return HA_ERR_TABLE_DEF_CHANGED;
  }
  return 0;
}

// An UPDATE of several tables computes generated columns before a trigger changes their inputs; so does that of one
// table with a subquery over itself. A row that moves to another partition is inserted.
int ha_tidesdb::GenerateAfterTriggers(const uchar* row) {
  if (table->triggers == nullptr || table->vfield == nullptr || row != table->record[0]) return 0;
  const int command = thd_sql_command(ha_thd());
  if (command != SQLCOM_UPDATE_MULTI && command != SQLCOM_UPDATE) return 0;
  return table->update_virtual_fields(this, VCOL_UPDATE_FOR_WRITE) != 0 ? HA_ERR_GENERIC : 0;
}

int ha_tidesdb::write_row(const uchar* row) noexcept {
  return guard::Run([&] {
    if (open_.is_sequence()) return WriteSequence(row);
    if (const int error = Ready()) return error;
    if (const int error = GenerateAfterTriggers(row)) return error;
    const bool numbered = table->next_number_field != nullptr && row == table->record[0];
    if (numbered) {
      auto_increment_error_ = 0;
      if (const int error = update_auto_increment()) {
        return auto_increment_error_ != 0 ? auto_increment_error_ : error;
      }
    }
    const int error = writer_.Insert(row);
    return numbered ? NoteAutoIncrement(error) : error;
  });
}

int ha_tidesdb::update_row(const uchar* old_row, const uchar* new_row) noexcept {
  return guard::Run([&] {
    if (open_.is_sequence()) return WriteSequence(new_row);
    if (const int error = Ready()) return error;
    if (const int error = GenerateAfterTriggers(new_row)) return error;
    if (const int error = writer_.Update(old_row, new_row, &reader_.primary_key())) return error;
    if (table->found_next_number_field != nullptr && new_row == table->record[0] &&
        bitmap_is_set(table->write_set, table->found_next_number_field->field_index)) {
      return RaiseAutoIncrement(table->found_next_number_field);
    }
    return 0;
  });
}

int ha_tidesdb::delete_row(const uchar* row) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    return writer_.Delete(row, &reader_.primary_key());
  });
}

void ha_tidesdb::start_bulk_insert(ha_rows rows, uint) noexcept { writer_.BeginRows(rows); }

int ha_tidesdb::end_bulk_insert() noexcept {
  return guard::Run([&] {
    const int error = writer_.EndLoad();
    if (error != 0) my_errno = error;
    return error;
  });
}

bool ha_tidesdb::get_error_message(int, String* message) noexcept {
  guard::Run([&] {
    message->copy(statement_.error_text.data(), static_cast<uint32>(statement_.error_text.size()),
                  system_charset_info);
    return 0;
  });
  return false;
}

// Lets handlers of stored programs catch an error that a new try may avoid, even if the server calls it fatal
// because an UPDATE had begun to change the row.
void ha_tidesdb::print_error(int error, myf flags) noexcept {
  guard::Run([&] {
    if (error == statement_.told_error && ha_thd()->is_error()) return 0;
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

// Which statements lock what they read, as in InnoDB: above READ COMMITTED, all that change rows. Statements that
// define or check tables already have the table to themselves.
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
  statement_.skip_locked = type == TL_WRITE_SKIP_LOCKED || type == TL_READ_SKIP_LOCKED;
  const int command = thd_sql_command(thd);
  const bool plain_read =
      type == TL_READ || type == TL_READ_NO_INSERT || type == TL_READ_HIGH_PRIORITY;
  statement_.reads_for_log =
      type == TL_READ_NO_INSERT && thd_binlog_format(thd) == BINLOG_FORMAT_STMT;
  const bool weak = statement_.LevelNow(thd) <= ISO_READ_COMMITTED;
  const bool reads_of_a_write =
      plain_read && !weak &&
      (thd_in_lock_tables(thd) || LocksWhatItReads(command) || statement_.reads_for_log);
  const bool shared =
      type == TL_READ_WITH_SHARED_LOCKS || type == TL_READ_SKIP_LOCKED || reads_of_a_write;
  const RowLock lock = shared ? RowLock::kShared : RowLock::kNone;
  statement_.row_lock = statement_.stored_lock = lock;
  statement_.reads_of_a_write = reads_of_a_write;
  return to;
}

int ha_tidesdb::external_lock(THD* thd, int lock_type) noexcept {
  return guard::Run([&] {
    if (lock_type == F_UNLCK) return 0;
    if (const int error = Bind(thd)) return error;
    if (statement_.session->aborted()) return HA_ERR_ROLLBACK;
    if (lock_type == F_WRLCK && tidesdb_hton->prepare == nullptr &&
        thd->transaction->xid_state.is_explicit_XA()) {
      // The plugin was loaded at run time. The server would accept XA PREPARE with a warning, and a crash would
      // undo the prepared branch.
      my_error(ER_NOT_SUPPORTED_YET, MYF(0),
               "XA transactions that write to TidesDB tables, unless the plugin is loaded when the "
               "server starts,");
      return HA_ERR_UNSUPPORTED;
    }
    statement_.Begin(thd);
    if (lock_type == F_WRLCK) {
      statement_.row_lock = statement_.stored_lock = RowLock::kExclusive;
    } else if (statement_.row_lock == RowLock::kNone && statement_.level == ISO_SERIALIZABLE &&
               thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN)) {
      statement_.row_lock = statement_.stored_lock = RowLock::kShared;
    }
    statement_.logs_statements = thd_binlog_format(thd) == BINLOG_FORMAT_STMT &&
                                 statement_.session->pessimistic() &&
                                 statement_.level > ISO_READ_COMMITTED;
    OfferRowFilters();
    return 0;
  });
}

int ha_tidesdb::start_stmt(THD* thd, thr_lock_type lock_type) noexcept {
  return guard::Run([&] {
    if (const int error = Bind(thd)) return error;
    if (statement_.session->aborted()) return HA_ERR_ROLLBACK;
    statement_.Begin(thd);
    if (table_share->tmp_table != NO_TMP_TABLE) {
      // A temporary table created under LOCK TABLES gets no external_lock().
      statement_.row_lock = lock_type >= TL_FIRST_WRITE ? RowLock::kExclusive : RowLock::kNone;
    } else if (thd_sql_command(thd) == SQLCOM_SELECT && lock_type == TL_READ &&
               statement_.level != ISO_SERIALIZABLE) {
      statement_.row_lock = RowLock::kNone;
    } else {
      statement_.row_lock = statement_.stored_lock;
    }
    OfferRowFilters();
    return 0;
  });
}

void ha_tidesdb::init_table_handle_for_HANDLER() noexcept {
  guard::Run([&] {
    if (const int error = Bind(ha_thd())) return error;
    statement_.reads_for_log = false;
    statement_.Begin(ha_thd());
    scan_.UseView();
    statement_.row_lock = statement_.stored_lock = RowLock::kNone;
    return 0;
  });
}

int ha_tidesdb::extra(ha_extra_function operation) noexcept {
  return guard::Run([&] {
    switch (operation) {
      case HA_EXTRA_KEYREAD:
        statement_.key_read = true;
        break;
      case HA_EXTRA_NO_KEYREAD:
        statement_.key_read = false;
        break;
      case HA_EXTRA_WRITE_CAN_REPLACE:
      case HA_EXTRA_INSERT_WITH_UPDATE:
        statement_.replaces_duplicates = true;
        [[fallthrough]];
      case HA_EXTRA_IGNORE_DUP_KEY:
        statement_.duplicates_wanted = true;
        break;
      case HA_EXTRA_NO_IGNORE_DUP_KEY:
      case HA_EXTRA_WRITE_CANNOT_REPLACE:
        statement_.duplicates_wanted = statement_.replaces_duplicates = false;
        break;
      case port::kBeginCopy:
        if (const int error = open_.Bind()) return error;
        writer_.BeginCopy();
        break;
      case port::kEndCopy:
      case port::kAbortCopy:
        return writer_.GiveLoadUp();
      default:
        break;
    }
    return 0;
  });
}

int ha_tidesdb::reset() noexcept {
  return guard::Run([&] {
    scan_.Close();
    reader_.Forget();
    writer_.Forget();
    statement_.key_read = false;
    statement_.duplicates_wanted = statement_.replaces_duplicates = false;
    auto_increment_last_ = 0;
    return 0;
  });
}

void ha_tidesdb::column_bitmaps_signal() noexcept {
  guard::Run([&] {
    if (table->vfield == nullptr || table->current_lock != F_WRLCK) return 0;
    // The entries of indexed virtual columns are written from these values.
    for (Field** field = table->vfield; *field != nullptr; field++) {
      if (!(*field)->stored_in_db() && ((*field)->flags & PART_KEY_FLAG) != 0) {
        table->mark_virtual_column_with_deps(*field);
      }
    }
    return 0;
  });
}

}  // namespace tidesdb::plugin
