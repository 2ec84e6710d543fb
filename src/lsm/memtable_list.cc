#include "lsm/memtable_list.h"

#include <algorithm>

#include "base/check.h"
#include "base/failpoint.h"

namespace tidesdb {
namespace {

// Groups the files by family, each group ascending by key. Their effective sequences become the
// transaction's.
std::shared_ptr<const IngestedFiles> GroupIngested(std::vector<FileRecord> files,
                                                   SequenceNumber sequence,
                                                   const VersionSet& versions) {
  auto ingested = std::make_shared<IngestedFiles>();
  ingested->sequence = sequence;
  std::sort(files.begin(), files.end(), [](const FileRecord& a, const FileRecord& b) {
    if (a.properties.family != b.properties.family) {
      return a.properties.family < b.properties.family;
    }
    return a.properties.key_min < b.properties.key_min;
  });
  for (FileRecord& file : files) {
    const FamilyId family = file.properties.family;
    file.global_sequence = sequence;
    file.properties.sequence_min = sequence;
    file.properties.sequence_max = sequence;
    file.properties.tombstone_sequence_min = file.properties.tombstones > 0 ? sequence : 0;
    if (ingested->runs.empty() || ingested->runs.back().family != family) {
      ingested->runs.push_back({family, {}});
    }
    FileList& run = ingested->runs.back().files;
    CHECK(run.empty() || run.back()->key_max() < file.properties.key_min);
    run.push_back(versions.NewFile(std::move(file)));
  }
  return ingested;
}

}  // namespace

MemTableList::MemTableList(const JobContext* context, ReadStateHolder* holder, VersionSet* versions,
                           RunningCompactions* running)
    : context_(context),
      holder_(holder),
      versions_(versions),
      running_(running),
      active_(holder->Parts().active.get()) {}

void MemTableList::SetWalSegment(uint64_t wal_segment) {
  MutexLock lock(mutex_);
  CHECK(entries_.empty() && active()->empty());
  active_wal_segment_ = wal_segment;
}

void MemTableList::Push(ImmutableSource source, Front* front) {
  auto entry = std::make_shared<Entry>();
  entry->source = std::make_shared<const ImmutableSource>(std::move(source));
  front->sources.push_back(entry->source);
  entries_.push_back(std::move(entry));
  ++sources_added_;
}

void MemTableList::RetireActive(uint64_t wal_segment, SequenceNumber sequence_last,
                                std::span<const FamilyId> ingested, Front* front) {
  if (active()->empty()) {
    for (const FamilyId family : ingested) active()->CloseDeadRanges(family);
  } else {
    CHECK(active()->LastSequence() <= sequence_last);
    Push({.memtable = holder_->Parts().active,
          .ingested = nullptr,
          .wal_segment_min = active_wal_segment_,
          .sequence_last = sequence_last},
         front);
    front->fresh = context_->env->NewMemTable();
    front->fresh->InheritDeadRanges(*active(), ingested);
  }
  // Also if it stays: no segment contains any of its writes yet.
  active_wal_segment_ = wal_segment;
}

void MemTableList::Rotate(uint64_t wal_segment, SequenceNumber sequence_last) {
  Front front;
  MutexLock lock(mutex_);
  RetireActive(wal_segment, sequence_last, {}, &front);
  TIDESDB_FAILPOINT("rotate_before_publish");
  Publish(std::move(front));
}

void MemTableList::Ingest(std::vector<FileRecord> files, SequenceNumber sequence,
                          uint64_t wal_segment) {
  if (files.empty()) return;
  auto ingested = GroupIngested(std::move(files), sequence, *versions_);
  std::vector<FamilyId> families;
  for (const IngestedFiles::Run& run : ingested->runs) families.push_back(run.family);
  Front front;
  MutexLock lock(mutex_);
  RetireActive(wal_segment, sequence - 1, families, &front);
  Push({.memtable = nullptr,
        .ingested = std::move(ingested),
        .wal_segment_min = wal_segment,
        .sequence_last = sequence},
       &front);
  TIDESDB_FAILPOINT("ingest_before_publish");
  Publish(std::move(front));
}

void MemTableList::HoldWal(uint64_t wal_segment) {
  MutexLock lock(mutex_);
  held_segments_.insert(wal_segment);
}

void MemTableList::ReleaseWal(uint64_t wal_segment, bool to_active) {
  MutexLock lock(mutex_);
  const auto held = held_segments_.find(wal_segment);
  CHECK(held != held_segments_.end());
  held_segments_.erase(held);
  if (to_active && !TIDESDB_PLANTED("forget_log_of_commit"))
    active_wal_segment_ = std::min(active_wal_segment_, wal_segment);
}

void MemTableList::Publish(Front front) {
  if (front.sources.empty()) return;
  // Sources installed meanwhile have already left the parts; only add to them.
  holder_->Update([&front](ReadStateParts* parts) {
    if (front.fresh != nullptr) parts->active = front.fresh;
    for (ImmutableSourceRef& source : front.sources) {
      parts->immutables.insert(parts->immutables.begin(), std::move(source));
    }
  });
  if (front.fresh != nullptr) active_.store(front.fresh.get(), std::memory_order_release);
}

Result<bool> MemTableList::FlushOne(const std::atomic<bool>* stop) {
  std::shared_ptr<Entry> entry;
  bool is_oldest = false;
  {
    MutexLock lock(mutex_);
    for (const std::shared_ptr<Entry>& candidate : entries_) {
      if (candidate->state != FlushState::kWaiting) continue;
      entry = candidate;
      entry->state = FlushState::kRunning;
      is_oldest = entry == entries_.front();
      break;
    }
    // An earlier installation may have failed.
    if (entry == nullptr && !InstallWanted()) return false;
  }
  if (entry != nullptr) {
    Result<std::vector<FileRecord>> files = WriteFiles(*entry->source, is_oldest, stop);
    MutexLock lock(mutex_);
    if (!files.ok()) {
      entry->state = FlushState::kWaiting;
      return std::move(files).status();
    }
    entry->files = std::move(files).value();
    entry->state = FlushState::kWritten;
  }
  TIDESDB_TRY(InstallInOrder());
  return true;
}

Result<std::vector<FileRecord>> MemTableList::WriteFiles(const ImmutableSource& source,
                                                         bool is_oldest,
                                                         const std::atomic<bool>* stop) {
  if (source.memtable == nullptr) return std::vector<FileRecord>();
  // Read after is_oldest: everything older than the oldest source is in these versions.
  const ReadStateParts parts = holder_->Parts();
  TIDESDB_ASSIGN(std::vector<FileRecord> files,
                 FlushMemTable(*context_, *source.memtable, parts, is_oldest, stop));
  if (context_->metrics != nullptr) {
    context_->metrics->Add(Counter::kFlushes);
    for (const FileRecord& file : files) {
      context_->metrics->Add(Counter::kFlushBytesWritten, file.bytes);
    }
  }
  return files;
}

bool MemTableList::InstallWanted() const {
  return !installing_ && !entries_.empty() && entries_.front()->state == FlushState::kWritten;
}

uint64_t MemTableList::WalSegmentAfter(size_t entry) const {
  uint64_t segment = active_wal_segment_;
  if (!held_segments_.empty() && !TIDESDB_PLANTED("forget_prepared_log"))
    segment = std::min(segment, *held_segments_.begin());
  for (size_t i = entry + 1; i < entries_.size(); ++i) {
    segment = std::min(segment, entries_[i]->source->wal_segment_min);
  }
  return segment;
}

std::shared_ptr<MemTableList::Entry> MemTableList::NextToInstall(uint64_t* wal_segment_next) const {
  if (installing_) return nullptr;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i]->state == FlushState::kWritten) {
      *wal_segment_next = WalSegmentAfter(i);
      return entries_[i];
    }
    if (!TIDESDB_PLANTED("install_out_of_order")) return nullptr;
  }
  return nullptr;
}

