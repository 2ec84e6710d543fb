// The one row of a CREATE SEQUENCE: read and written outside of the connection's transaction, as a
// number that was given out is not given out again when that rolls back.
//
// The server sees to it that one at a time writes it, and gives out most numbers from what it has
// reserved.
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "codec/bytes.h"
#include "dictionary/engine.h"

namespace tidesdb::plugin {
namespace {

std::string SequenceKey() {
  std::string key;
  PutBig64(&key, 1);
  return key;
}

}  // namespace

bool ha_tidesdb::IsSequence() const { return table_share->table_type == TABLE_TYPE_SEQUENCE; }

int ha_tidesdb::ReadSequence(uchar* record) {
  const auto transaction = engine->db->Begin({});
  primary_key_ = SequenceKey();
  const auto found = transaction->Get(state_->primary, primary_key_, &row_);
  if (!found.ok()) return Fail(found.status());
  if (!*found) return HA_ERR_END_OF_FILE;
  return DecodeRow(primary_key_, row_.slice(), true, record);
}

int ha_tidesdb::WriteSequence(const uchar* record) {
  codec_.rows().Encode(record, &row_bytes_);
  const auto transaction = engine->db->Begin({});
  Status written = transaction->PutUnderLock(state_->primary, SequenceKey(), row_bytes_);
  if (written.ok()) written = transaction->Commit();
  return written.ok() ? 0 : Fail(written);
}

}  // namespace tidesdb::plugin
