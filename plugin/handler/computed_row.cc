#include "handler/computed_row.h"

#include "handler/unsaid.h"

namespace tidesdb::plugin {

// The server's own values of a virtual blob belong to its records, which may point to them.
void ComputedRow::SwapBlobs(TABLE* table) {
  auto blob = blobs_.begin();
  for (Field** field = table->vfield; *field != nullptr; field++) {
    if (((*field)->flags & BLOB_FLAG) == 0 || (*field)->stored_in_db()) continue;
    static_cast<Field_blob*>(*field)->swap(*blob++, false);
  }
}

Status ComputedRow::Compute(TABLE* table, const std::vector<uint>& columns, const uchar* row) {
  THD* const thd = table->in_use;
  if (blobs_.empty()) blobs_ = std::vector<String>(table->s->virtual_fields);
  record_.assign(row, row + table->s->reclength);
  bool failed = false;
  const Unsaid unsaid(thd);
  {
    // A value that does not fit is shortened, as in a read, whatever the sql_mode.
    const Check_level_instant_set unchecked(thd, CHECK_FIELD_IGNORE);
    SwapBlobs(table);
    table->move_fields(table->field, record_.data(), table->record[0]);
    for (const uint column : columns) {
      failed |= table->update_virtual_field(table->field[column], true) != 0;
    }
    table->move_fields(table->field, table->record[0], record_.data());
    SwapBlobs(table);
  }
  // Some functions, such as those of JSON, then give up.
  if (thd_kill_level(thd) != THD_IS_NOT_KILLED) {
    return Status::Interrupted("the statement was killed");
  }
  return failed ? Status::InvalidArgument(unsaid.first_error()) : Status::Ok();
}

}  // namespace tidesdb::plugin
