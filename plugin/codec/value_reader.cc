#include "codec/value_reader.h"

#include "codec/bytes.h"
#include "codec/key_literals.h"

namespace tidesdb::plugin {
namespace {

Result<bool> GetNewest(Transaction* transaction, ColumnFamily* family, Slice key,
                       PinnedValue* value) {
  ScanOptions newest;
  newest.newest = true;
  newest.lower = key;
  const auto values = transaction->NewIterator(family, newest);
  values->Seek(key);
  TIDESDB_TRY(values->status());
  if (!values->Valid() || values->key() != key) return false;
  value->Assign(values->value());
  return true;
}

}  // namespace

std::string ApartKey(uint64_t id) {
  std::string key;
  PutBig64(&key, id);
  return key;
}

std::string ValueMissing(Slice primary_key) {
  return "a long value is missing for the row with key " + HexLiteral(primary_key);
}

Result<bool> ValueReader::Read(Transaction* transaction, ColumnFamily* family, const RowCodec& rows,
                               const std::vector<ApartValue>& values, uint8_t* record) {
  const auto find = [&](Slice key, PinnedValue* value) -> Result<bool> {
    if (family == nullptr) return Status::Corruption("a row names a value, but the table has none");
    TIDESDB_ASSIGN(const bool found, transaction->Get(family, key, value));
    // A row that was locked or written by this transaction may be newer than its snapshot.
    if (found || !transaction->HasSnapshot()) return found;
    return GetNewest(transaction, family, key, value);
  };
  return ReadBy(find, rows, values, record);
}

Result<bool> ValueReader::ReadBy(const Find& find, const RowCodec& rows,
                                 const std::vector<ApartValue>& values, uint8_t* record) {
  pinned_.clear();
  for (const ApartValue& value : values) {
    PinnedValue& pinned = pinned_.emplace_back();
    TIDESDB_ASSIGN(const bool found, find(ApartKey(value.id), &pinned));
    if (!found) return false;
    const bool fits = pinned.slice().size() == value.bytes &&
                      (value.column == ApartValue::kNoColumn ||
                       StoreRawValue(rows.columns()[value.column], pinned.slice(), record));
    if (!fits) return Status::Corruption("a row's long value does not have the length in the row");
  }
  return true;
}

}  // namespace tidesdb::plugin
