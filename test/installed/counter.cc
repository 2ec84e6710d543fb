// Counts its runs in a database of the installed libtidesdb; exit code 0 and the count.
#include <cstdio>
#include <string>
#include <utility>

#include "tidesdb/db.h"

namespace {

tidesdb::Status CountUp(const std::string& directory, int* count) {
  tidesdb::Options options;
  TIDESDB_ASSIGN(auto db, tidesdb::Db::Open(options, directory));
  tidesdb::ColumnFamily* family = db->FindFamily("counts");
  if (family == nullptr) {
    tidesdb::ColumnFamilyOptions wanted;
    wanted.name = "counts";
    TIDESDB_ASSIGN(family, db->CreateFamily(wanted));
  }
  {
    auto transaction = db->Begin({});
    tidesdb::PinnedValue value;
    TIDESDB_ASSIGN(const bool found, transaction->Get(family, "runs", &value));
    *count = found ? std::stoi(std::string(value.slice())) + 1 : 1;
    TIDESDB_TRY(transaction->Put(family, "runs", std::to_string(*count)));
    TIDESDB_TRY(transaction->Commit());
  }
  return db->Close();
}

}  // namespace

int main(int argc, char** argv) {
  int count = 0;
  const tidesdb::Status status = CountUp(argc > 1 ? argv[1] : ".", &count);
  printf("%s\n", status.ok() ? std::to_string(count).c_str() : status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
