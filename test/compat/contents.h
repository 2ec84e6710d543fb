// What the databases in test/compat/vN hold: written once by make_fixture, wanted of every later build.
#pragma once

#include <map>
#include <string>

#include "tidesdb/db.h"

namespace tidesdb::compat {

// By family, its keys and values; and the catalog's entries.
struct Contents {
  std::map<std::string, std::map<std::string, std::string>> families;
  std::map<std::string, std::string> catalog;
};

// Of format version 1. Never changed: a newer format has contents of its own.
Contents ContentsOfV1();

// Fills an empty database with that: in table files of several levels and every compression, taken
// in from a transaction that spilled, and in the log alone.
Status WriteV1(Db* db);

// What a database holds now.
Result<Contents> Read(Db* db);

// Options under which files are small.
Options SmallFiles();

}  // namespace tidesdb::compat