Status MemTableList::InstallInOrder() {
  for (;;) {
    std::shared_ptr<Entry> entry;
    uint64_t wal_segment_next = 0;
    {
      MutexLock lock(mutex_);
      entry = NextToInstall(&wal_segment_next);
      // Nothing is ready, or another thread installs and will check for more afterwards.
      if (entry == nullptr) return Status::Ok();
      installing_ = true;
    }
    TIDESDB_FAILPOINT("flush_before_edit");
    const Status status = Install(*entry, wal_segment_next);
    MutexLock lock(mutex_);
    installing_ = false;
    if (!status.ok()) return status;
    entries_.erase(std::find(entries_.begin(), entries_.end(), entry));
    ++sources_installed_;
  }
}

Status MemTableList::Install(const Entry& entry, uint64_t wal_segment_next) {
  const ImmutableSource& source = *entry.source;
  VersionEdit edit;
  edit.flushed_sequence = source.sequence_last;
  edit.wal_segment_min = wal_segment_next;
  for (const FileRecord& file : entry.files) edit.add_files.push_back({0, file});
  VersionSet::ApplyOptions options;
  options.wal_sync_to = source.sequence_last;
  options.on_publish = [&entry](ReadStateParts* parts) {
    auto& immutables = parts->immutables;
    immutables.erase(std::remove(immutables.begin(), immutables.end(), entry.source),
                     immutables.end());
  };
  std::vector<RunningCompactions::Ticket> tickets;  // Held until the files are in a version.
  if (source.ingested != nullptr) {
    for (const IngestedFiles::Run& run : source.ingested->runs) {
      options.known_files.insert(options.known_files.end(), run.files.begin(), run.files.end());
    }
    options.prepare = [&](VersionEdit* to_fill) {
      PlaceIngested(*source.ingested, to_fill, &tickets);
      return Status::Ok();
    };
  }
  return versions_->Apply(std::move(edit), options);
}

