// Makes the state from the manifest's edits.
#include "base/check.h"
#include "io/file_names.h"
#include "version/version_builder.h"
#include "version/version_set.h"

namespace tidesdb {
namespace {

// The state that results from a sequence of edits.
struct Replay {
  std::map<FamilyId, VersionBuilder> families;
  std::map<std::string, std::string, std::less<>> catalog;
  uint64_t next_file_number = 1;
  FamilyId next_family_id = 1;
  SequenceNumber flushed_sequence = 0;
  uint64_t wal_segment_min = 0;

  // Errors: any; the edit does not fit the state from the previous edits.
  Status Apply(const VersionEdit& edit, const VersionSet& set) {
    for (const FamilyId family : edit.drop_families) {
      if (families.erase(family) == 0) {
        return Status::InvalidArgument("family " + std::to_string(family) +
                                       " is dropped, but does not exist");
      }
    }
    for (const VersionEdit::NewFamily& family : edit.create_families) {
      auto info = std::make_shared<const FamilyInfo>(FamilyInfo{family.id, family.options});
      if (!families.emplace(family.id, VersionBuilder(std::move(info))).second) {
        return Status::InvalidArgument("family " + std::to_string(family.id) +
                                       " is created, but already exists");
      }
    }
    for (const std::string& name : edit.catalog_erase) catalog.erase(name);
    for (const auto& [name, value] : edit.catalog_put) catalog[name] = value;
    TIDESDB_TRY(ApplyFiles(edit, set));
    if (edit.next_file_number) next_file_number = *edit.next_file_number;
    if (edit.next_family_id) next_family_id = *edit.next_family_id;
    if (edit.flushed_sequence) flushed_sequence = *edit.flushed_sequence;
    if (edit.wal_segment_min) wal_segment_min = *edit.wal_segment_min;
    return Status::Ok();
  }

  Status ApplyFiles(const VersionEdit& edit, const VersionSet& set) {
    const auto find = [this](FamilyId family) -> Result<VersionBuilder*> {
      const auto at = families.find(family);
      if (at != families.end()) return &at->second;
      return Status::InvalidArgument("a file of family " + std::to_string(family) +
                                     ", which does not exist");
    };
    for (const VersionEdit::RemovedFile& file : edit.remove_files) {
      TIDESDB_ASSIGN(VersionBuilder * builder, find(file.family));
      TIDESDB_TRY(builder->Remove(file.level, file.number).status());
    }
    for (const VersionEdit::AddedFile& added : edit.add_files) {
      TIDESDB_ASSIGN(VersionBuilder * builder, find(added.file.properties.family));
      TIDESDB_TRY(builder->Add(added.level, set.NewFile(added.file)));
    }
    return Status::Ok();
  }
};

}  // namespace

Status VersionSet::Recover() {
  MutexLock lock(apply_mutex_);
  TIDESDB_ASSIGN(const ManifestLog::Recovered recovered, manifest_.Recover());
  const std::string path = ManifestFileName(options_.directory, recovered.number);
  Replay replay;
  for (size_t i = 0; i < recovered.edits.size(); ++i) {
    if (const Status status = replay.Apply(recovered.edits[i], *this); !status.ok()) {
      return Status::Corruption(path + ": record " + std::to_string(i) + ": " +
                                std::string(status.message()));
    }
  }
  tail_was_cut_ = recovered.dropped_bytes > 0;
  if (tail_was_cut_) {
    LogF(options_.log, LogLevel::kWarn,
         "%s: the last %llu bytes are from an incomplete write; they are ignored", path.c_str(),
         static_cast<unsigned long long>(recovered.dropped_bytes));
  }
  Change change;
  for (auto& [family, builder] : replay.families) {
    Result<VersionRef> version = builder.Build(options_.tables);
    if (!version.ok()) {
      return Status::Corruption(path + ": " + std::string(version.status().message()));
    }
    change.versions.emplace_back(family, std::move(version).value());
  }
  ReserveFileNumbers(std::max(replay.next_file_number - 1, recovered.number));
  next_family_id_.store(replay.next_family_id, std::memory_order_relaxed);
  ids_apart_end_ = replay.next_family_id;
  VersionEdit numbers;
  numbers.flushed_sequence = replay.flushed_sequence;
  numbers.wal_segment_min = replay.wal_segment_min;
  numbers.catalog_put.assign(replay.catalog.begin(), replay.catalog.end());
  Publish(numbers, change, nullptr);
  return Status::Ok();
}

std::set<uint64_t> VersionSet::LiveTables() const {
  std::set<uint64_t> live;
  for (const VersionRef& version : AllCurrent()) {
    for (const FileList& files : version->levels()) {
      for (const FileRef& file : files) live.insert(file->number());
    }
  }
  return live;
}

}  // namespace tidesdb
