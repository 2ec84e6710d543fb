// Families that come and go beside the others, as temporary tables do: made and dropped by lazy
// edits, which a crash may undo.
#pragma once

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
  // Writes to one of them, if there is any.
  Status Write(Db* db, Transaction* txn, Random* random);

 private:
  uint64_t generations_ = 0;
  std::vector<ColumnFamily*> families_;
};

}  // namespace tidesdb::simtest
