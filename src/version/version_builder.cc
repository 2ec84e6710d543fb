#include "version/version_builder.h"

#include <algorithm>

namespace tidesdb {
namespace {

std::string Describe(FamilyId family, int level, uint64_t number) {
  return "table file " + std::to_string(number) + " of family " + std::to_string(family) +
         ", level " + std::to_string(level);
}

}  // namespace

VersionBuilder::VersionBuilder(const Version& base) : info_(base.info()), levels_(base.levels()) {
  for (const FileList& files : levels_) {
    for (const FileRef& file : files) numbers_.insert(file->number());
  }
}

Result<FileRef> VersionBuilder::Remove(int level, uint64_t number) {
  FileList& files = levels_[level];
  const auto at = std::find_if(files.begin(), files.end(),
                               [&](const FileRef& file) { return file->number() == number; });
  if (at == files.end()) {
    return Status::InvalidArgument(Describe(info_->id, level, number) +
                                   " should be removed, but does not exist");
  }
  FileRef file = *at;
  numbers_.erase(number);
  files.erase(at);
  return file;
}

Status VersionBuilder::Add(int level, FileRef file) {
  if (!numbers_.insert(file->number()).second) {
    return Status::InvalidArgument(Describe(info_->id, level, file->number()) +
                                   " should be added, but already exists");
  }
  levels_[level].push_back(std::move(file));
  return Status::Ok();
}

Result<VersionRef> VersionBuilder::Build(TableCache* tables) {
  Version::Sort(&levels_);
  TIDESDB_TRY(Version::Check(info_->id, levels_));
  return VersionRef(std::make_shared<const Version>(info_, levels_, tables));
}

}  // namespace tidesdb
