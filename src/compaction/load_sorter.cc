#include "compaction/load_sorter.h"

#include <algorithm>
#include <cstring>

#include "base/failpoint.h"
#include "base/key_head.h"
#include "version/level_iter.h"
#include "version/merging_iter.h"

namespace tidesdb {
namespace {

constexpr size_t kRunsMerged = 64;  // At once: each takes a block, an index and a descriptor.
constexpr size_t kHeadBytes = 8;
constexpr uint64_t kMemoryBytesMin = 64 << 10;
constexpr uint64_t kCrowdedPart = 8;  // Of the memory: what is written early when memory is short.
constexpr size_t kArenaBlockBytes = 32 << 10;
constexpr uint64_t kEntriesBetweenLooks = 1024;
constexpr size_t kEntriesAhead = 8;  // Brought into the processor's cache.
constexpr LevelIterOptions kReadOnce = {
    .lower = {}, .upper = {}, .fill_cache = false, .uncached_readers = true};

}  // namespace

LoadSorter::Memory::Memory() : arena(kArenaBlockBytes) {}

LoadSorter::LoadSorter(const JobContext* context, LoadSorterOptions options)
    : context_(context), options_(std::move(options)) {}

LoadSorter::~LoadSorter() {
  AwaitHelper().IgnoreError();
  if (options_.on_memory) options_.on_memory(0 - memory_told_);
}

bool LoadSorter::TellMemory() {
  if (!options_.on_memory) return false;
  const uint64_t bytes = MemoryBytes();
  if (bytes == memory_told_) return false;
  const bool is_short = options_.on_memory(bytes - memory_told_);
  memory_told_ = bytes;
  return is_short;
}

Status LoadSorter::WriteIfCrowded() {
  if (!TellMemory()) return Status::Ok();
  const uint64_t used =
      gathering_->arena.MemoryUsage() + gathering_->entries.size() * sizeof(Entry);
  if (used < std::max(options_.memory_bytes / kCrowdedPart, kMemoryBytesMin)) return Status::Ok();
  // Without the helper, for which a second memory would fill meanwhile.
  TIDESDB_TRY(AwaitHelper());
  TIDESDB_TRY(MergeIfMany());
  std::swap(gathering_, full_);
  TIDESDB_TRY(WriteMemory(true));
  gathering_->entries.shrink_to_fit();
  full_->entries.shrink_to_fit();
  TellMemory();
  return Status::Ok();
}

Status LoadSorter::Add(Slice key, Slice value) {
  const size_t bytes = key.size() + value.size();
  const uint64_t parts = context_->helpers != nullptr ? 2 : 1;
  const uint64_t memory_max = std::max(options_.memory_bytes / parts, kMemoryBytesMin);
  std::vector<Entry>* entries = &gathering_->entries;
  // The list of entries may be about to double.
  const uint64_t more =
      entries->size() < entries->capacity() ? 0 : entries->capacity() * sizeof(Entry);
  if (!entries->empty() && gathering_->Bytes() + more + bytes > memory_max) {
    TIDESDB_TRY(WriteFull());
    entries = &gathering_->entries;
  }
  char* const copy = gathering_->arena.Allocate(std::max<size_t>(bytes, 1));
  if (!key.empty()) std::memcpy(copy, key.data(), key.size());
  if (!value.empty()) std::memcpy(copy + key.size(), value.data(), value.size());
  const Slice behind = key.size() > kHeadBytes ? key.substr(kHeadBytes) : Slice();
  entries->push_back({KeyHead(key), KeyHead(behind), copy, static_cast<uint32_t>(key.size()),
                      static_cast<uint32_t>(value.size())});
  return WriteIfCrowded();
}

Status LoadSorter::Look() const {
  return options_.on_written ? options_.on_written(written_) : Status::Ok();
}

Status LoadSorter::WriteFull() {
  TIDESDB_TRY(AwaitHelper());
  TIDESDB_TRY(MergeIfMany());
  std::swap(gathering_, full_);
  TIDESDB_TRY(Look());
  if (context_->helpers == nullptr || !context_->helpers->TryTake()) {
    TIDESDB_TRY(WriteMemory(true));
    std::swap(gathering_, full_);  // Alone it needs the memory of one.
    return Status::Ok();
  }
  helper_bytes_ = full_->Bytes();
  helper_ = std::make_unique<Thread>("tdb-load", [this] { helped_ = WriteMemory(false); });
  return Status::Ok();
}

Status LoadSorter::AwaitHelper() {
  if (helper_ == nullptr) return Status::Ok();
  helper_->Join();
  helper_ = nullptr;
  context_->helpers->Give();
  return std::exchange(helped_, Status::Ok());
}

LoadSorter::Run LoadSorter::NewRun(bool result) const {
  TableWriteOptions table = options_.table;
  if (!result) {
    table.compression = Compression::kNone;
    table.bloom_fpr = 0;
    table.sync = false;
  }
  Run run;
  run.result = result;
  run.output = std::make_unique<TableOutput>(context_, table, CachePriority::kData);
  return run;
}

Status LoadSorter::Duplicate(Slice key, Slice value) {
  duplicate_key_.assign(key);
  duplicate_value_.assign(value);
  return Status::AlreadyExists("two entries of a load have the same key");
}

Status LoadSorter::Write(Run* run, Slice key, Slice value, bool look) {
  if (++written_ % kEntriesBetweenLooks == 0 && look) TIDESDB_TRY(Look());
  if (run->output->FileBytes() >= options_.target_file_bytes) {
    TIDESDB_FAILPOINT_STATUS("load_between_files");
    TIDESDB_TRY(run->output->FinishFile());
  }
  return run->output->Add(key, PackTrailer(0, ValueType::kPut), value);
}

Status LoadSorter::WriteMemory(bool look) {
  std::vector<Entry>& entries = full_->entries;
  if (entries.empty()) return Status::Ok();
  TIDESDB_FAILPOINT_STATUS("load_before_run");
  if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
  const Slice first = entries.front().key();
  if (!runs_.empty() && first == Slice(runs_.back().key_max)) {
    return Duplicate(first, entries.front().value());
  }
  if (runs_.empty() || first < Slice(runs_.back().key_max)) {
    if (!runs_.empty()) TIDESDB_TRY(runs_.back().output->FinishFile());
    runs_.push_back(NewRun(runs_.empty()));
  }
  Run& run = runs_.back();
  for (size_t i = 0; i < entries.size(); ++i) {
    // In the order of keys, which is none of memory.
    if (i + kEntriesAhead < entries.size()) __builtin_prefetch(entries[i + kEntriesAhead].bytes);
    const Entry& entry = entries[i];
    if (i > 0 && entries[i - 1].key() == entry.key()) return Duplicate(entry.key(), entry.value());
    TIDESDB_TRY(Write(&run, entry.key(), entry.value(), look));
  }
  run.key_max.assign(entries.back().key());
  full_->Clear();
  return Status::Ok();
}

Status LoadSorter::MergeIfMany() {
  if (runs_.empty()) return Status::Ok();
  const auto same = std::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& other) {
    return other.merges != runs_.back().merges;
  });
  if (static_cast<size_t>(same - runs_.rbegin()) < kRunsMerged) return Status::Ok();
  return MergeFrom(runs_.size() - kRunsMerged, false);
}

