#include "table/table_reader.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/hash.h"
#include "format/corruption.h"
#include "format/filter_format.h"
#include "table/block_search.h"
#include "table/block_source.h"
#include "table/held_blocks.h"
#include "table/table_iter.h"
#include "table/table_verify.h"

namespace tidesdb {

namespace {

// Read at once at the open of a file: most top indexes and properties fit in it.
constexpr uint64_t kTailBytes = 8 << 10;
// What a lookup reads at once while the cache has room.
constexpr uint64_t kWarmBytesMax = 32 << 10;
constexpr size_t kWarmBlocksMax = 8;
// Between two blocks that are read into the cache: reading it, too, costs less than another read
// (at 1,500 reads and 60 MB a second, 40 KB cost as much).
constexpr uint64_t kFillGapBytesMax = 16 << 10;

std::string RestartKey(const BlockView& block, uint32_t restart) {
  const BlockEntry entry = DecodeTrustedEntry(block.Restart(restart));
  std::string key(block.prefix());
  return key.append(entry.suffix, entry.unshared);
}

// The share of keys, evenly spread over [low, high], that are before `key`: decided by the eight
// bytes after the common prefix of low and high.
double ShareOfKeysBefore(Slice low, Slice high, Slice key) {
  if (key <= low) return 0;
  if (key >= high) return 1;
  const size_t common = CommonPrefixBytes(low, high);
  const auto number = [common](Slice bytes) { return KeyHead(bytes.substr(common)); };
  const uint64_t from = number(low);
  const uint64_t to = number(high);
  return to > from ? static_cast<double>(number(key) - from) / static_cast<double>(to - from) : 0;
}

class TableReaderImpl final : public TableReader {
 public:
  TableReaderImpl(std::unique_ptr<RandomAccessFile> file, std::string path, uint64_t file_number,
                  SequenceNumber global, BlockCache* cache)
      : source_(std::move(file), std::move(path), file_number, cache),
        global_(global),
        cache_(cache) {}

  Status Open() {
    const uint64_t file_bytes = source_.file().size();
    const uint64_t tail_bytes = std::min(file_bytes, kTailBytes);
    ScanState tail;
    TIDESDB_ASSIGN(const Slice bytes, tail.Read(source_.file(), file_bytes - tail_bytes,
                                                static_cast<size_t>(tail_bytes)));
    if (bytes.size() != tail_bytes) {
      return CorruptionAt(source_.path(), file_bytes - tail_bytes, "end of file: bytes", tail_bytes,
                          bytes.size());
    }
    TableFooter footer;
    TIDESDB_TRY(DecodeTableFooter(bytes, file_bytes, source_.path(), &footer));
    TIDESDB_TRY(LoadProperties(footer.properties, &tail));
    data_end_ = footer.top_index.offset;
    TIDESDB_TRY(source_.Load(footer.top_index, BlockKind::kTopIndex, &tail, &top_block_));
    top_index_ = BlockView(top_block_.contents());
    held_ = std::make_unique<HeldBlocks>(cache_, size_t{2} * top_index_.restart_count());
    source_.file().AdviseRandom(true);
    return Status::Ok();
  }

  KeyPlace Find(Slice key, SequenceNumber snapshot, uint64_t hash) const override {
    const uint32_t partition = FindEntry(top_index_, key, SeekTrailer(snapshot));
    Slice filter;
    if (partition < top_index_.restart_count()) filter = held_->Find(FilterPlace(partition));
    if (!filter.empty()) PrefetchFilter(filter, hash);
    return {.hash = hash, .partition = partition, .filter = filter};
  }

