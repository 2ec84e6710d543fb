// Writes the fixture of the newest format version into a directory: make_fixture DIRECTORY. README.md says when to
// run it.
#include <cstdio>

#include "compat/contents.h"

namespace {

tidesdb::Status Make(const char* directory) {
  TIDESDB_ASSIGN(auto db, tidesdb::Db::Open(tidesdb::compat::SmallFiles(), directory));
  TIDESDB_TRY(tidesdb::compat::WriteV2(db.get()));
  return db->Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const tidesdb::Status status = Make(argv[1]);
  if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
