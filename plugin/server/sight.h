// Data for both information_schema and SHOW ENGINE TIDESDB STATUS: readable names of families, and open
// transactions.
//
// Threads: any.
#pragma once

#include "base/server_port.h"

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec/key_literals.h"
#include "tidesdb/stats.h"

namespace tidesdb::plugin {

// The use of a family.
struct FamilyName {
  std::string schema;
  std::string table;
  std::string index;  // "PRIMARY": the rows.
};

// All families, at one moment.
class FamilyNames {
 public:
  static constexpr uint kKeyCharsMax = 1024;

  FamilyNames();
  FamilyNames(const FamilyNames&) = delete;
  FamilyNames& operator=(const FamilyNames&) = delete;

  const FamilyName& Of(uint32_t family, Slice key) const;  // Empty names: not a table's.
  // As SQL literals if the table was opened since the start; at most kKeyCharsMax.
  std::string Key(uint32_t family, Slice key) const;

 private:
  const std::vector<std::shared_ptr<const KeyShapes>> shapes_;
  const FamilyName unknown_;
  std::map<uint32_t, FamilyName> names_;
  std::map<std::string, FamilyName, std::less<>> numbers_;  // By NumbersKey().
  std::map<uint32_t, const KeyShape*> shape_of_;
};

// A transaction with an open connection.
struct OpenTransaction {
  uint64_t id = 0;
  uint64_t connection = 0;
  time_t begun = 0;
  enum_tx_isolation isolation = ISO_REPEATABLE_READ;
  bool row_locks = true;
  std::string query;  // "": none, or it is just changing.
};
constexpr uint kQueryCharsMax = 1024;
std::vector<OpenTransaction> OpenTransactions();

const char* NameOf(enum_tx_isolation isolation);
const char* NameOf(WaitFor what);

// As in InnoDB's status: open transactions, their age, their locks and their waits.
std::string TransactionsText();

}  // namespace tidesdb::plugin