FileList LoadSorter::FilesOf(const Run& run) {
  FileList files;
  for (const FileRecord& file : run.output->files()) {
    files.push_back(std::make_shared<const FileMeta>(file, nullptr));
  }
  return files;
}

Result<bool> LoadSorter::Find(Slice key, std::string* value) const {
  if (runs_.empty()) return false;
  const FileList files = FilesOf(runs_.front());
  const auto iter = NewLevelIterator(files, context_->tables, kReadOnce);
  iter->Seek(key, kTrailerMax);
  TIDESDB_TRY(iter->status());
  if (!iter->Valid() || iter->user_key() != key) return false;
  value->assign(iter->value());
  return true;
}

Status LoadSorter::MergeFrom(size_t first, bool last) {
  TIDESDB_FAILPOINT_STATUS("load_before_merge");
  std::vector<FileList> files(runs_.size() - first);
  std::vector<std::unique_ptr<InternalIterator>> sources;
  for (size_t i = first; i < runs_.size(); ++i) {
    TIDESDB_TRY(runs_[i].output->FinishFile());
    files[i - first] = FilesOf(runs_[i]);
    sources.push_back(NewLevelIterator(files[i - first], context_->tables, kReadOnce));
  }
  Run merged = NewRun(last);
  merged.merges = runs_.back().merges + 1;
  const auto iter = NewMergingIterator(std::move(sources), nullptr);
  bool any = false;
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
    const Slice key = iter->user_key();
    if (any && key == Slice(merged.key_max)) return Duplicate(key, iter->value());
    any = true;
    TIDESDB_TRY(Write(&merged, key, iter->value(), true));
    merged.key_max.assign(key);
  }
  TIDESDB_TRY(iter->status());
  runs_.resize(first);
  runs_.push_back(std::move(merged));
  return Status::Ok();
}

Status LoadSorter::Finish() {
  TIDESDB_TRY(AwaitHelper());
  TIDESDB_TRY(MergeIfMany());
  std::swap(gathering_, full_);
  TIDESDB_TRY(WriteMemory(true));
  gathering_ = std::make_unique<Memory>();
  full_ = std::make_unique<Memory>();
  TellMemory();
  if (runs_.empty()) return Status::Ok();
  if (runs_.size() > 1 || !runs_.front().result) TIDESDB_TRY(MergeFrom(0, true));
  TIDESDB_TRY(runs_.front().output->FinishFile());
  return runs_.front().output->SyncDirectory();
}

std::vector<FileRecord> LoadSorter::Release() {
  return runs_.empty() ? std::vector<FileRecord>() : runs_.front().output->Release();
}

}  // namespace tidesdb
