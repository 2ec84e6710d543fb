#include "version/version_set.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "base/failpoint.h"
#include "version/version_builder.h"

namespace tidesdb {
namespace {

// Temporary tables that come and go wait for the disk once for this many families.
constexpr FamilyId kIdsApart = 256;

std::map<FamilyId, VersionBuilder> BuildersOf(const std::vector<VersionEdit::NewFamily>& families) {
  std::map<FamilyId, VersionBuilder> builders;
  for (const VersionEdit::NewFamily& family : families) {
    auto info = std::make_shared<const FamilyInfo>(FamilyInfo{family.id, family.options});
    builders.emplace(family.id, VersionBuilder(std::move(info)));
  }
  return builders;
}

}  // namespace

VersionSet::VersionSet(VersionSetOptions options, ReadStateHolder* holder)
    : options_(std::move(options)),
      holder_(holder),
      manifest_(options_.fs, options_.directory, options_.manifest_rewrite_bytes) {}

Status VersionSet::Create() {
  MutexLock lock(apply_mutex_);
  VersionEdit edit;
  return AppendToManifest(&edit);
}

void VersionSet::ReserveFileNumbers(uint64_t number_max) {
  uint64_t next = next_file_number_.load(std::memory_order_relaxed);
  while (next <= number_max && !next_file_number_.compare_exchange_weak(
                                   next, number_max + 1, std::memory_order_relaxed)) {
  }
}

FileRef VersionSet::NewFile(FileRecord record) const {
  return std::make_shared<const FileMeta>(std::move(record), options_.obsolete_files);
}

Status VersionSet::CheckFamiliesAndCatalog(const VersionEdit& edit) const {
  std::set<FamilyId> dropped;
  for (const FamilyId family : edit.drop_families) {
    if (versions_.Find(family) == nullptr || !dropped.insert(family).second) {
      return Status::InvalidArgument("there is no column family " + std::to_string(family) +
                                     " to drop");
    }
  }
  if (edit.create_families.empty()) return Status::Ok();
  std::set<FamilyId> created;
  std::unordered_set<std::string> names;
  versions_.ForEach([&](const VersionRef& version) {
    if (!dropped.contains(version->family())) names.insert(version->options().name);
  });
  const FamilyId next_id = next_family_id_.load(std::memory_order_relaxed);
  for (const VersionEdit::NewFamily& family : edit.create_families) {
    const std::string& name = family.options.name;
    if (family.id >= next_id || versions_.Find(family.id) != nullptr ||
        !created.insert(family.id).second) {
      return Status::InvalidArgument("the id " + std::to_string(family.id) +
                                     " is not free for a new column family");
    }
    if (!name.empty() && !names.insert(name).second) {
      return Status::AlreadyExists("a column family is named '" + name + "' already");
    }
  }
  return Status::Ok();
}

Result<VersionSet::Change> VersionSet::WorkOut(VersionEdit* edit, const FileList& known_files) {
  Change change;
  std::map<FamilyId, VersionBuilder> builders = BuildersOf(edit->create_families);
  std::map<uint64_t, FileRef> known;
  for (const FileRef& file : known_files) known[file->number()] = file;
  std::map<uint64_t, FileRef> removed;

  for (const FamilyId family : edit->drop_families) {
    for (const FileList& files : versions_.Find(family)->levels()) {
      change.obsolete.insert(change.obsolete.end(), files.begin(), files.end());
    }
    change.versions.emplace_back(family, nullptr);
  }
  const auto builder_of = [&](FamilyId family) REQUIRES(apply_mutex_) -> VersionBuilder* {
    const auto& drops = edit->drop_families;
    if (const auto at = builders.find(family); at != builders.end()) return &at->second;
    const Version* version = versions_.Find(family);
    if (version == nullptr || std::find(drops.begin(), drops.end(), family) != drops.end()) {
      return nullptr;
    }
    return &builders.emplace(family, VersionBuilder(*version)).first->second;
  };

  std::set<uint64_t> gone;  // Dropped with their family: obsolete since then.
  std::vector<VersionEdit::RemovedFile> removes;
  for (const VersionEdit::RemovedFile& file : edit->remove_files) {
    VersionBuilder* builder = builder_of(file.family);
    if (builder == nullptr) {
      gone.insert(file.number);
      continue;
    }
    TIDESDB_ASSIGN(removed[file.number], builder->Remove(file.level, file.number));
    removes.push_back(file);
  }
  std::vector<VersionEdit::AddedFile> adds;
  for (VersionEdit::AddedFile& added : edit->add_files) {
    const uint64_t number = added.file.number;
    // A move: a second FileMeta would delete the file while others still read it.
    if (gone.contains(number)) continue;
    FileRef file;
    if (const auto at = removed.find(number); at != removed.end()) {
      file = std::move(at->second);  // Only its level changes.
      removed.erase(at);
    } else if (const auto in_use = known.find(number); in_use != known.end()) {
      file = in_use->second;
    } else {
      file = NewFile(added.file);
    }
    VersionBuilder* builder = builder_of(added.file.properties.family);
    if (builder == nullptr) {
      change.obsolete.push_back(std::move(file));
      continue;
    }
    TIDESDB_TRY(builder->Add(added.level, std::move(file)));
    adds.push_back(std::move(added));
  }
  edit->remove_files = std::move(removes);
  edit->add_files = std::move(adds);

  for (auto& [number, file] : removed) change.obsolete.push_back(std::move(file));
  for (auto& [family, builder] : builders) {
    TIDESDB_ASSIGN(VersionRef version, builder.Build(options_.tables));
    change.versions.emplace_back(family, std::move(version));
  }
  change.has_content = !change.versions.empty() || !edit->catalog_erase.empty() ||
                       !edit->catalog_put.empty() || edit->flushed_sequence.has_value();
  return change;
}

Status VersionSet::Apply(VersionEdit edit, const ApplyOptions& options) {
  // Released after the lock: files without other holders are closed and queued for deletion then.
  Change change;
  MutexLock lock(apply_mutex_);
  if (options.prepare) TIDESDB_TRY(options.prepare(&edit));
  TIDESDB_TRY(CheckFamiliesAndCatalog(edit));
  TIDESDB_ASSIGN(change, WorkOut(&edit, options.known_files));
  const bool waits = options.lazy && MayWait(edit, change);
  if (waits) {
    deferred_.Add(edit, [this](const std::string& name) { return IsInCatalog(name); });
    deferred_wal_sync_to_ = std::max(deferred_wal_sync_to_, options.wal_sync_to);
  } else if (change.has_content) {
    // Sources go into table files in commit order; otherwise replay would skip commits that are in
    // no file.
    CHECK(!edit.flushed_sequence || *edit.flushed_sequence >= flushed_sequence() ||
          TIDESDB_PLANTED("install_out_of_order"));
    TIDESDB_FAILPOINT_STATUS("apply_before_wal_sync");
    const SequenceNumber sync_to = std::max(options.wal_sync_to, deferred_wal_sync_to_);
    if (sync_to != 0) TIDESDB_TRY(options_.env->SyncWalTo(sync_to));
    TIDESDB_FAILPOINT_STATUS("apply_before_manifest");
    TIDESDB_TRY(AppendToManifest(&edit, options.lazy ? kIdsApart : 0));
    TIDESDB_FAILPOINT("apply_before_publish");
  }
  Publish(edit, change, options.on_publish);
  return Status::Ok();
}

// The files of a dropped family are deleted, so the manifest must not name them any more. Ids of
// families are in the WAL: after a crash an id must mean the same family.
bool VersionSet::MayWait(const VersionEdit& edit, const Change& change) const {
  return edit.add_files.empty() && edit.remove_files.empty() && !edit.flushed_sequence &&
         (change.obsolete.empty() || TIDESDB_PLANTED("lazy_drop_of_files")) &&
         std::all_of(edit.create_families.begin(), edit.create_families.end(),
                     [&](const auto& family) REQUIRES(apply_mutex_) {
                       return family.id < ids_apart_end_ || TIDESDB_PLANTED("lazy_ids_again");
                     });
}

bool VersionSet::IsInCatalog(const std::string& name) const {
  MutexLock lock(catalog_mutex_);
  return catalog_.contains(name);
}

Status VersionSet::AppendToManifest(VersionEdit* edit, FamilyId ids_apart) {
  // The manifest's own number, if it needs one, is below the stored number.
  const auto new_file_number = [this] { return NewFileNumber(); };
  // Called by Append, under the lock that is held here.
  const auto snapshot = [this]() NO_THREAD_SAFETY_ANALYSIS { return Snapshot(); };
  edit->next_file_number = next_file_number_.load(std::memory_order_relaxed) + 1;
  const FamilyId next_family_id = next_family_id_.load(std::memory_order_relaxed);
  edit->next_family_id = std::max(ids_apart_end_, next_family_id + ids_apart);
  const VersionEdit since =
      deferred_.Before(*edit, [this](const std::string& name) { return IsInCatalog(name); });
  TIDESDB_TRY(manifest_.Append(*edit, since, snapshot, new_file_number));
  ids_apart_end_ = *edit->next_family_id;
  deferred_ = {};
  deferred_wal_sync_to_ = 0;
  for (const uint64_t number : undecided_files_) options_.obsolete_files->Add(number);
  undecided_files_.clear();
  return Status::Ok();
}

void VersionSet::Publish(const VersionEdit& edit, const Change& change,
                         const std::function<void(ReadStateParts*)>& on_publish) {
  for (const auto& [family, version] : change.versions) {
    versions_ = versions_.With(family, version);
  }
  const VersionMap versions = versions_;
  holder_->Update([&](ReadStateParts* parts) {
    parts->versions = versions;
    if (on_publish) on_publish(parts);
  });
  if (edit.flushed_sequence) {
    flushed_sequence_.store(*edit.flushed_sequence, std::memory_order_release);
  }
  if (edit.wal_segment_min) {
    wal_segment_min_.store(*edit.wal_segment_min, std::memory_order_release);
  }
  {
    MutexLock lock(catalog_mutex_);
    for (const std::string& name : edit.catalog_erase) catalog_.erase(name);
    for (const auto& [name, value] : edit.catalog_put) catalog_[name] = value;
  }
  for (const FileRef& file : change.obsolete) file->MarkObsolete();
  if (options_.on_version) {
    for (const auto& [family, version] : change.versions) options_.on_version(family, version);
  }
}

VersionEdit VersionSet::Snapshot() const {
  VersionEdit edit;
  versions_.ForEach([&edit](const VersionRef& version) {
    edit.create_families.push_back({version->family(), version->options()});
    for (int level = 0; level < kLevels; ++level) {
      for (const FileRef& file : version->files(level)) {
        edit.add_files.push_back({level, file->record()});
      }
    }
  });
  {
    MutexLock lock(catalog_mutex_);
    edit.catalog_put.assign(catalog_.begin(), catalog_.end());
  }
  edit.next_file_number = next_file_number_.load(std::memory_order_relaxed);
  edit.next_family_id = std::max(ids_apart_end_, next_family_id_.load(std::memory_order_relaxed));
  edit.flushed_sequence = flushed_sequence();
  edit.wal_segment_min = wal_segment_min();
  return edit;
}

VersionSet::Captured VersionSet::Capture() const {
  MutexLock lock(apply_mutex_);
  Captured captured;
  captured.whole = Snapshot();
  versions_.ForEach([&](const VersionRef& version) { captured.versions.push_back(version); });
  return captured;
}

bool VersionSet::in_doubt() const {
  MutexLock lock(apply_mutex_);
  return manifest_.in_doubt();
}

Status VersionSet::Settle() {
  MutexLock lock(apply_mutex_);
  if (!manifest_.in_doubt()) return Status::Ok();
  VersionEdit edit;
  return AppendToManifest(&edit);
}

void VersionSet::DiscardFiles(const std::vector<FileRecord>& files) {
  MutexLock lock(apply_mutex_);
  for (const FileRecord& file : files) {
    if (manifest_.in_doubt()) {
      undecided_files_.push_back(file.number);
    } else {
      options_.obsolete_files->Add(file.number);
    }
  }
}

VersionRef VersionSet::Current(FamilyId family) const { return holder_->CurrentVersion(family); }

std::vector<VersionRef> VersionSet::AllCurrent() const {
  std::vector<VersionRef> all;
  const ReadStateParts parts = holder_->Parts();
  all.reserve(parts.versions.size());
  parts.versions.ForEach([&all](const VersionRef& version) { all.push_back(version); });
  return all;
}

std::optional<std::string> VersionSet::GetCatalog(Slice name) const {
  MutexLock lock(catalog_mutex_);
  const auto at = catalog_.find(name);
  if (at == catalog_.end()) return std::nullopt;
  return at->second;
}

std::vector<std::pair<std::string, std::string>> VersionSet::ListCatalog(Slice prefix) const {
  MutexLock lock(catalog_mutex_);
  std::vector<std::pair<std::string, std::string>> entries;
  for (auto at = catalog_.lower_bound(prefix); at != catalog_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    entries.emplace_back(*at);
  }
  return entries;
}

uint64_t VersionSet::manifest_number() const {
  MutexLock lock(apply_mutex_);
  return manifest_.number();
}

bool VersionSet::tail_was_cut() const {
  MutexLock lock(apply_mutex_);
  return tail_was_cut_;
}

}  // namespace tidesdb
