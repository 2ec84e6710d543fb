// The contents of the databases in test/compat/vN: written once by make_fixture, expected by every later build.
#pragma once

#include <map>
#include <string>

#include "tidesdb/db.h"

namespace tidesdb::compat {

// The keys and values of each family, and the catalog's entries.
struct Contents {
  std::map<std::string, std::map<std::string, std::string>> families;
  std::map<std::string, std::string> catalog;
};

// Of the fixtures v1 and v2. Never changed: a format that stores other contents has its own.
Contents ContentsOfV1();
// The rule of v2's families for tombstones. No file meets it; those of v1 have the defaults.
constexpr int kTombstoneTriggerOfV2 = 9'900;
constexpr uint64_t kTombstoneEntriesOfV2 = uint64_t{1} << 40;

// Fills an empty database as v2: in table files of several levels and every compression, ingested from a
// transaction that spilled, and from the log.
Status WriteV2(Db* db);

// The current contents of a database.
Result<Contents> Read(Db* db);

// Options that make small files.
Options SmallFiles();

}  // namespace tidesdb::compat
