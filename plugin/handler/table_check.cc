// CHECK TABLE: checks every row and every index entry, and that they match.
//
// It scans the rows once and each index once: the sum over the entries that the rows should have
// must equal the sum over the existing ones. Only if they differ, rows and entries are looked up in
// each other to name the fault. Long values and the rows that refer to them are checked the same
// way.
#include "handler/ha_tidesdb.h"

#include <algorithm>

#include "base/guard.h"
#include "base/stage.h"
#include "codec/bytes.h"
#include "codec/entry_sum.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

constexpr uint64_t kRowsBetweenKillChecks = 1000;

class TableCheck {
 public:
  // `families`: by key number. Everything outlives this object.
  TableCheck(handler* file, TABLE* table, const TableCodec& codec, const TableState& state,
             const std::vector<ColumnFamily*>& families, Transaction* transaction,
             VerifyDepth depth)
      : file_(file),
        table_(table),
        codec_(codec),
        state_(state),
        families_(families),
        transaction_(transaction),
        depth_(depth) {
    everything_.Build(codec.rows(), std::vector<bool>(table->s->fields, true));
  }

  // Errors: kCorruption, kIoError; kInterrupted: the statement was killed.
  Status Run() {
    TIDESDB_TRY(VerifyFiles());
    // Scan() shows the progress. The number of entries and values is known after the rows.
    const auto rows_about = static_cast<uint64_t>(std::max<int64_t>(0, state_.rows.load()));
    Stage stage(table_->in_use, StageOf::kCheckEntries, rows_about * (1 + state_.indexes.size()));
    stage_ = &stage;
    const Status status = CheckEntries();
    stage_ = nullptr;
    return status;
  }

 private:
  Status VerifyFiles() const {
    const std::vector<ColumnFamily*> families = state_.families();
    Stage stage(table_->in_use, StageOf::kCheckFiles, families.size());
    uint64_t done = 0;
    for (ColumnFamily* family : families) {
      TIDESDB_TRY(engine->db->Verify(family, depth_));
      stage.Done(++done);
    }
    return Status::Ok();
  }

  Status CheckEntries() {
    std::vector<EntrySum> wanted(table_->s->keys);
    EntrySum wanted_values;
    TIDESDB_TRY(ForEachRow([&] {
      for (uint i = 0; i < table_->s->keys; i++) {
        if (codec_.is_primary(i)) continue;
        EncodeEntry(i);
        wanted[i].Add(key_, value_);
      }
      return AddValues(&wanted_values);
    }));
    stage_->Expect(scanned_ * (1 + state_.indexes.size()) + wanted_values.entries());
    for (uint i = 0; i < table_->s->keys; i++) {
      if (!codec_.is_primary(i)) TIDESDB_TRY(CheckIndex(i, wanted[i]));
    }
    return CheckValues(wanted_values);
  }

