#include "db/cache_warmer.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "format/warm_format.h"
#include "io/file_names.h"
#include "io/file_util.h"
#include "table/block_source.h"

namespace tidesdb {
namespace {

std::vector<WarmFile> DataBlocks(const BlockCache& cache) {
  std::vector<BlockPlace> blocks = cache.List();
  std::erase_if(blocks, [](BlockPlace block) { return !BlockSource::DataOffset(block.place); });
  std::sort(blocks.begin(), blocks.end());  // Blocks of one kind are in the order of their offsets.
  std::vector<WarmFile> files;
  for (const BlockPlace& block : blocks) {
    if (files.empty() || files.back().number != block.file_number) {
      files.push_back({block.file_number, {}});
    }
    files.back().offsets.push_back(*BlockSource::DataOffset(block.place));
  }
  return files;
}

}  // namespace

void CacheWarmer::Start(const std::vector<VersionRef>& families) {
  for (const VersionRef& version : families) {
    for (const FileList& level : version->levels()) {
      for (const FileRef& file : level) {
        files_.push_back({file->number(), file, version->tables()});
      }
    }
  }
  std::sort(files_.begin(), files_.end(),
            [](const TableFile& a, const TableFile& b) { return a.number < b.number; });
  thread_ = std::make_unique<Thread>("tdb-warm", [this] {
    if (instruments_ != nullptr) instruments_->ThreadBegins("tdb-warm");
    Run();
    if (instruments_ != nullptr) instruments_->ThreadEnds();
  });
}

bool CacheWarmer::Stop() {
  stop_.store(true, std::memory_order_relaxed);
  thread_->Join();
  return done_;
}

void CacheWarmer::Run() {
  const uint64_t start_us = env_->clock->NowMicros();
  const uint64_t filled = Fill();
  files_.clear();
  done_ = !stop_.load(std::memory_order_relaxed);
  if (filled == 0) return;
  LogF(log_, LogLevel::kInfo,
       "the block cache has %" PRIu64 " blocks of before the restart again%s, after %.1f s", filled,
       done_ ? "" : " (not all: the database closes)",
       static_cast<double>(env_->clock->NowMicros() - start_us) / 1e6);
}

uint64_t CacheWarmer::Fill() {
  const std::string path = WarmFileName(directory_);
  const Result<bool> exists = env_->fs->Exists(path);
  if (!exists.ok() || !*exists) return 0;
  std::vector<WarmFile> list;
  const Status read = [&]() -> Status {
    TIDESDB_ASSIGN(const std::string bytes, ReadWholeFile(*env_->fs, path));
    TIDESDB_ASSIGN(list, DecodeWarmList(bytes, path));
    return Status::Ok();
  }();
  if (!read.ok()) {
    LogF(log_, LogLevel::kWarn, "the block cache starts empty: %s", read.ToString().c_str());
    return 0;
  }
  uint64_t filled = 0;
  auto wanted = list.begin();
  for (const TableFile& known : files_) {
    if (stop_.load(std::memory_order_relaxed) || !cache_->HasRoom()) break;
    while (wanted != list.end() && wanted->number < known.number) ++wanted;
    if (wanted == list.end()) break;
    const FileRef file = wanted->number == known.number ? known.file.lock() : nullptr;
    if (file == nullptr) continue;
    const Status status = [&]() -> Status {
      TIDESDB_ASSIGN(const TableRef table, known.tables->Find(*file));
      TIDESDB_ASSIGN(const uint64_t blocks, table->FillCache(wanted->offsets, &stop_));
      filled += blocks;
      return Status::Ok();
    }();
    // Who needs the block reports it.
    if (!status.ok()) {
      LogF(log_, LogLevel::kWarn, "a file's blocks are not read into the block cache: %s",
           status.ToString().c_str());
    }
  }
  return filled;
}

void CacheWarmer::Save() {
  const Status status =
      WriteFileAtomically(*env_->fs, WarmFileName(directory_), EncodeWarmList(DataBlocks(*cache_)));
  if (!status.ok()) {
    LogF(log_, LogLevel::kWarn, "the next open cannot fill the block cache as it was: %s",
         status.ToString().c_str());
  }
}

}  // namespace tidesdb
