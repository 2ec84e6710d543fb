#include "lsm/flush_job.h"

#include "base/failpoint.h"
#include "compaction/key_versions_writer.h"

namespace tidesdb {
namespace {

Status FlushFamily(const JobContext& context, const MemTable& memtable, const Version& version,
                   const SnapshotView& view, bool all_is_known, const std::atomic<bool>* stop,
                   std::vector<FileRecord>* files) {
  // Entries that were read in the memtable will be read in the file, so its blocks go into the cache:
  // they take the memory that the memtable frees, and unused ones are evicted first.
  TableOutput output(&context, TableOptionsOf(version.family(), version.options()),
                     CachePriority::kData);
  output.SetInUse(true);
  DeeperFiles deeper(&version, 1, version.files(0));
  KeyVersionsWriter writer(&view, &deeper, all_is_known, &output);
  const auto go_on = [](Slice) { return Status::Ok(); };
  const std::unique_ptr<InternalIterator> iter = memtable.NewIterator(version.family());
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
    if (stop != nullptr && (writer.entries_in() & 1023) == 0 &&
        stop->load(std::memory_order_relaxed)) {
      return Status::ShuttingDown("the flush was stopped; its memtable is kept");
    }
    TIDESDB_TRY(writer.Add(iter->user_key(), iter->trailer(), iter->value(), go_on));
  }
  TIDESDB_TRY(iter->status());
  TIDESDB_TRY(writer.Finish());
  TIDESDB_TRY(output.FinishFile());
  for (FileRecord& file : output.Release()) files->push_back(std::move(file));
  return Status::Ok();
}

}  // namespace

Result<std::vector<FileRecord>> FlushMemTable(const JobContext& context, const MemTable& memtable,
                                              const ReadStateParts& parts, bool is_oldest,
                                              const std::atomic<bool>* stop) {
  const SnapshotView view = context.env->Snapshots();
  std::vector<FileRecord> files;
  const auto flush = [&]() -> Status {
    for (const MemTableFamilyCounts& counts : memtable.Families()) {
      const Version* version = parts.versions.Find(counts.family);
      if (version == nullptr) continue;  // Dropped meanwhile.
      TIDESDB_FAILPOINT_STATUS("flush_before_family");
      const bool all_is_known = is_oldest && !parts.IsLoading(counts.family);
      TIDESDB_TRY(FlushFamily(context, memtable, *version, view, all_is_known, stop, &files));
    }
    TIDESDB_FAILPOINT_STATUS("flush_before_dir_sync");
    if (files.empty() || TIDESDB_PLANTED("lost_dir_sync")) return Status::Ok();
    return context.fs->SyncDir(context.directory);
  };
  Status status = flush();
  if (!status.ok()) {
    DeleteTables(context, files);
    return status;
  }
  return files;
}

}  // namespace tidesdb
