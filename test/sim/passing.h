// Families that come and go beside the others, like temporary tables: created and dropped by lazy
// edits, which a crash may undo.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "tidesdb/db.h"

namespace tidesdb::simtest {

class PassingFamilies {
 public:
  // After an open: each family must have its catalog entry, and each entry its family. Drops them
  // all. Returns the fault, or nothing.
  std::string Recovered(Db* db, Random* random);
  // Creates one or drops one. *wrong: the fault, or empty.
  Status Change(Db* db, Random* random, std::string* wrong);
  // Creates one and loads it, while others may write to it.
  Status Load(Db* db, Random* random, std::string* wrong);
  // Writes to one of them, if there are any.
  Status Write(Db* db, Transaction* txn, Random* random);

  uint64_t loads() const { return loads_; }

 private:
  // The rows of a load, by the family's generation.
  struct Loaded {
    uint64_t rows;
    bool certain;  // The load reported them as durable; otherwise all are there, or none.
  };

  // Null, with *wrong, if it is missing.
  Result<ColumnFamily*> Make(Db* db, bool lazy, std::string* generation, std::string* wrong);
  // The fault, or empty. Errors: those of reading.
  Result<std::string> CheckRows(Db* db, ColumnFamily* family, const std::string& generation) const;

  uint64_t generations_ = 0;
  uint64_t loads_ = 0;
  std::vector<ColumnFamily*> families_;
  std::map<std::string, Loaded> loaded_;
};

}  // namespace tidesdb::simtest