  Result<bool> GetAt(const TableReadOptions& options, Slice key, SequenceNumber snapshot,
                     const KeyPlace& place, VersionHit* hit) const override {
    const Trailer trailer = SeekTrailer(snapshot);
    const auto [hash, partition, kept_filter] = place;
    if (partition == top_index_.restart_count()) return false;
    if (!kept_filter.empty() && !FilterMayContain(kept_filter, hash)) return false;
    PartitionHandles handles;
    TIDESDB_TRY(DecodePartition(DecodeTrustedEntry(top_index_.Restart(partition)), &handles));
    BlockRef block;
    if (kept_filter.empty() && handles.has_filter()) {
      TIDESDB_ASSIGN(const Slice filter, FetchMeta(options, handles.filter, BlockKind::kFilter,
                                                   FilterPlace(partition), &block));
      if (!FilterMayContain(filter, hash)) return false;
    }
    BlockEntry entry;
    BlockHandle data;
    TIDESDB_ASSIGN(const Slice index, FetchMeta(options, handles.index, BlockKind::kIndex,
                                                IndexPlace(partition), &block));
    if (!FindFirstAtOrAfter(BlockView(index), key, trailer, 0, &entry)) {
      return CorruptionAt(source_.path(), handles.index.offset,
                          "index block ends before the key that the top index names");
    }
    TIDESDB_TRY(DecodeData(entry, handles.index, &data));
    if (!source_.Find(data, BlockKind::kData, options.fill_cache, nullptr, &block)) {
      TIDESDB_TRY(FetchMissingData(options, BlockView(index), entry, data, &block));
    }
    const BlockView view(block.contents());
    if (!FindVersion(view, key, hash, trailer, global_, &entry)) return false;
    const Trailer found = EntryTrailer(view, entry, global_);
    *hit = VersionHit();
    hit->sequence = TrailerSequence(found);
    hit->type = TrailerType(found);
    if (hit->type == ValueType::kPut) {
      hit->value = entry.value();
      block.MoveTo(hit);
    }
    return true;
  }

  std::unique_ptr<InternalIterator> NewIterator(const TableReadOptions& options) const override {
    return std::make_unique<TableIter>(&source_, top_index_, global_, options.fill_cache);
  }

  Result<uint64_t> FillCache(std::span<const uint64_t> offsets,
                             const std::atomic<bool>* stop) const override {
    uint64_t filled = 0;
    ScanState scan;
    std::vector<BlockHandle> wanted;
    for (uint32_t partition = 0; partition < top_index_.restart_count(); ++partition) {
      if (offsets.empty() || stop->load(std::memory_order_relaxed) || !source_.CacheHasRoom())
        break;
      PartitionHandles handles;
      TIDESDB_TRY(DecodePartition(DecodeTrustedEntry(top_index_.Restart(partition)), &handles));
      // Its data blocks are before its index.
      if (offsets.front() >= handles.index.offset) continue;
      TIDESDB_TRY(TakeWanted(partition, handles, &offsets, &wanted));
      TIDESDB_TRY(FillRuns(wanted, &scan, &filled));
    }
    return filled;
  }

  const TableProperties& properties() const override { return properties_; }

  Result<double> ShareBefore(Slice key, Precision precision) const override {
    const uint32_t partition = FindEntry(top_index_, key);
    if (partition == top_index_.restart_count()) return 1.0;
    PartitionHandles handles;
    TIDESDB_TRY(DecodePartition(DecodeTrustedEntry(top_index_.Restart(partition)), &handles));
    BlockRef block;
    TIDESDB_ASSIGN(const Slice contents,
                   FetchMeta({}, handles.index, BlockKind::kIndex, IndexPlace(partition), &block));
    const BlockView index(contents);
    const uint32_t place = FindEntry(index, key);
    // All partitions except the last have the same number of blocks.
    const bool is_last = partition + 1 == top_index_.restart_count();
    const double blocks = static_cast<double>(properties_.data_blocks);
    double before =
        is_last ? blocks - index.entry_count() : double{1} * partition * index.entry_count();
    before += place;
    if (place == index.restart_count())
      return CorruptionAt(source_.path(), handles.index.offset,
                          "index block ends before the key that the top index names");
    if (precision == Precision::kCoarse) {
      std::string low = properties_.key_min;
      if (place > 0) {
        low = RestartKey(index, place - 1);
      } else if (partition > 0) {
        low = RestartKey(top_index_, partition - 1);
      }
      before += ShareOfKeysBefore(low, RestartKey(index, place), key);
    } else {
      BlockHandle data;
      TIDESDB_TRY(DecodeData(DecodeTrustedEntry(index.Restart(place)), handles.index, &data));
      BlockRef data_block;
      TIDESDB_TRY(source_.Fetch(data, BlockKind::kData, true, nullptr, &data_block));
      before += ShareOfBlockBefore(BlockView(data_block.contents()), key);
    }
    return std::clamp(before / blocks, 0.0, 1.0);
  }

