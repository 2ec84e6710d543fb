#include "version/version.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/hash.h"
#include "base/key_head.h"

namespace tidesdb {
namespace {

std::string Describe(FamilyId family, const FileMeta& file) {
  return "family " + std::to_string(family) + ", table file " + std::to_string(file.number());
}

// Releases a hit's pin if only its sequence is needed.
void ReleaseHit(VersionHit* hit) {
  if (hit->release != nullptr) hit->release(hit->owner, hit->arg);
  hit->release = nullptr;
}

// An estimate of the keys in a file: its entries without tombstones. It does not subtract the keys
// that tombstones hide, because these are in other files, and usually in other ranges. An index
// whose column was updated has a file with as many tombstones as entries, but in different places.
uint64_t LiveKeys(const TableProperties& properties) {
  return properties.keys - std::min(properties.keys, properties.tombstones);
}

double TombstoneDensity(const TableProperties& properties) {
  return properties.entries == 0
             ? 0
             : static_cast<double>(properties.tombstones) / static_cast<double>(properties.entries);
}

}  // namespace

uint64_t TotalBytes(std::span<const FileRef> files) {
  uint64_t bytes = 0;
  for (const FileRef& file : files) bytes += file->bytes();
  return bytes;
}

size_t FindFileByKey(std::span<const FileRef> files, Slice key) {
  const auto at =
      std::lower_bound(files.begin(), files.end(), key,
                       [](const FileRef& file, Slice wanted) { return file->key_max() < wanted; });
  return static_cast<size_t>(at - files.begin());
}

void Version::Sort(Levels* levels) {
  std::sort((*levels)[0].begin(), (*levels)[0].end(), [](const FileRef& a, const FileRef& b) {
    if (a->sequence_max() != b->sequence_max()) return a->sequence_max() > b->sequence_max();
    if (a->sequence_min() != b->sequence_min()) return a->sequence_min() > b->sequence_min();
    return a->number() > b->number();
  });
  for (int level = 1; level < kLevels; ++level) {
    std::sort((*levels)[level].begin(), (*levels)[level].end(),
              [](const FileRef& a, const FileRef& b) { return a->key_min() < b->key_min(); });
  }
}

Status Version::Check(FamilyId family, const Levels& levels) {
  for (int level = 0; level < kLevels; ++level) {
    const FileList& files = levels[level];
    for (size_t i = 0; i < files.size(); ++i) {
      const FileMeta& file = *files[i];
      if (file.properties().family != family || file.key_min() > file.key_max() ||
          file.sequence_min() > file.sequence_max()) {
        return Status::Corruption(Describe(family, file) + ": its bounds are invalid");
      }
      if (i == 0) continue;
      const FileMeta& before = *files[i - 1];
      if (level == 0 && before.sequence_min() < file.sequence_max() &&
          before.key_min() <= file.key_max() && file.key_min() <= before.key_max()) {
        return Status::Corruption(Describe(family, file) + " and " +
                                  std::to_string(before.number()) +
                                  ": neither is newer than the other in level 0");
      }
      if (level > 0 && before.key_max() >= file.key_min()) {
        return Status::Corruption(Describe(family, file) + " and " +
                                  std::to_string(before.number()) + ": they overlap in level " +
                                  std::to_string(level));
      }
    }
  }
  return Status::Ok();
}

Version::Version(FamilyInfoRef info, Levels levels, TableCache* tables)
    : info_(std::move(info)), levels_(std::move(levels)), tables_(tables) {
  DCHECK(Check(info_->id, levels_).ok());
  for (int level = 0; level < kLevels; ++level) {
    level_bytes_[level] = tidesdb::TotalBytes(levels_[level]);
    total_bytes_ += level_bytes_[level];
    if (!levels_[level].empty()) bottom_level_ = level;
  }
  for (int level = 1; level < kLevels; ++level) {
    last_key_heads_[level].reserve(levels_[level].size());
    for (const FileRef& file : levels_[level]) {
      last_key_heads_[level].push_back(KeyHead(file->key_max()));
    }
  }
  const FileMeta* before = nullptr;
  for (const FileRef& file : levels_[0]) {
    const SequenceNumber ingested = file->record().global_sequence;
    if (before == nullptr || ingested == 0 || before->record().global_sequence != ingested) {
      ++level0_runs_;
    }
    before = file.get();
  }
}

uint64_t Version::FileCount() const {
  uint64_t count = 0;
  for (const FileList& files : levels_) count += files.size();
  return count;
}

Result<bool> Version::Get(Slice key, SequenceNumber snapshot, VersionHit* hit) const {
  const uint64_t hash = Hash64(key);
  size_t next = 0;
  for (;;) {
    // First for several files what does not wait for memory: the waits for their filters overlap.
    std::array<Candidate, kCandidatesAtOnce> candidates;
    size_t count = 0;
    while (count < candidates.size()) {
      const FileMeta* const file = NextCandidate(key, snapshot, &next);
      if (file == nullptr) break;
      Candidate& candidate = candidates[count++];
      candidate = {.file = file, .reader = TableCache::FindLasting(*file), .place = {}};
      if (candidate.reader != nullptr)
        candidate.place = candidate.reader->Find(key, snapshot, hash);
    }
    for (const Candidate& candidate : std::span(candidates).first(count)) {
      TIDESDB_ASSIGN(const bool found, GetFrom(candidate, key, snapshot, hash, hit));
      if (found) return true;
    }
    if (count < candidates.size()) return false;
  }
}

const FileMeta* Version::NextCandidate(Slice key, SequenceNumber snapshot, size_t* next) const {
  const FileList& level0 = levels_[0];
  while (*next < level0.size()) {
    const FileMeta& file = *level0[(*next)++];
    if (file.sequence_min() <= snapshot && key >= file.key_min() && key <= file.key_max())
      return &file;
  }
  const size_t end = level0.size() + static_cast<size_t>(bottom_level_);
  while (*next < end) {
    const auto level = static_cast<int>(++*next - level0.size());
    if (levels_[level].empty()) continue;  // As most are.
    const FileMeta* const file = FindFile(level, key);
    if (file != nullptr && file->sequence_min() <= snapshot) return file;
  }
  return nullptr;
}

Result<bool> Version::GetFrom(const Candidate& candidate, Slice key, SequenceNumber snapshot,
                              uint64_t hash, VersionHit* hit) const {
  if (candidate.reader != nullptr)
    return candidate.reader->GetAt({}, key, snapshot, candidate.place, hit);
  TIDESDB_ASSIGN(const TableRef table, tables_->Find(*candidate.file));
  return table->GetAt({}, key, snapshot, table->Find(key, snapshot, hash), hit);
}

Result<bool> Version::ChangedSince(Slice key, SequenceNumber floor) const {
  // The newest version of the key in the first source that has one decides: all others are older.
  enum class Answer : uint8_t { kNotHere, kYes, kNo };
  const auto ask = [&](const FileMeta& file) -> Result<Answer> {
    TIDESDB_ASSIGN(const TableRef table, tables_->Find(file));
    VersionHit hit;
    TIDESDB_ASSIGN(const bool found, table->Get({}, key, kSequenceMax, &hit));
    if (!found) return Answer::kNotHere;
    ReleaseHit(&hit);
    return hit.sequence > floor ? Answer::kYes : Answer::kNo;
  };
  for (const FileRef& file : levels_[0]) {
    if (file->sequence_max() <= floor) break;  // So are all later ones: newest first.
    if (key < file->key_min() || key > file->key_max()) continue;
    TIDESDB_ASSIGN(const Answer answer, ask(*file));
    if (answer != Answer::kNotHere) return answer == Answer::kYes;
  }
  for (int level = 1; level <= bottom_level_; ++level) {
    const FileMeta* file = FindFile(level, key);
    if (file == nullptr || file->sequence_max() <= floor) continue;
    TIDESDB_ASSIGN(const Answer answer, ask(*file));
    if (answer != Answer::kNotHere) return answer == Answer::kYes;
  }
  return false;
}

// A range of fewer blocks is measured in entries, because it is mostly its first and last block.
constexpr double kBlocksToCount = 16;

void AddEstimate(TableCache* tables, const FileMeta& file, Slice start, Slice end, EstimateBy by,
                 RangeEstimate* estimate) {
  if (file.key_max() < start || (!end.empty() && file.key_min() >= end)) return;
  // An unreadable block makes the estimate worse, not wrong: reads will report it.
  const auto share_before = [&](Slice key, TableReader::Precision precision, double fallback) {
    const Result<TableRef> table = tables->Find(file);
    if (!table.status().ok()) return fallback;
    const Result<double> share = (*table)->ShareBefore(key, precision);
    return share.status().ok() ? *share : fallback;
  };
  const auto share_inside = [&](TableReader::Precision precision) {
    const double from = file.key_min() >= start ? 0 : share_before(start, precision, 0);
    const double to = end.empty() || file.key_max() < end ? 1 : share_before(end, precision, 1);
    return to - from;
  };
  double share = share_inside(TableReader::Precision::kCoarse);
  if (by == EstimateBy::kEntries &&
      share * static_cast<double>(file.properties().data_blocks) < kBlocksToCount) {
    share = share_inside(TableReader::Precision::kExact);
  }
  if (share <= 0) return;
  estimate->bytes += static_cast<uint64_t>(share * static_cast<double>(file.bytes()));
  estimate->keys +=
      static_cast<uint64_t>(share * static_cast<double>(LiveKeys(file.properties())) + 0.5);
  estimate->tombstones +=
      static_cast<uint64_t>(share * static_cast<double>(file.properties().tombstones) + 0.5);
}

RangeEstimate Version::EstimateRange(Slice start, Slice end, EstimateBy by) const {
  RangeEstimate estimate;
  for (const FileRef& file : levels_[0]) AddEstimate(tables_, *file, start, end, by, &estimate);
  for (int level = 1; level <= bottom_level_; ++level) {
    const FileList& files = levels_[level];
    for (size_t i = FindFileByKey(files, start); i < files.size(); ++i) {
      if (!end.empty() && files[i]->key_min() >= end) break;
      AddEstimate(tables_, *files[i], start, end, by, &estimate);
    }
  }
  return estimate;
}

FamilyStats Version::GetStats() const {
  FamilyStats stats;
  stats.levels.resize(kLevels);
  for (int level = 0; level < kLevels; ++level) {
    LevelStats& of_level = stats.levels[level];
    for (const FileRef& file : levels_[level]) {
      ++of_level.files;
      of_level.bytes += file->bytes();
      of_level.entries += file->properties().entries;
      of_level.tombstones += file->properties().tombstones;
      of_level.densest = std::max(of_level.densest, TombstoneDensity(file->properties()));
      stats.estimated_keys += LiveKeys(file->properties());
    }
  }
  stats.table_bytes = total_bytes_;
  return stats;
}

const FileMeta* Version::FindFile(int level, Slice key) const {
  const std::vector<uint64_t>& heads = last_key_heads_[level];
  const auto [first, last] = std::equal_range(heads.begin(), heads.end(), KeyHead(key));
  auto at = static_cast<size_t>(first - heads.begin());
  // Heads equal to the key's decide nothing.
  const auto end = static_cast<size_t>(last - heads.begin());
  const std::span<const FileRef> files(levels_[level]);
  at += FindFileByKey(files.subspan(at, end - at), key);
  if (at == files.size() || key < files[at]->key_min()) return nullptr;
  return files[at].get();
}

FileList Version::Overlapping(int level, Slice key_min, Slice key_max) const {
  if (level > 0) {
    const std::span<const FileRef> files = OverlappingSpan(level, key_min, key_max);
    return {files.begin(), files.end()};
  }
  FileList overlapping;
  for (const FileRef& file : levels_[0]) {
    if (file->key_min() <= key_max && file->key_max() >= key_min) overlapping.push_back(file);
  }
  return overlapping;
}

std::span<const FileRef> Version::OverlappingSpan(int level, Slice key_min, Slice key_max) const {
  DCHECK(level >= 1);
  const std::span<const FileRef> files(levels_[level]);
  const size_t begin = FindFileByKey(files, key_min);
  size_t end = begin;
  while (end < files.size() && files[end]->key_min() <= key_max) ++end;
  return files.subspan(begin, end - begin);
}

}  // namespace tidesdb
