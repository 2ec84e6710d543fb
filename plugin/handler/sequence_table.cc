// The one row of a CREATE SEQUENCE. It is read and written outside of the connection's transaction,
// so that a rollback does not return numbers.
//
// The server lets one thread at a time write it, and gives out most numbers from a reserved range.
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

int ha_tidesdb::ReadSequence(uchar* record) {
  const auto transaction = engine->db->Begin({});
  return reader_.ReadAlone(transaction.get(), SequenceKey(), record);
}

int ha_tidesdb::WriteSequence(const uchar* record) {
  std::string row;
  open_.codec.rows().Encode(record, &row);
  const auto transaction = engine->db->Begin({});
  Status written = transaction->PutUnderLock(open_.state->primary, SequenceKey(), row);
  if (written.ok()) written = transaction->Commit();
  return written.ok() ? 0 : statement_.Fail(written);
}

}  // namespace tidesdb::plugin
