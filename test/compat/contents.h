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

// Of format version 1. Never changed: a newer format has its own contents.
Contents ContentsOfV1();

// Fills an empty database with it: in table files of several levels and every compression, ingested from a
// transaction that spilled, and in the log only.
Status WriteV1(Db* db);

// The current contents of a database.
Result<Contents> Read(Db* db);

// Options that make small files.
Options SmallFiles();

}  // namespace tidesdb::compat