  Status Verify(VerifyDepth depth) const override {
    TableProperties in_file = properties_;
    in_file.sequence_min = stored_sequence_min_;
    in_file.sequence_max = stored_sequence_max_;
    in_file.tombstone_sequence_min = stored_tombstone_sequence_min_;
    return VerifyTable(source_, top_index_, data_end_, in_file, depth);
  }

  size_t MemoryBytes() const override {
    return sizeof(*this) + top_block_.contents().size() + source_.path().size() +
           held_->MemoryBytes() + properties_.key_min.size() + properties_.key_max.size();
  }

 private:
  Status LoadProperties(BlockHandle handle, ScanState* tail) {
    BlockRef block;
    TIDESDB_TRY(source_.Load(handle, BlockKind::kProperties, tail, &block));
    Slice in = block.contents();
    if (!GetTableProperties(&in, &properties_) || !in.empty()) {
      return CorruptionAt(source_.path(), handle.offset, "properties cannot be read");
    }
    stored_sequence_min_ = properties_.sequence_min;
    stored_sequence_max_ = properties_.sequence_max;
    stored_tombstone_sequence_min_ = properties_.tombstone_sequence_min;
    if (global_ == 0) return Status::Ok();
    // Versions of one key would all become the same.
    if (properties_.keys != properties_.entries) {
      return CorruptionAt(source_.path(), handle.offset, "one version for each key",
                          properties_.keys, properties_.entries);
    }
    properties_.sequence_min = global_;
    properties_.sequence_max = global_;
    if (properties_.tombstones > 0) properties_.tombstone_sequence_min = global_;
    return Status::Ok();
  }

  Status DecodePartition(const BlockEntry& entry, PartitionHandles* handles) const {
    if (GetPartitionHandles(entry.value(), handles)) return Status::Ok();
    return CorruptionAt(source_.path(), data_end_,
                        "entry of the top index is not a pair of handles");
  }

  static size_t FilterPlace(uint32_t partition) { return size_t{2} * partition; }
  static size_t IndexPlace(uint32_t partition) { return size_t{2} * partition + 1; }

  // The contents of a filter or index block: kept here, or valid as long as `block`.
  Result<Slice> FetchMeta(const TableReadOptions& options, BlockHandle handle, BlockKind kind,
                          size_t place, BlockRef* block) const {
    if (const Slice held = held_->Find(place); held.data() != nullptr) return held;
    TIDESDB_TRY(source_.Fetch(handle, kind, options.fill_cache, nullptr, block));
    if (options.fill_cache) held_->Used(place, block->contents());
    return block->contents();
  }

  // The data block that an entry of an index block names. *block may hold that index block until then.
  Status FetchMissingData(const TableReadOptions& options, const BlockView& index,
                          const BlockEntry& entry, BlockHandle data, BlockRef* block) const {
    if (!options.fill_cache || !source_.CacheHasRoom()) {
      return source_.FetchMissing(data, BlockKind::kData, options.fill_cache, nullptr, block);
    }
    std::array<BlockHandle, kWarmBlocksMax> next;
    size_t count = 0;
    uint64_t end = data.end();
    for (const char* p = entry.end(); p < index.entries_end() && count < next.size(); ++count) {
      const BlockEntry following = DecodeTrustedEntry(p);
      Slice value = following.value();
      BlockHandle& handle = next[count];
      if (!GetBlockHandle(&value, &handle) || !value.empty() || handle.offset < end ||
          handle.size > kWarmBytesMax || handle.end() - data.offset > kWarmBytesMax) {
        break;
      }
      end = handle.end();
      p = following.end();
    }
    if (count == 0) return source_.FetchMissing(data, BlockKind::kData, true, nullptr, block);
    return source_.FetchMissingWith(std::span(next).first(count), data, block);
  }