void MemTableList::PlaceIngested(const IngestedFiles& ingested, VersionEdit* edit,
                                 std::vector<RunningCompactions::Ticket>* tickets) const {
  for (const IngestedFiles::Run& run : ingested.runs) {
    int level = 0;
    std::optional<RunningCompactions::Ticket> ticket =
        running_->Register(run.family, [&](const std::vector<const RunningCompaction*>& running) {
          const VersionRef version = versions_->Current(run.family);
          PickContext context;
          context.running = running;
          if (version != nullptr) level = PickIngestLevel(*version, run.files, context);
          // No job may be picked that writes over them before they are installed.
          RunningCompaction mine;
          for (const FileRef& file : run.files) mine.files.push_back(file->number());
          mine.output_level = level;
          mine.key_min = run.files.front()->key_min();
          mine.key_max = run.files.back()->key_max();
          return std::optional<RunningCompaction>(std::move(mine));
        });
    tickets->push_back(*std::move(ticket));
    for (const FileRef& file : run.files) edit->add_files.push_back({level, file->record()});
  }
}

bool MemTableList::FlushWanted() const {
  MutexLock lock(mutex_);
  return InstallWanted() ||
         std::any_of(entries_.begin(), entries_.end(), [](const std::shared_ptr<Entry>& entry) {
           return entry->state == FlushState::kWaiting;
         });
}

size_t MemTableList::ImmutableCount() const {
  MutexLock lock(mutex_);
  return entries_.size();
}

uint64_t MemTableList::ActiveBytes() const {
  MutexLock lock(mutex_);
  return active()->MemoryBytes();
}

uint64_t MemTableList::MemoryBytes() const {
  MutexLock lock(mutex_);
  uint64_t bytes = active()->MemoryBytes();
  for (const std::shared_ptr<Entry>& entry : entries_) {
    if (entry->source->memtable != nullptr) bytes += entry->source->memtable->MemoryBytes();
  }
  return bytes;
}

uint64_t MemTableList::SourcesAdded() const {
  MutexLock lock(mutex_);
  return sources_added_;
}

uint64_t MemTableList::SourcesInstalled() const {
  MutexLock lock(mutex_);
  return sources_installed_;
}

}  // namespace tidesdb
