// Decides which results the server's query cache may keep, and when it may return them.
//
// A cached result has the version of the rows it was made from, for each of its tables. It is
// returned to readers that would now read that version.
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

bool MayGiveOut(THD* thd, const std::string& name, enum_tx_isolation table_level,
                ulonglong* version) {
  const auto found = engine->dictionary.Find(name);
  if (!found.ok() || *found == nullptr) return false;
  const TableState& table = **found;
  Session& session = Session::Of(thd);
  const enum_tx_isolation level = Session::LevelFor(thd, table_level);
  if (thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN) && !session.aborted()) {
    if (level == ISO_SERIALIZABLE) return false;  // It locks what it reads.
    // Its next reads are as old as this result.
    if (level == ISO_REPEATABLE_READ) session.BeginWithSnapshot();
  }
  const auto seen = session.NewestVersionSeen(table, Session::ViewAt(level));
  if (seen == *version) return true;
  *version = table.version;
  return false;
}

// Called before the statement is parsed; the name is "/database/table". If *version changes, the
// server drops its results for the table. An ALTER TABLE drops them too, so the table's level is
// still that of the kept result.
template <enum_tx_isolation table_level>
my_bool MayGiveOutAt(THD* reader, const char* name, uint length, ulonglong* version) {
  bool may = false;
  guard::Run([&] {
    may = MayGiveOut(reader, std::string(name + 1, length - 1), table_level, version);
    return 0;
  });
  return may;
}

qc_engine_callback CallbackFor(enum_tx_isolation table_level) {
  switch (table_level) {
    case ISO_SERIALIZABLE:
      return MayGiveOutAt<ISO_SERIALIZABLE>;
    case ISO_REPEATABLE_READ:
      return MayGiveOutAt<ISO_REPEATABLE_READ>;
    default:
      return MayGiveOutAt<ISO_READ_COMMITTED>;
  }
}

}  // namespace

my_bool ha_tidesdb::register_query_cache_table(THD* thd, const char*, uint,
                                               qc_engine_callback* may_give_out,
                                               ulonglong* version) noexcept {
  *may_give_out = CallbackFor(sysvars::LevelOf(*table_share->option_struct));
  bool may = false;
  guard::Run([&] {
    if (const int error = Bind(thd)) return error;
    if (statement_.row_lock != RowLock::kNone || thd_in_lock_tables(thd)) return 0;
    if (!statement_.session->in_statement() || statement_.session->aborted()) return 0;
    statement_.TransactionForPlainRead();
    const auto seen = statement_.session->NewestVersionSeen(*open_.state, statement_.view());
    may = seen.has_value();
    if (may) *version = *seen;
    return 0;
  });
  return may;
}

}  // namespace tidesdb::plugin
