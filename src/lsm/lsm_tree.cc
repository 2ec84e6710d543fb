#include "lsm/lsm_tree.h"

#include <algorithm>

#include "base/check.h"
#include "base/failpoint.h"
#include "io/file_names.h"

namespace tidesdb {

Result<bool> LsmTree::Exists(FileSystem* fs, const std::string& directory) {
  return fs->Exists(CurrentFileName(directory));
}

LsmTree::LsmTree(LsmOptions options)
    : options_(std::move(options)),
      obsolete_files_(options_.fs, options_.directory, options_.block_cache, options_.log,
                      options_.env),
      tables_(options_.fs, options_.directory, options_.block_cache, options_.open_files_max,
              options_.bypass_page_cache),
      context_({.fs = options_.fs,
                .directory = options_.directory,
                .bypass_page_cache = options_.bypass_page_cache,
                .tables = &tables_,
                .log = options_.log,
                .metrics = options_.metrics,
                .env = options_.env,
                .new_file_number = [this] { return versions_.NewFileNumber(); },
                .helpers = &load_helpers_}),
      holder_({.active = options_.env->NewMemTable(),
               .immutables = {},
               .versions = {},
               .tables = &tables_}),
      versions_(MakeVersionSetOptions(), &holder_),
      memtables_(std::make_unique<MemTableList>(&context_, &holder_, &versions_, &running_)) {}

LsmTree::~LsmTree() { CHECK(running_.Count() == 0); }

VersionSetOptions LsmTree::MakeVersionSetOptions() {
  VersionSetOptions options;
  options.fs = options_.fs;
  options.directory = options_.directory;
  options.log = options_.log;
  options.tables = &tables_;
  options.obsolete_files = &obsolete_files_;
  options.manifest_rewrite_bytes = options_.manifest_rewrite_bytes;
  options.env = options_.env;
  options.on_version = [this](FamilyId family, const VersionRef& version) {
    OnVersion(family, version);
  };
  return options;
}

Result<std::unique_ptr<LsmTree>> LsmTree::Open(LsmOptions options, bool create) {
  std::unique_ptr<LsmTree> tree(new LsmTree(std::move(options)));  // NOLINT: private constructor.
  const LsmOptions& o = tree->options_;
  TIDESDB_ASSIGN(const bool exists, Exists(o.fs, o.directory));
  TIDESDB_ASSIGN(const std::vector<std::string> names, o.fs->List(o.directory));
  TIDESDB_TRY(tree->CheckDirectory(exists, names));
  tree->versions_.ReserveFileNumbers(MaxFileNumber(names));
  if (exists) {
    TIDESDB_TRY(tree->versions_.Recover());
    TIDESDB_TRY(tree->CheckTables());
  } else {
    if (!create) {
      return Status::InvalidArgument(o.directory + ": no database in this directory");
    }
    TIDESDB_TRY(tree->versions_.Create());
  }
  return tree;
}

Status LsmTree::CheckDirectory(bool exists, const std::vector<std::string>& names) const {
  if (exists) return Status::Ok();
  for (const std::string& name : names) {
    const FileKind kind = ParseFileName(name).kind;
    if (kind == FileKind::kTable || kind == FileKind::kWal || kind == FileKind::kSynced) {
      return Status::Corruption(CurrentFileName(options_.directory) +
                                ": missing, but the directory contains " + name);
    }
  }
  return Status::Ok();
}

Status LsmTree::CheckTable(const FileRecord& file) const {
  const std::string path = TableFileName(options_.directory, file.number);
  TIDESDB_ASSIGN(const bool exists, options_.fs->Exists(path));
  if (!exists) {
    return Status::Corruption(path + ": missing (family " + std::to_string(file.properties.family) +
                              ")");
  }
  TIDESDB_ASSIGN(const uint64_t bytes, options_.fs->FileSize(path));
  if (bytes != file.bytes) {
    return Status::Corruption(path + " at offset " + std::to_string(std::min(bytes, file.bytes)) +
                              ": wanted a size of " + std::to_string(file.bytes) + " bytes, got " +
                              std::to_string(bytes));
  }
  return Status::Ok();
}

Status LsmTree::CheckTables() const {
  for (const VersionRef& version : Families()) {
    for (const FileList& files : version->levels()) {
      for (const FileRef& file : files) TIDESDB_TRY(CheckTable(file->record()));
    }
  }
  return Status::Ok();
}

Status LsmTree::CheckIngestFiles(const std::vector<FileRecord>& files) const {
  for (const FileRecord& file : files) TIDESDB_TRY(CheckTable(file));
  return Status::Ok();
}

Status LsmTree::FinishRecovery(const std::set<uint64_t>& keep_tables) {
  TIDESDB_ASSIGN(const std::vector<std::string> names, options_.fs->List(options_.directory));
  std::set<uint64_t> live = versions_.LiveTables();
  live.insert(keep_tables.begin(), keep_tables.end());
  const ReadStateParts parts = holder_.Parts();
  for (const ImmutableSourceRef& source : parts.immutables) {
    if (source->ingested == nullptr) continue;
    for (const IngestedFiles::Run& run : source->ingested->runs) {
      for (const FileRef& file : run.files) live.insert(file->number());
    }
  }
  const bool keep_all = versions_.tail_was_cut();
  for (const std::string& name : CollectOrphans(names, live, versions_.manifest_number())) {
    const FileKind kind = ParseFileName(name).kind;
    if (keep_all && (kind == FileKind::kTable || kind == FileKind::kManifest)) {
      LogF(options_.log, LogLevel::kWarn,
           "%s is unused; it is kept until the next open, because the manifest's end was "
           "damaged",
           name.c_str());
      continue;
    }
    TIDESDB_FAILPOINT("recovery_before_delete");
    const std::string path = JoinPath(options_.directory, name);
    if (const Status status = options_.fs->Delete(path); !status.ok()) {
      LogF(options_.log, LogLevel::kWarn, "Cannot delete the unused file %s: %s", path.c_str(),
           status.ToString().c_str());
    }
  }
  return Status::Ok();
}

Status LsmTree::ApplyCatalog(const CatalogEdit& edit, SequenceNumber wal_sync_to) {
  VersionEdit version_edit;
  version_edit.drop_families = edit.drop;
  for (const CatalogEdit::NewFamily& family : edit.create) {
    version_edit.create_families.push_back({family.id, family.options});
  }
  version_edit.catalog_erase = edit.erase;
  version_edit.catalog_put = edit.put;
  VersionSet::ApplyOptions options;
  options.wal_sync_to = wal_sync_to;
  options.lazy = edit.lazy;
  return versions_.Apply(std::move(version_edit), options);
}

}  // namespace tidesdb
