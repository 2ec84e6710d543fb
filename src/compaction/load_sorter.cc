#include "compaction/load_sorter.h"

#include <algorithm>
#include <cstring>

#include "base/failpoint.h"
#include "base/key_head.h"
#include "version/merging_iter.h"

namespace tidesdb {
namespace {

constexpr size_t kRunsMerged = 64;  // At once: each needs a block, an index and a descriptor.
constexpr size_t kHeadBytes = 8;
constexpr uint64_t kMemoryBytesMin = 64 << 10;
constexpr uint64_t kCrowdedPart = 8;  // Share of the memory to write early when memory is short.
constexpr size_t kArenaBlockBytes = 32 << 10;
constexpr uint64_t kEntriesBetweenLooks = 1024;
constexpr size_t kEntriesAhead = 8;  // Prefetched into the processor's cache.
constexpr uint64_t kSampleEvery = 64;
constexpr size_t kSamplesMax = 512;
constexpr size_t kSamplesMin = 16;  // Fewer entries are not worth a second thread.
constexpr uint64_t kLookEveryUs = 100'000;

LevelIterOptions ReadOnce(Readers readers, Slice lower, Slice upper) {
  return {.lower = lower, .upper = upper, .fill_cache = false, .readers = readers};
}

}  // namespace

LoadSorter::Memory::Memory() : arena(kArenaBlockBytes) {}

LoadSorter::LoadSorter(const JobContext* context, LoadSorterOptions options)
    : context_(context), options_(std::move(options)), sample_every_(kSampleEvery) {}

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
  // Without the helper, which would need a second memory to fill meanwhile.
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
  Entries* entries = &gathering_->entries;
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

Status LoadSorter::Look(uint64_t written) const {
  return options_.on_written ? options_.on_written(written) : Status::Ok();
}

Status LoadSorter::WriteFull() {
  TIDESDB_TRY(AwaitHelper());
  TIDESDB_TRY(MergeIfMany());
  std::swap(gathering_, full_);
  TIDESDB_TRY(Look(written_));
  if (context_->helpers == nullptr || !context_->helpers->TryTake()) {
    TIDESDB_TRY(WriteMemory(true));
    std::swap(gathering_, full_);  // Without a helper it needs only one memory.
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

std::unique_ptr<TableOutput> LoadSorter::NewOutput(bool result) const {
  TableWriteOptions table = options_.table;
  if (!result) {
    table.compression = Compression::kNone;
    table.bloom_fpr = 0;
    table.temporary = true;
  }
  auto output = std::make_unique<TableOutput>(context_, table, CachePriority::kData);
  if (result) output->FillRoom();
  return output;
}

void LoadSorter::NoteKey(Slice key) {
  if (written_ % sample_every_ != 0) return;
  if (samples_.size() == kSamplesMax) {
    for (size_t i = 0; i < kSamplesMax / 2; ++i) samples_[i].swap(samples_[2 * i]);
    samples_.resize(kSamplesMax / 2);
    sample_every_ *= 2;
  }
  samples_.emplace_back(key);
}

std::string LoadSorter::MiddleKey() const {
  if (samples_.size() < kSamplesMin) return "";
  std::vector<std::string> sorted = samples_;
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

Status LoadSorter::Duplicate(Slice key, Slice value) {
  duplicate_key_.assign(key);
  duplicate_value_.assign(value);
  return Status::AlreadyExists("two entries of a load have the same key");
}

Status LoadSorter::Write(TableOutput* output, Slice key, Slice value) const {
  if (output->FileBytes() >= options_.target_file_bytes) {
    TIDESDB_FAILPOINT_STATUS("load_between_files");
    TIDESDB_TRY(output->FinishFile());
  }
  return output->Add(key, PackTrailer(0, ValueType::kPut), value);
}

Status LoadSorter::WriteMemory(bool look) {
  Entries& entries = full_->entries;
  if (entries.empty()) return Status::Ok();
  TIDESDB_FAILPOINT_STATUS("load_before_run");
  if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
  const Slice first = entries.front().key();
  if (!runs_.empty() && first == Slice(runs_.back().key_max)) {
    return Duplicate(first, entries.front().value());
  }
  if (runs_.empty() || first < Slice(runs_.back().key_max)) {
    if (!runs_.empty()) TIDESDB_TRY(FinishFiles(&runs_.back()));
    Run begun;
    begun.result = runs_.empty();
    begun.outputs.push_back(NewOutput(begun.result));
    runs_.push_back(std::move(begun));
  }
  Run& run = runs_.back();
  for (size_t i = 0; i < entries.size(); ++i) {
    // Keys are in order, but not their memory.
    if (i + kEntriesAhead < entries.size()) __builtin_prefetch(entries[i + kEntriesAhead].bytes);
    const Entry& entry = entries[i];
    if (i > 0 && entries[i - 1].key() == entry.key()) return Duplicate(entry.key(), entry.value());
    if (++written_ % kEntriesBetweenLooks == 0 && look) TIDESDB_TRY(Look(written_));
    NoteKey(entry.key());
    TIDESDB_TRY(Write(run.outputs.back().get(), entry.key(), entry.value()));
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
  for (const auto& output : run.outputs) {
    for (const FileRecord& file : output->files()) {
      files.push_back(std::make_shared<const FileMeta>(file, nullptr));
    }
  }
  return files;
}

Status LoadSorter::FinishFiles(Run* run) {
  for (const auto& output : run->outputs) TIDESDB_TRY(output->FinishFile());
  return Status::Ok();
}

Result<bool> LoadSorter::Find(Slice key, std::string* value) const {
  if (runs_.empty()) return false;
  const FileList files = FilesOf(runs_.front());
  const auto iter = NewLevelIterator(files, context_->tables, ReadOnce(Readers::kOnce, {}, {}));
  iter->Seek(key, kTrailerMax);
  TIDESDB_TRY(iter->status());
  if (!iter->Valid() || iter->user_key() != key) return false;
  value->assign(iter->value());
  return true;
}

Status LoadSorter::MergeFrom(size_t first, bool last) {
  TIDESDB_FAILPOINT_STATUS("load_before_merge");
  std::vector<Input> inputs;
  inputs.reserve(runs_.size() - first);
  for (size_t i = first; i < runs_.size(); ++i) {
    TIDESDB_TRY(FinishFiles(&runs_[i]));
    inputs.push_back({FilesOf(runs_[i]), runs_[i].result ? Readers::kOnce : Readers::kTemporary});
  }
  Share lower;
  Share upper;
  Status status;
  lower.output = NewOutput(last);
  lower.upper = upper.lower = MiddleKey();
  if (!lower.upper.empty() && context_->helpers != nullptr && context_->helpers->TryTake()) {
    upper.output = NewOutput(last);
    status = MergeBoth(inputs, &lower, &upper);
  } else {
    lower.upper.clear();
    status = MergeShare(inputs, &lower, true);
  }
  if (status.code() == Code::kAlreadyExists && (lower.has_duplicate || upper.has_duplicate)) {
    // If both shares have a duplicate, report the lower key.
    const Share& share = lower.has_duplicate ? lower : upper;
    return Duplicate(share.key_max, share.duplicate);
  }
  TIDESDB_TRY(status);
  Run merged;
  merged.result = last;
  merged.merges = runs_.back().merges + 1;
  merged.outputs.push_back(std::move(lower.output));
  if (upper.output != nullptr) merged.outputs.push_back(std::move(upper.output));
  merged.key_max = upper.key_max.empty() ? lower.key_max : upper.key_max;
  written_ += lower.written + upper.written;
  runs_.resize(first);
  runs_.push_back(std::move(merged));
  return Status::Ok();
}

Status LoadSorter::MergeShare(const std::vector<Input>& inputs, Share* share, bool look) {
  std::vector<std::unique_ptr<InternalIterator>> sources;
  sources.reserve(inputs.size());
  for (const Input& input : inputs) {
    sources.push_back(NewLevelIterator(input.files, context_->tables,
                                       ReadOnce(input.readers, share->lower, share->upper)));
  }
  const auto iter = NewMergingIterator(std::move(sources), nullptr);
  uint64_t written = 0;
  for (iter->Seek(share->lower, kTrailerMax); iter->Valid(); iter->Next()) {
    const Slice key = iter->user_key();
    if (!share->upper.empty() && key >= Slice(share->upper)) break;
    if (written > 0 && key == Slice(share->key_max)) {
      share->has_duplicate = true;
      share->duplicate.assign(iter->value());
      return Status::AlreadyExists("two entries of a load have the same key");
    }
    share->key_max.assign(key);
    if (++written % kEntriesBetweenLooks == 0) {
      share->written.store(written, std::memory_order_relaxed);
      if (look) TIDESDB_TRY(Look(written_ + written));
      if (give_up_.load(std::memory_order_relaxed))
        return Status::Interrupted("the load has ended");
    }
    TIDESDB_TRY(Write(share->output.get(), key, iter->value()));
  }
  TIDESDB_TRY(iter->status());
  share->written.store(written, std::memory_order_relaxed);
  return share->output->FinishFile();
}

Status LoadSorter::MergeBoth(const std::vector<Input>& inputs, Share* lower, Share* upper) {
  helper_bytes_ = full_->Bytes();
  helper_ = std::make_unique<Thread>("tdb-load", [this, &inputs, upper] {
    helped_ = MergeShare(inputs, upper, false);
    MutexLock lock(upper->mutex);
    upper->has_ended = true;
    upper->ended.NotifyOne();
  });
  Status status = MergeShare(inputs, lower, true);
  if (status.ok()) status = AwaitShare(upper, written_ + lower->written);
  if (!status.ok()) give_up_.store(true, std::memory_order_relaxed);
  Status helped = AwaitHelper();
  if (status.ok()) return helped;
  helped.IgnoreError();
  return status;
}

Status LoadSorter::AwaitShare(Share* share, uint64_t written) {
  for (;;) {
    {
      MutexLock lock(share->mutex);
      if (!share->has_ended) share->ended.WaitFor(share->mutex, kLookEveryUs);
      if (share->has_ended) return Status::Ok();
    }
    TIDESDB_TRY(Look(written + share->written));
  }
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
  Run& result = runs_.front();
  TIDESDB_TRY(FinishFiles(&result));
  for (const auto& output : result.outputs) TIDESDB_TRY(output->SyncDirectory());
  return Status::Ok();
}

std::vector<FileRecord> LoadSorter::Release() {
  std::vector<FileRecord> files;
  if (runs_.empty()) return files;
  for (const auto& output : runs_.front().outputs) {
    for (FileRecord& file : output->Release()) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace tidesdb
