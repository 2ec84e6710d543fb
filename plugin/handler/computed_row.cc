#include "handler/computed_row.h"

namespace tidesdb::plugin {
namespace {

// Keeps errors and warnings from the client, and the text of the first error.
class FirstError final : public Internal_error_handler {
 public:
  explicit FirstError(THD* thd) : thd_(thd) { thd_->push_internal_handler(this); }
  ~FirstError() override { thd_->pop_internal_handler(); }
  FirstError(const FirstError&) = delete;
  FirstError& operator=(const FirstError&) = delete;

  bool handle_condition(THD*, uint, const char*, Sql_condition::enum_warning_level* level,
                        const char* text, Sql_condition** condition) override {
    *condition = nullptr;
    if (*level == Sql_condition::WARN_LEVEL_ERROR && text_.empty()) text_ = text;
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  THD* thd_;
  std::string text_;
};

}  // namespace

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
  const FirstError error(thd);
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
  return failed ? Status::InvalidArgument(error.text()) : Status::Ok();
}

}  // namespace tidesdb::plugin
