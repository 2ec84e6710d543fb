// Decides which results the server's query cache may keep, and when it may return them.
//
// A cached result has the version of the rows it was made from, for each of its tables. It is
// returned to readers that would now read that version.
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

// Called before the statement is parsed; the name is "/database/table". If *version changes, the
// server drops its results for the table.
bool MayGiveOut(THD* thd, const std::string& name, ulonglong* version) {
  const auto found = engine->dictionary.Find(name);
  if (!found.ok() || *found == nullptr) return false;
  const TableState& table = **found;
  Session& session = Session::Of(thd);
  const int isolation = thd_tx_isolation(thd);
  if (thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN) && !session.aborted()) {
    if (isolation == ISO_SERIALIZABLE) return false;  // It locks what it reads.
    // Its next reads are as old as this result.
    if (isolation == ISO_REPEATABLE_READ) session.BeginWithSnapshot();
  }
  const auto seen = session.NewestVersionSeen(table);
  if (seen == *version) return true;
  *version = table.version;
  return false;
}

}  // namespace

my_bool ha_tidesdb::register_query_cache_table(THD* thd, const char*, uint,
                                               qc_engine_callback* may_give_out,
                                               ulonglong* version) noexcept {
  *may_give_out = [](THD* reader, const char* name, uint length, ulonglong* kept) -> my_bool {
    bool may = false;
    guard::Run([&] {
      may = MayGiveOut(reader, std::string(name + 1, length - 1), kept);
      return 0;
    });
    return may;
  };
  bool may = false;
  guard::Run([&] {
    if (const int error = Bind(thd)) return error;
    if (statement_.row_lock != RowLock::kNone || thd_in_lock_tables(thd)) return 0;
    if (!statement_.session->in_statement() || statement_.session->aborted()) return 0;
    statement_.session->TransactionForPlainRead();
    const auto seen = statement_.session->NewestVersionSeen(*open_.state);
    may = seen.has_value();
    if (may) *version = *seen;
    return 0;
  });
  return may;
}

}  // namespace tidesdb::plugin