  // Takes a partition's offsets from the front of *offsets; wanted: the data blocks that are there.
  Status TakeWanted(uint32_t partition, const PartitionHandles& handles,
                    std::span<const uint64_t>* offsets, std::vector<BlockHandle>* wanted) const {
    wanted->clear();
    BlockRef block;
    if (handles.has_filter()) {
      TIDESDB_TRY(FetchMeta({}, handles.filter, BlockKind::kFilter, FilterPlace(partition), &block)
                      .status());
    }
    TIDESDB_ASSIGN(const Slice contents,
                   FetchMeta({}, handles.index, BlockKind::kIndex, IndexPlace(partition), &block));
    const auto drop_before = [offsets](uint64_t end) {
      while (!offsets->empty() && offsets->front() < end) *offsets = offsets->subspan(1);
    };
    const BlockView index(contents);
    for (const char* p = index.entries(); p < index.entries_end();) {
      const BlockEntry entry = DecodeTrustedEntry(p);
      p = entry.end();
      BlockHandle data;
      TIDESDB_TRY(DecodeData(entry, handles.index, &data));
      drop_before(data.offset);
      if (!offsets->empty() && offsets->front() == data.offset) wanted->push_back(data);
    }
    drop_before(handles.index.offset);
    return Status::Ok();
  }

  // Blocks near each other are read at once.
  Status FillRuns(std::span<const BlockHandle> wanted, ScanState* scan, uint64_t* filled) const {
    while (!wanted.empty()) {
      size_t count = 1;
      while (count < wanted.size() &&
             wanted[count].offset <= wanted[count - 1].end() + kFillGapBytesMax) {
        ++count;
      }
      scan->SetRangeEnd(wanted[count - 1].end());
      for (const BlockHandle data : wanted.first(count)) {
        BlockRef block;
        if (source_.Find(data, BlockKind::kData, false, scan, &block)) continue;
        TIDESDB_TRY(source_.FetchMissing(data, BlockKind::kData, true, scan, &block));
        ++*filled;
      }
      wanted = wanted.subspan(count);
    }
    return Status::Ok();
  }

  Status DecodeData(const BlockEntry& entry, BlockHandle index, BlockHandle* data) const {
    Slice value = entry.value();
    if (GetBlockHandle(&value, data) && value.empty()) return Status::Ok();
    return CorruptionAt(source_.path(), index.offset, "entry of an index block is not a handle");
  }

  // The place of the first entry of an index block that is not before the key; each is a restart.
  static uint32_t FindEntry(const BlockView& block, Slice key, Trailer trailer = kTrailerMax) {
    switch (ComparePrefix(block, key)) {
      case PrefixOrder::kBefore:
        return 0;
      case PrefixOrder::kAfter:
        return block.restart_count();
      case PrefixOrder::kInside:
        break;
    }
    return FindRestart(block, key, trailer, 0);
  }

  // Assumes that all entries of a block have the same length.
  double ShareOfBlockBefore(const BlockView& block, Slice key) const {
    BlockEntry entry;
    if (!FindFirstAtOrAfter(block, key, kTrailerMax, global_, &entry)) return 1;
    const char* const first = DecodeTrustedEntry(block.entries()).suffix;
    return static_cast<double>(entry.suffix - first) /
           static_cast<double>(block.entries_end() - block.entries());
  }

  const BlockSource source_;
  const SequenceNumber global_;
  BlockCache* const cache_;
  // Constant after Open().
  TableProperties properties_;  // With the global sequence, if there is one; the file's own are:
  SequenceNumber stored_sequence_min_ = 0;
  SequenceNumber stored_sequence_max_ = 0;
  SequenceNumber stored_tombstone_sequence_min_ = 0;
  BlockRef top_block_;
  BlockView top_index_;
  std::unique_ptr<HeldBlocks> held_;
  uint64_t data_end_ = 0;  // Place of the top index.
};

}  // namespace

Result<bool> TableReader::Get(const TableReadOptions& options, Slice key, SequenceNumber snapshot,
                              VersionHit* hit) const {
  return GetAt(options, key, snapshot, Find(key, snapshot, Hash64(key)), hit);
}

Result<std::shared_ptr<TableReader>> TableReader::Open(std::unique_ptr<RandomAccessFile> file,
                                                       std::string path, uint64_t file_number,
                                                       SequenceNumber global_sequence,
                                                       BlockCache* cache) {
  auto reader = std::make_shared<TableReaderImpl>(std::move(file), std::move(path), file_number,
                                                  global_sequence, cache);
  TIDESDB_TRY(reader->Open());
  return std::shared_ptr<TableReader>(std::move(reader));
}

}  // namespace tidesdb
