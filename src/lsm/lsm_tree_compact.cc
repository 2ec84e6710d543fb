// Picks, runs and installs compactions, and checks their results.
#include <algorithm>

#include "base/check.h"
#include "base/failpoint.h"
#include "io/file_names.h"
#include "lsm/lsm_tree.h"

namespace tidesdb {

void LsmTree::OnVersion(FamilyId family, const VersionRef& version) {
  Standing standing;
  if (version != nullptr) {
    const LevelScores scores = ComputeScores(*version);
    standing.max_score = scores.max_score;
    standing.level0_runs = scores.score[0] >= 1 ? version->Level0Runs() : 0;
    standing.debt_bytes = scores.debt_bytes;
  }
  MutexLock lock(scores_mutex_);
  if (const auto at = standings_.find(family); at != standings_.end()) {
    const Standing& old = at->second;
    debt_bytes_ -= old.debt_bytes;
    if (old.max_score >= 1) {
      by_score_.erase({old.max_score, family});
      level0_runs_.erase(level0_runs_.find(old.level0_runs));
    }
    standings_.erase(at);
  }
  if (version == nullptr) return;
  standings_.emplace(family, standing);
  debt_bytes_ += standing.debt_bytes;
  if (standing.max_score >= 1) {
    by_score_.insert({standing.max_score, family});
    level0_runs_.insert(standing.level0_runs);
  }
}

CompactionPressure LsmTree::Pressure() const {
  CompactionPressure pressure;
  pressure.running = running_.Count();
  MutexLock lock(scores_mutex_);
  pressure.debt_bytes = debt_bytes_;
  pressure.wanted = by_score_.size();
  if (!by_score_.empty()) {
    pressure.max_score = by_score_.rbegin()->first;
    pressure.level0_runs_max = *level0_runs_.rbegin();
  }
  return pressure;
}

std::unique_ptr<LsmTree::Task> LsmTree::TryPick(FamilyId family, const Pick& pick) {
  PickContext context;
  const SnapshotView view = options_.env->Snapshots();
  context.oldest_snapshot = view.Oldest();
  context.newest_sequence = view.visible;
  std::optional<Compaction> picked;
  std::optional<RunningCompactions::Ticket> ticket =
      running_.Register(family, [&](const std::vector<const RunningCompaction*>& running) {
        std::optional<RunningCompaction> mine;
        const ReadStateParts parts = holder_.Parts();
        const VersionRef version = parts.versions.Get(family);
        if (version == nullptr) return mine;
        context.running = running;
        context.loading = parts.IsLoading(family);
        picked = pick(version, context);
        if (!picked) return mine;
        mine.emplace();
        for (const Compaction::Input& input : picked->inputs) {
          if (input.level == 0) mine->level0_input = true;
          for (const FileRef& file : input.files) mine->files.push_back(file->number());
        }
        mine->output_level = picked->output_level;
        mine->key_min = picked->key_min;
        mine->key_max = picked->key_max;
        return mine;
      });
  if (!ticket) return nullptr;
  auto task = std::make_unique<Task>();
  task->compaction = *std::move(picked);
  task->ticket = *std::move(ticket);
  return task;
}

std::unique_ptr<LsmTree::Task> LsmTree::PickCompaction() {
  std::vector<FamilyId> candidates;  // Neediest first.
  {
    MutexLock lock(scores_mutex_);
    for (auto at = by_score_.rbegin(); at != by_score_.rend(); ++at) {
      candidates.push_back(at->second);
    }
  }
  for (const FamilyId family : candidates) {
    std::unique_ptr<Task> task =
        TryPick(family, [](const VersionRef& version, const PickContext& context) {
          return tidesdb::PickCompaction(version, ComputeScores(*version), context);
        });
    if (task != nullptr) return task;
  }
  return nullptr;
}

std::unique_ptr<LsmTree::Task> LsmTree::PickIdleCompaction() {
  for (const VersionRef& version : Families()) {
    std::unique_ptr<Task> task = TryPick(version->family(), tidesdb::PickIdleCompaction);
    if (task != nullptr) return task;
  }
  return nullptr;
}

std::unique_ptr<LsmTree::Task> LsmTree::PickFullCompaction(FamilyId family, bool* busy) {
  *busy = false;
  return TryPick(family, [busy](const VersionRef& version, const PickContext& context) {
    // Of the jobs that the choice saw: one in its way may have ended a moment later.
    *busy = !context.running.empty();
    return tidesdb::PickFullCompaction(version, context);
  });
}

std::unique_ptr<LsmTree::Task> LsmTree::PickRangeCompaction(FamilyId family, Slice first,
                                                            Slice last, bool* busy) {
  *busy = false;
  return TryPick(family, [&](const VersionRef& version, const PickContext& context) {
    *busy = !context.running.empty();
    return tidesdb::PickRangeCompaction(version, first, last, context);
  });
}

std::unique_ptr<LsmTree::Task> LsmTree::PickLevel0Compaction(FamilyId family, bool* busy) {
  *busy = false;
  return TryPick(family, [busy](const VersionRef& version, const PickContext& context) {
    auto picked = tidesdb::PickLevel0Compaction(version, context);
    *busy = !picked && !context.running.empty() && !version->files(0).empty();
    return picked;
  });
}

uint64_t LsmTree::Level0MergeBytes(FamilyId family) const {
  const uint64_t memory = memtables_->MemoryBytes();
  const VersionRef version = Family(family);
  if (version == nullptr) return memory;
  return memory + version->LevelBytes(0) + version->LevelBytes(ComputeScores(*version).base_level);
}

Status LsmTree::RunCompaction(std::unique_ptr<Task> task, const std::atomic<bool>* stop,
                              CompactionInfo* info) {
  const Compaction& compaction = task->compaction;
  const FamilyId family = compaction.version->family();
  CompactionInfo ignored;
  if (info == nullptr) info = &ignored;
  info->family = family;
  info->level_from = compaction.inputs.front().level;
  info->level_to = compaction.output_level;
  info->files_read = compaction.InputFiles();
  VersionEdit edit;
  for (const Compaction::Input& input : compaction.inputs) {
    for (const FileRef& file : input.files) {
      edit.remove_files.push_back({family, input.level, file->number()});
      if (compaction.kind == CompactionKind::kMove) {
        edit.add_files.push_back({compaction.output_level, file->record()});
      }
    }
  }
  CompactionOutput output;
  if (compaction.kind == CompactionKind::kMerge) {
    TIDESDB_ASSIGN(output, RunMerge(context_, compaction, stop));
    for (const FileRecord& file : output.files) {
      edit.add_files.push_back({compaction.output_level, file});
    }
  }
  TIDESDB_FAILPOINT("compaction_before_edit");
  const Status status = versions_.Apply(std::move(edit), {});
  if (!status.ok()) {
    versions_.DiscardFiles(output.files);
    return status;
  }
  info->files_written = output.files.size();
  info->bytes_read = output.bytes_read;
  info->bytes_written = output.bytes_written;
  if (options_.metrics != nullptr) {
    options_.metrics->Add(Counter::kCompactions);
    options_.metrics->Add(Counter::kCompactionBytesRead, output.bytes_read);
    options_.metrics->Add(Counter::kCompactionBytesWritten, output.bytes_written);
  }
  LogF(options_.log, LogLevel::kDebug, "Family %u: %s, %llu bytes to %llu", family,
       compaction.Describe().c_str(), static_cast<unsigned long long>(compaction.InputBytes()),
       static_cast<unsigned long long>(output.bytes_written));
  return Status::Ok();
}

Status LsmTree::Verify(FamilyId family, VerifyDepth depth, const std::atomic<bool>* stop) {
  const VersionRef version = Family(family);
  if (version == nullptr) {
    return Status::InvalidArgument("there is no column family " + std::to_string(family));
  }
  TIDESDB_TRY(Version::Check(family, version->levels()));
  for (const FileList& files : version->levels()) {
    for (const FileRef& file : files) {
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
        return Status::ShuttingDown("the verification was stopped");
      }
      TIDESDB_TRY(CheckTable(file->record()));
      TIDESDB_ASSIGN(const TableRef table, tables_.FindUncached(*file));
      TIDESDB_TRY(table->Verify(depth));
      const TableProperties& in_file = table->properties();
      const TableProperties& in_manifest = file->properties();
      if (in_file.entries != in_manifest.entries || in_file.key_min != in_manifest.key_min ||
          in_file.key_max != in_manifest.key_max || in_file.family != family) {
        return Status::Corruption(TableFileName(options_.directory, file->number()) +
                                  ": its properties differ from the manifest's");
      }
    }
  }
  return Status::Ok();
}

}  // namespace tidesdb
