#include "server/sight.h"

#include <cstdio>

#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

constexpr size_t kLocksCounted = 1'000'000;

template <typename... Args>
void AppendF(std::string* text, const char* format, Args... args) {
  char line[512];
  snprintf(line, sizeof line, format, args...);
  *text += line;
}

void AppendWait(const LockWaitInfo& wait, const FamilyNames& names, std::string* text) {
  const FamilyName& name = names.Of(wait.family, wait.key);
  AppendF(text, "WAITS %.3f sec for %s%s of ", static_cast<double>(wait.wait_us) / 1e6,
          wait.what == WaitFor::kRow     ? "the row lock"
          : wait.what == WaitFor::kRange ? "a locked range"
                                         : "a write",
          wait.what != WaitFor::kRow ? ""
          : wait.exclusive           ? " (X)"
                                     : " (S)");
  *text +=
      name.schema + "." + name.table + " " + name.index + ": " + names.Key(wait.family, wait.key);
  AppendF(text, ", held by transaction %llu", static_cast<unsigned long long>(wait.blocking));
  if (wait.blocking_tag != 0) {
    AppendF(text, ", thread id %llu", static_cast<unsigned long long>(wait.blocking_tag));
  }
  *text += "\n";
}

// Replaces an index's name.
constexpr char kLongValues[] = "#values";
constexpr char kNumbers[] = "#auto_increment";

}  // namespace

FamilyNames::FamilyNames() : shapes_(engine->dictionary.AllKeyShapes()) {
  for (const auto& [name, def] : engine->dictionary.List()) {
    FamilyName found;
    const size_t from = name.rfind("./", 0) == 0 ? 2 : 0;
    const size_t slash = name.find('/', from);
    if (slash != std::string::npos) found.schema = name.substr(from, slash - from);
    found.table = slash == std::string::npos ? name : name.substr(slash + 1);
    found.index = "PRIMARY";
    names_[def.primary_family] = found;
    for (const IndexDef& index : def.indexes) {
      found.index = index.name;
      names_[index.family] = found;
    }
    found.index = kNumbers;
    numbers_[NumbersKey(def)] = found;
    if (def.values_family == 0) continue;
    found.index = kLongValues;
    names_[def.values_family] = found;
  }
  for (const auto& table : shapes_) {
    for (const auto& [family, shape] : *table) shape_of_[family] = &shape;
  }
}

const FamilyName& FamilyNames::Of(uint32_t family, Slice key) const {
  const auto at = names_.find(family);
  if (at != names_.end()) return at->second;
  if (family != engine->dictionary.system()->id()) return unknown_;
  const auto numbers = numbers_.find(key);
  return numbers == numbers_.end() ? unknown_ : numbers->second;
}

std::string FamilyNames::Key(uint32_t family, Slice key) const {
  const auto at = shape_of_.find(family);
  std::string text = at == shape_of_.end() ? HexLiteral(key) : KeyLiterals(*at->second, key);
  if (text.size() > kKeyCharsMax) text.replace(kKeyCharsMax - 3, std::string::npos, "...");
  return text;
}

std::vector<OpenTransaction> OpenTransactions() {
  std::vector<OpenTransaction> all;
  Session::ForEachTransaction([&](const Session::Sight& seen) {
    OpenTransaction one;
    one.id = seen.transaction;
    one.connection = thd_get_thread_id(seen.thd);
    one.begun = seen.begun;
    one.isolation = seen.isolation;
    one.row_locks = seen.row_locks;
    char query[kQueryCharsMax + 1];
    one.query.assign(query, thd_query_safe(seen.thd, query, sizeof query));
    all.push_back(std::move(one));
  });
  return all;
}

const char* NameOf(enum_tx_isolation isolation) {
  switch (isolation) {
    case ISO_READ_UNCOMMITTED:
      return "READ UNCOMMITTED";
    case ISO_READ_COMMITTED:
      return "READ COMMITTED";
    case ISO_REPEATABLE_READ:
      return "REPEATABLE READ";
    default:
      return "SERIALIZABLE";
  }
}

const char* NameOf(WaitFor what) {
  switch (what) {
    case WaitFor::kRow:
      return "ROW";
    case WaitFor::kRange:
      return "RANGE";
    default:
      return "WRITE";
  }
}

std::string TransactionsText() {
  std::string text = "TRANSACTIONS\n";
  std::map<uint64_t, uint64_t> locks;
  for (const LockInfo& lock : engine->db->GetLocks(kLocksCounted)) ++locks[lock.transaction];
  const std::vector<LockWaitInfo> waits = engine->db->GetLockWaits();
  const FamilyNames names;
  const time_t now = time(nullptr);
  for (const OpenTransaction& open : OpenTransactions()) {
    AppendF(
        &text, "---TRANSACTION %llu, ACTIVE %lld sec, %s%s, %llu locks\nMariaDB thread id %llu\n",
        static_cast<unsigned long long>(open.id),
        static_cast<long long>(now > open.begun ? now - open.begun : 0), NameOf(open.isolation),
        open.row_locks ? "" : ", row locks off", static_cast<unsigned long long>(locks[open.id]),
        static_cast<unsigned long long>(open.connection));
    if (!open.query.empty()) text += open.query + "\n";
    for (const LockWaitInfo& wait : waits) {
      if (wait.waiting == open.id) AppendWait(wait, names, &text);
    }
  }
  for (const auto& [transaction, name] : engine->branches.All()) {
    AppendF(&text, "---TRANSACTION %llu, PREPARED, %llu locks\n",
            static_cast<unsigned long long>(transaction),
            static_cast<unsigned long long>(locks[transaction]));
  }
  return text;
}

}  // namespace tidesdb::plugin
