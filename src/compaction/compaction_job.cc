#include "compaction/compaction_job.h"

#include <algorithm>

#include "base/check.h"
#include "base/failpoint.h"
#include "compaction/key_versions_writer.h"
#include "version/level_iter.h"
#include "version/merging_iter.h"

namespace tidesdb {
namespace {

// After this many bytes the job checks whether to stop and how long to sleep.
constexpr uint64_t kPaceBytes = 64 << 10;
// An output file that overlaps more than this many target files of the level below makes the next
// merge too large.
constexpr uint64_t kGrandparentFilesMax = 10;
// Files are not cut at a boundary before they have this share of the target.
constexpr uint64_t kCutShare = 2;

// Decides where to end an output file: at the target size, or before it at a boundary of the next
// level's files, so that a later merge reads few unneeded bytes.
class OutputCutter {
 public:
  // `grandparents` outlives this.
  OutputCutter(const FileList* grandparents, uint64_t target_bytes)
      : grandparents_(grandparents), target_bytes_(target_bytes) {}

  // REQUIRES: keys ascend; called for each.
  bool CutBefore(Slice key, uint64_t file_bytes) {
    bool crossed = false;
    while (at_ < grandparents_->size() && (*grandparents_)[at_]->key_max() < key) {
      covered_bytes_ += (*grandparents_)[at_]->bytes();
      crossed = true;
      ++at_;
    }
    if (file_bytes == 0) {
      covered_bytes_ = 0;
      return false;
    }
    const bool cut = file_bytes >= target_bytes_ ||
                     (crossed && (file_bytes >= target_bytes_ / kCutShare ||
                                  covered_bytes_ >= kGrandparentFilesMax * target_bytes_));
    if (cut) covered_bytes_ = 0;
    return cut;
  }

 private:
  const FileList* const grandparents_;
  const uint64_t target_bytes_;
  size_t at_ = 0;               // The first whose last key is >= the last key seen.
  uint64_t covered_bytes_ = 0;  // Of grandparents that the open file covers completely.
};

class MergeJob {
 public:
  MergeJob(const JobContext& context, const Compaction& compaction, const std::atomic<bool>* stop)
      : context_(context),
        compaction_(compaction),
        stop_(stop),
        view_(context.env->Snapshots()),
        output_(&context,
                TableOptionsOf(compaction.version->family(), compaction.version->options()),
                CachePriority::kKept),
        deeper_(compaction.version.get(), compaction.output_level + 1, OlderInLevel0()),
        writer_(&view_, &deeper_, !compaction.keep_tombstones, &output_) {}

  Result<CompactionOutput> Run() {
    const uint64_t target = compaction_.version->options().target_file_bytes;
    // Files of level 0 are one run each: a merge there makes one file, whatever its size.
    OutputCutter cutter(&compaction_.grandparents,
                        compaction_.output_level == 0 ? UINT64_MAX : target);
    const auto before_key = [&](Slice key) -> Status {
      if (!cutter.CutBefore(key, output_.FileBytes())) return Status::Ok();
      TIDESDB_FAILPOINT_STATUS("compaction_between_files");
      return output_.FinishFile();
    };
    const std::unique_ptr<InternalIterator> iter = NewMergingIterator(Sources(), nullptr);
    uint64_t unpaced_bytes = kPaceBytes;  // Checks before the first entry.
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
      if (unpaced_bytes >= kPaceBytes) TIDESDB_TRY(Pace(std::exchange(unpaced_bytes, 0)));
      const Slice value = iter->value();
      unpaced_bytes += iter->user_key().size() + value.size() + sizeof(Trailer);
      output_.SetInUse(iter->InUse());
      TIDESDB_TRY(writer_.Add(iter->user_key(), iter->trailer(), value, before_key));
    }
    TIDESDB_TRY(iter->status());
    TIDESDB_TRY(writer_.Finish());
    TIDESDB_TRY(CheckCounts());
    TIDESDB_TRY(output_.FinishFile());
    TIDESDB_TRY(output_.SyncDirectory());

    CompactionOutput result;
    result.bytes_read = compaction_.InputBytes();
    result.bytes_written = output_.TotalBytes();
    result.entries_dropped = writer_.entries_in() - writer_.entries_out();
    result.files = output_.Release();
    return result;
  }

 private:
  // Files of level 0 that are older than the inputs from there, and stay.
  FileList OlderInLevel0() const {
    const Compaction::Input& first = compaction_.inputs.front();
    if (first.level != 0) return {};
    const FileList& level0 = compaction_.version->files(0);
    const auto last_input = std::find(level0.begin(), level0.end(), first.files.back());
    CHECK(last_input != level0.end());
    FileList older(last_input + 1, level0.end());
    if (compaction_.output_level == 0) return older;
    for (const FileRef& file : older) {
      // It would hide newer versions.
      CHECK(file->key_max() < compaction_.key_min || file->key_min() > compaction_.key_max);
    }
    return {};
  }

  std::vector<std::unique_ptr<InternalIterator>> Sources() const {
    const LevelIterOptions options = {
        .lower = {}, .upper = {}, .fill_cache = false, .readers = Readers::kOnce};
    std::vector<std::unique_ptr<InternalIterator>> sources;
    for (const Compaction::Input& input : compaction_.inputs) {
      if (input.level > 0) {
        sources.push_back(NewLevelIterator(input.files, context_.tables, options));
        continue;
      }
      for (const FileRef& file : input.files) {
        sources.push_back(NewLevelIterator(std::span(&file, 1), context_.tables, options));
      }
    }
    return sources;
  }

  Status Pace(uint64_t bytes) const {
    TIDESDB_FAILPOINT_STATUS("compaction_pace");
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
      return Status::ShuttingDown("the compaction was stopped; its inputs are untouched");
    }
    return context_.env->Pace(bytes);
  }

  // All entries in the inputs' properties must have been read: a source that ends early would lose
  // data silently.
  Status CheckCounts() const {
    uint64_t promised = 0;
    for (const Compaction::Input& input : compaction_.inputs) {
      for (const FileRef& file : input.files) promised += file->properties().entries;
    }
    if (promised == writer_.entries_in()) return Status::Ok();
    return Status::Corruption(compaction_.Describe() + ": the inputs hold " +
                              std::to_string(promised) + " entries, but " +
                              std::to_string(writer_.entries_in()) + " were read");
  }

  const JobContext& context_;
  const Compaction& compaction_;
  const std::atomic<bool>* const stop_;
  const SnapshotView view_;
  TableOutput output_;  // Deletes the files again if the job fails.
  DeeperFiles deeper_;
  KeyVersionsWriter writer_;
};

}  // namespace

Result<CompactionOutput> RunMerge(const JobContext& context, const Compaction& compaction,
                                  const std::atomic<bool>* stop) {
  CHECK(compaction.kind == CompactionKind::kMerge);
  return MergeJob(context, compaction, stop).Run();
}

}  // namespace tidesdb
