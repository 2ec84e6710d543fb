// Families that come and go beside the others, as temporary tables do: made and dropped by lazy
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
  // After an open: each has its catalog entry, and each entry its family. Drops them all. What is
  // wrong, or empty.
  std::string Recovered(Db* db, Random* random);
  // Makes one or drops one. *wrong: what should not be, or empty.
  Status Change(Db* db, Random* random, std::string* wrong);
  // Makes one and loads it, while others may write to it.
  Status Load(Db* db, Random* random, std::string* wrong);
  // Writes to one of them, if there is any.
  Status Write(Db* db, Transaction* txn, Random* random);

  uint64_t loads() const { return loads_; }

 private:
  // Of the rows of a load, by the family's generation.
  struct Loaded {
    uint64_t rows;
    bool certain;  // It was told that they are there and durable; else all are, or none.
  };

  // Null, with *wrong, when it is not there.
  Result<ColumnFamily*> Make(Db* db, bool lazy, std::string* generation, std::string* wrong);
  // What is wrong, or empty. Errors: of reading.
  Result<std::string> CheckRows(Db* db, ColumnFamily* family, const std::string& generation) const;

  uint64_t generations_ = 0;
  uint64_t loads_ = 0;
  std::vector<ColumnFamily*> families_;
  std::map<std::string, Loaded> loaded_;
};

}  // namespace tidesdb::simtest
