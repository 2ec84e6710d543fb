// Makes a family's next version from its last one and from added and removed files; pure.
//
// Threads: one at a time.
#pragma once

#include <unordered_set>

#include "version/version.h"

namespace tidesdb {

class VersionBuilder {
 public:
  explicit VersionBuilder(FamilyInfoRef info) : info_(std::move(info)) {}
  explicit VersionBuilder(const Version& base);

  const FamilyInfoRef& info() const { return info_; }
  const Version::Levels& levels() const { return levels_; }

  // Returns the file. Errors: kInvalidArgument (it does not exist).
  Result<FileRef> Remove(int level, uint64_t number);
  // Errors: kInvalidArgument (a file with that number already exists).
  Status Add(int level, FileRef file);
  // Errors: those of Version::Check.
  Result<VersionRef> Build(TableCache* tables);

 private:
  const FamilyInfoRef info_;
  Version::Levels levels_;
  std::unordered_set<uint64_t> numbers_;  // Of all files.
};

}  // namespace tidesdb