  template <typename Visit>  // Status(Slice key, Slice value)
  Status Scan(ColumnFamily* family, Visit visit) {
    ScanOptions options;
    options.fill_cache = false;
    const auto scan = transaction_->NewIterator(family, options);
    uint64_t seen = 0;
    for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
      stage_->Done(++scanned_);
      if (++seen % kRowsBetweenKillChecks == 0 &&
          thd_kill_level(table_->in_use) != THD_IS_NOT_KILLED) {
        return Status::Interrupted("CHECK TABLE was killed");
      }
      TIDESDB_TRY(visit(scan->key(), scan->value()));
    }
    return scan->status();
  }

  // Each row in turn is in record[0], its key in primary_key_.
  template <typename Visit>  // Status()
  Status ForEachRow(Visit visit) {
    return Scan(state_.primary, [&](Slice primary_key, Slice row) {
      row_ = row;
      TIDESDB_TRY(Decode(primary_key, row));
      return visit();
    });
  }

  Status Decode(Slice primary_key, Slice row) {
    uchar* const record = table_->record[0];
    primary_key_ = primary_key;
    TIDESDB_TRY(everything_.Decode(row, record, &apart_));
    TIDESDB_TRY(ReadValues(record));
    if (!codec_.RestorePrimaryKey(primary_key, record)) {
      return Status::Corruption("the key of " + NameOfRow() + " is damaged");
    }
    if (table_->vfield != nullptr) table_->update_virtual_fields(file_, VCOL_UPDATE_FOR_READ);
    return Status::Ok();
  }

  // Reads what index entries are made from.
  Status ReadValues(uchar* record) {
    const auto unused = [this](const ApartValue& value) {
      for (uint i = 0; i < table_->s->keys; i++) {
        if (codec_.is_made_from(i, value.column)) return false;
      }
      return table_->vfield == nullptr;
    };
    apart_.erase(std::remove_if(apart_.begin(), apart_.end(), unused), apart_.end());
    TIDESDB_ASSIGN(const bool whole,
                   values_.Read(transaction_, state_.values, codec_.rows(), apart_, record));
    return whole ? Status::Ok()
                 : Status::Corruption("a long value of " + NameOfRow() + " is missing");
  }

  // For the row at a scan's position, also values of dropped columns.
  Status AddValues(EntrySum* wanted) {
    TIDESDB_TRY(codec_.rows().ListApart(row_, &apart_));
    for (const ApartValue& value : apart_)
      wanted->Add(ApartKey(value.id), LengthBytes(value.bytes));
    return Status::Ok();
  }

  Status CheckValues(const EntrySum& wanted) {
    EntrySum there;
    if (state_.values != nullptr) {
      TIDESDB_TRY(Scan(state_.values, [&](Slice key, Slice value) {
        there.Add(key, LengthBytes(value.size()));
        return Status::Ok();
      }));
    }
    if (there == wanted) return Status::Ok();
    TIDESDB_TRY(FindBadValue());
    return Status::Corruption("there are " + std::to_string(there.entries()) +
                              " long values, but rows refer to " +
                              std::to_string(wanted.entries()));
  }

  Status FindBadValue() {
    return ForEachRow([&] {
      TIDESDB_TRY(codec_.rows().ListApart(row_, &apart_));
      TIDESDB_ASSIGN(const bool whole, values_.Read(transaction_, state_.values, codec_.rows(),
                                                    apart_, table_->record[0]));
      if (whole) return Status::Ok();
      return Status::Corruption("a long value of " + NameOfRow() + " is missing");
    });
  }

  static std::string LengthBytes(uint64_t length) {
    std::string bytes;
    PutBig64(&bytes, length);
    return bytes;
  }

  void EncodeEntry(uint number) {
    codec_.Entry(number, table_->record[0], primary_key_, &key_, &value_);
  }

  Status CheckIndex(uint number, const EntrySum& wanted) {
    EntrySum there;
    TIDESDB_TRY(Scan(families_[number], [&](Slice key, Slice value) {
      there.Add(key, value);
      return Status::Ok();
    }));
    if (there == wanted) return Status::Ok();
    TIDESDB_TRY(FindBadRow(number));
    TIDESDB_TRY(FindBadEntry(number));
    return Status::Corruption("index " + NameOf(number) + " has " +
                              std::to_string(there.entries()) + " entries for " +
                              std::to_string(wanted.entries()) + " rows");
  }

  Status FindBadRow(uint number) {
    return ForEachRow([&] {
      EncodeEntry(number);
      TIDESDB_ASSIGN(const bool found, transaction_->Get(families_[number], key_, &found_));
      if (!found)
        return Status::Corruption(NameOfRow() + " has no entry in index " + NameOf(number));
      if (found_.slice() == Slice(value_)) return Status::Ok();
      return Status::Corruption("the entry of " + NameOfRow() + " in index " + NameOf(number) +
                                " differs from it");
    });
  }

  // REQUIRES: FindBadRow() found no fault.
  Status FindBadEntry(uint number) {
    std::string buffer;
    return Scan(families_[number], [&](Slice key, Slice value) {
      const auto bad = [&](const std::string& what) {
        return Status::Corruption("entry (" + Literals(families_[number], key) + ") of index " +
                                  NameOf(number) + what);
      };
      Slice primary_key;
      if (!codec_.PrimaryKeyOfEntry(number, key, value, &buffer, &primary_key)) {
        return bad(" is damaged");
      }
      TIDESDB_ASSIGN(const bool found, transaction_->Get(state_.primary, primary_key, &found_));
      if (!found) return bad(" has no row");
      TIDESDB_TRY(Decode(primary_key, found_.slice()));
      EncodeEntry(number);
      return Slice(key_) == key ? Status::Ok() : bad(" does not match its row");
    });
  }

  std::string NameOf(uint number) const { return table_->key_info[number].name.str; }
  std::string NameOfRow() const { return "row (" + Literals(state_.primary, primary_key_) + ")"; }
  std::string Literals(const ColumnFamily* family, Slice key) const {
    const auto shapes = state_.key_shapes();
    const auto shape = shapes->find(family->id());
    return shape == shapes->end() ? HexLiteral(key) : KeyLiterals(shape->second, key);
  }

  handler* const file_;
  TABLE* const table_;
  const TableCodec& codec_;
  const TableState& state_;
  const std::vector<ColumnFamily*>& families_;
  Transaction* const transaction_;
  const VerifyDepth depth_;
  Stage* stage_ = nullptr;
  uint64_t scanned_ = 0;  // Rows, entries and values.
  RowPlan everything_;
  ValueReader values_;
  std::vector<ApartValue> apart_;
  Slice primary_key_;
  Slice row_;
  std::string key_;
  std::string value_;
  PinnedValue found_;
};

}  // namespace

int ha_tidesdb::check(THD* thd, HA_CHECK_OPT* wanted) noexcept {
  return guard::Run([&] {
    if (Bind(thd) != 0) return HA_ADMIN_FAILED;
    statement_.Begin(thd);
    table->use_all_columns();
    // The scans read the entries anyway, so a plain CHECK TABLE reads them only once.
    const VerifyDepth depth =
        (wanted->flags & T_EXTEND) != 0 ? VerifyDepth::kAll : VerifyDepth::kAllButEntries;
    const Status checked = TableCheck(this, table, open_.codec, *open_.state, open_.families,
                                      statement_.TransactionForPlainRead(), depth)
                               .Run();
    if (checked.ok()) return HA_ADMIN_OK;
    if (checked.code() == Code::kInterrupted) return HA_ADMIN_FAILED;
    push_warning_printf(thd, Sql_condition::WARN_LEVEL_WARN, ER_NOT_KEYFILE, "TidesDB: %s",
                        checked.ToString().c_str());
    sql_print_error("TidesDB: CHECK TABLE %s: %s", open_.name.c_str(), checked.ToString().c_str());
    return HA_ADMIN_CORRUPT;
  });
}

}  // namespace tidesdb::plugin
