// The tree's part in loads: tombstones are kept until the load comes, and it goes below everything.
#include <algorithm>

#include "base/failpoint.h"
#include "lsm/lsm_tree.h"

namespace tidesdb {
namespace {

bool HoldsAny(const MemTable& memtable, FamilyId family) {
  if (memtable.empty()) return false;
  const std::vector<MemTableFamilyCounts> families = memtable.Families();
  return std::any_of(
      families.begin(), families.end(),
      [family](const MemTableFamilyCounts& counts) { return counts.family == family; });
}

bool HoldsAny(const ReadStateParts& parts, FamilyId family) {
  if (HoldsAny(*parts.active, family)) return true;
  for (const ImmutableSourceRef& source : parts.immutables) {
    if (source->memtable != nullptr ? HoldsAny(*source->memtable, family)
                                    : source->ingested->FindRun(family) != nullptr) {
      return true;
    }
  }
  return parts.versions.Get(family)->FileCount() > 0;
}

// Makes the last level free for the files. If other files overlap them there, the levels between
// the last free one and the last move up by one, without moving data.
Status MakeRoomBelow(const Version& version, const std::vector<FileRecord>& files,
                     VersionEdit* edit) {
  constexpr int kLast = kLevels - 1;
  const bool free = std::all_of(files.begin(), files.end(), [&](const FileRecord& file) {
    return version.OverlappingSpan(kLast, file.properties.key_min, file.properties.key_max).empty();
  });
  if (free) return Status::Ok();
  int empty = kLast;
  while (empty > 0 && !version.files(empty).empty()) --empty;
  if (empty == 0) {
    return Status::Busy("all levels of column family " + std::to_string(version.family()) +
                        " have files: compact it first");
  }
  for (int level = empty + 1; level <= kLast; ++level) {
    for (const FileRef& file : version.files(level)) {
      edit->remove_files.push_back({version.family(), level, file->number()});
      edit->add_files.push_back({level - 1, file->record()});
    }
  }
  return Status::Ok();
}

}  // namespace

Status LsmTree::BeginLoad(FamilyId family) {
  const ReadStateParts parts = holder_.Parts();
  if (parts.versions.Find(family) == nullptr) {
    return Status::InvalidArgument("there is no column family " + std::to_string(family));
  }
  if (parts.IsLoading(family)) {
    return Status::Busy("column family " + std::to_string(family) + " is already being loaded");
  }
  if (HoldsAny(parts, family)) {
    return Status::InvalidArgument("column family " + std::to_string(family) +
                                   " is not empty: it cannot be loaded");
  }
  if (TIDESDB_PLANTED("load_forgets_tombstones")) return Status::Ok();
  // Scans with a state from before may still find ranges where the load will have keys.
  active()->CloseDeadRanges(family);
  holder_.Update([family](ReadStateParts* changed) { changed->SetLoading(family, true); });
  return Status::Ok();
}

void LsmTree::GiveUpLoad(FamilyId family) {
  holder_.Update([family](ReadStateParts* parts) { parts->SetLoading(family, false); });
}

RunningCompactions::Ticket LsmTree::HoldCompactions(FamilyId family) {
  auto ticket = running_.Register(family, [](const std::vector<const RunningCompaction*>&) {
    RunningCompaction all;
    all.all_levels = true;
    return std::optional<RunningCompaction>(std::move(all));
  });
  return *std::move(ticket);
}

bool LsmTree::OnlyHeld(FamilyId family) {
  bool only = false;
  running_.Register(family, [&only](const std::vector<const RunningCompaction*>& running) {
    only = running.size() == 1;
    return std::optional<RunningCompaction>();
  });
  return only;
}

Status LsmTree::InstallLoad(FamilyId family, std::vector<FileRecord> files,
                            SequenceNumber wal_sync_to) {
  VersionSet::ApplyOptions options;
  options.wal_sync_to = wal_sync_to;
  options.prepare = [&](VersionEdit* edit) {
    const VersionRef version = versions_.Current(family);
    if (version == nullptr) {
      return Status::InvalidArgument("column family " + std::to_string(family) +
                                     " was dropped while it was loaded");
    }
    TIDESDB_TRY(MakeRoomBelow(*version, files, edit));
    for (FileRecord& file : files) edit->add_files.push_back({kLevels - 1, file});
    return Status::Ok();
  };
  options.on_publish = [family](ReadStateParts* parts) { parts->SetLoading(family, false); };
  TIDESDB_FAILPOINT_STATUS("load_before_edit");
  return versions_.Apply(VersionEdit(), options);
}

}  // namespace tidesdb
