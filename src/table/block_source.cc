#include "table/block_source.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "format/corruption.h"
#include "format/filter_format.h"
#include "tidesdb/stats.h"

namespace tidesdb {

namespace {

constexpr size_t kWindowFirstBytes = 16 << 10;
constexpr size_t kWindowBytesMax = ScanState::kReadBytesMax;
// A range up to its end; more could be in vain, as many scans stop early.
constexpr size_t kRangeBytesMax = 32 << 10;

// Filters are aligned to a cache line, so that a probe touches only one: new[] guarantees only 16.
size_t LeadingBytes(BlockKind kind, const char* bytes) {
  if (kind != BlockKind::kFilter) return 0;
  return (0 - reinterpret_cast<uintptr_t>(bytes)) % kFilterLineBytes;
}

// Memory for n bytes and for the bytes that LeadingBytes skips; the cache's memory needs none of
// these.
BlockBytes NewBytes(BlockKind kind, size_t n, BlockCache* cache) {
  if (cache != nullptr) return cache->NewBlock(n);
  const size_t slack = kind == BlockKind::kFilter ? kFilterLineBytes - 1 : 0;
  return HeapBlock(n + slack);
}

// Longer blocks are read straight into memory where they can stay.
constexpr size_t kThreadBytesMax = 32 << 10;

// A thread's buffer for a block that is then decompressed elsewhere. The cache's memory would have
// to find room for each compressed block, of a different size each, and free it at once.
char* ThreadBytes(size_t n) {
  thread_local std::unique_ptr<char[]> bytes;
  thread_local size_t room = 0;
  if (room < n) {
    room = std::min(std::bit_ceil(n), kThreadBytesMax);
    bytes = std::make_unique_for_overwrite<char[]>(room);
  }
  return bytes.get();
}

// A damaged index could lead to a block of another kind: whatever the offset, that one is another key
// of the cache.
uint64_t PlaceInCache(BlockKind kind, uint64_t offset) {
  static_assert(static_cast<uint8_t>(BlockKind::kProperties) < 8);
  return offset << 3 | static_cast<uint8_t>(kind);
}

constinit thread_local uint64_t thread_blocks_read = 0;

}  // namespace

uint64_t ThreadBlocksRead() { return thread_blocks_read; }

Result<Slice> ScanState::Read(const RandomAccessFile& file, uint64_t offset, size_t n) {
  const uint64_t end = offset + n;
  // The next data block is adjacent to the last one, or after the index and filter of a partition.
  const bool started = last_offset_ != last_end_;
  const bool forward = started && offset >= last_end_ && offset - last_end_ <= kWindowBytesMax;
  const bool ranged = range_end_ > offset;  // So it runs forward.
  const bool backward =
      started && !ranged && end <= last_offset_ && last_offset_ - end <= kWindowBytesMax;
  Passed(offset, end);
  if (Holds(offset, n)) {
    return bytes_.substr(static_cast<size_t>(offset - bytes_offset_), n);
  }
  window_ = forward || backward ? std::clamp(window_ * 2, kWindowFirstBytes, kWindowBytesMax) : 0;
  uint64_t wanted = std::max(n, window_);
  if (ranged) {
    // A range that ends soon is read at once; nothing behind a range is read.
    const uint64_t left = range_end_ - offset;
    wanted = std::max<uint64_t>(n, left <= kRangeBytesMax ? left : std::min(wanted, left));
  }
  // If the scan runs backward, the bytes before the block's end, but not before the start of the
  // file.
  uint64_t from = backward ? end - std::min<uint64_t>(end, wanted) : offset;
  const size_t align = file.alignment();
  wanted = (from + wanted + align - 1) / align * align;
  from = from / align * align;
  wanted -= from;
  if (buffer_room_ < wanted) {
    buffer_ = NewAlignedBytes(wanted);
    buffer_room_ = wanted;
  }
  bytes_ = Slice();
  TIDESDB_ASSIGN(bytes_, file.ReadAt(from, wanted, buffer_.get()));
  bytes_offset_ = from;
  return bytes_.substr(std::min<size_t>(offset - from, bytes_.size()), n);
}

Slice BlockSource::Contents(Slice decoded, BlockKind kind) {
  decoded.remove_prefix(LeadingBytes(kind, decoded.data()));
  return decoded;
}

bool BlockSource::Find(BlockHandle handle, BlockKind kind, bool fill_cache, ScanState* scan,
                       BlockRef* block) const {
  if (cache_ == nullptr) return false;
  bool in_use = false;
  const uint64_t place = PlaceInCache(kind, handle.offset);
  BlockCache::Handle* const hit =
      fill_cache ? cache_->Lookup(file_number_, place) : cache_->Peek(file_number_, place, &in_use);
  if (hit == nullptr) return false;
  if (scan != nullptr) scan->Passed(handle.offset, handle.end());
  block->PinCached(cache_, hit, Contents(cache_->Bytes(hit), kind));
  if (in_use) block->set_in_use();
  return true;
}

Status BlockSource::FetchMissing(BlockHandle handle, BlockKind kind, bool fill_cache,
                                 ScanState* scan, BlockRef* block) const {
  if (cache_ == nullptr || !fill_cache) return Load(handle, kind, scan, block);
  if (scan == nullptr) ++thread_blocks_read;
  Decoded decoded;
  TIDESDB_TRY(Decode(handle, kind, scan, cache_, &decoded));
  const CachePriority priority =
      kind == BlockKind::kData ? CachePriority::kData : CachePriority::kMeta;
  BlockCache::Handle* pinned = cache_->Insert(file_number_, PlaceInCache(kind, handle.offset),
                                              std::move(decoded.bytes), decoded.size, priority);
  block->PinCached(cache_, pinned, Contents(cache_->Bytes(pinned), kind));
  return Status::Ok();
}

Status BlockSource::FetchMissingWith(std::span<const BlockHandle> next, BlockHandle handle,
                                     BlockRef* block) const {
  ScanState ahead;
  ahead.SetRangeEnd(next.back().end());
  if (Status status = FetchMissing(handle, BlockKind::kData, true, &ahead, block); !status.ok()) {
    status.IgnoreError();  // It may be that of a neighbour's place on the disk.
    return FetchMissing(handle, BlockKind::kData, true, nullptr, block);
  }
  ++thread_blocks_read;
  for (const BlockHandle follower : next) {
    BlockRef unused;
    // Without a mark of use, and not counted.
    if (Find(follower, BlockKind::kData, false, &ahead, &unused)) continue;
    const Status status = FetchMissing(follower, BlockKind::kData, true, &ahead, &unused);
    if (!status.ok()) {
      status.IgnoreError();
      break;
    }
  }
  return Status::Ok();
}

void BlockSource::PutDecoded(BlockCache* cache, uint64_t file_number, uint64_t offset,
                             BlockKind kind, Slice contents, CachePriority priority) {
  BlockBytes bytes = cache->NewBlock(contents.size());
  DCHECK(LeadingBytes(kind, bytes.get()) == 0);
  std::memcpy(bytes.get(), contents.data(), contents.size());
  cache->Release(cache->Insert(file_number, PlaceInCache(kind, offset), std::move(bytes),
                               contents.size(), priority));
}

std::optional<uint64_t> BlockSource::DataOffset(uint64_t place) {
  const uint64_t offset = place >> 3;
  if (place != PlaceInCache(BlockKind::kData, offset)) return std::nullopt;
  return offset;
}

Status BlockSource::Load(BlockHandle handle, BlockKind kind, ScanState* scan,
                         BlockRef* block) const {
  Decoded decoded;
  TIDESDB_TRY(Decode(handle, kind, scan, nullptr, &decoded));
  const Slice contents = Contents(Slice(decoded.bytes.get(), decoded.size), kind);
  block->Own(std::move(decoded.bytes), contents);
  return Status::Ok();
}

bool BlockSource::LikelyCompressed(BlockKind kind) const {
  if (kind == BlockKind::kFilter) return false;
  return kind != BlockKind::kData || compressed_.load(std::memory_order_relaxed);
}

Status BlockSource::Decode(BlockHandle handle, BlockKind kind, ScanState* scan, BlockCache* cache,
                           Decoded* decoded) const {
  if (handle.offset > file_->size() || handle.size > file_->size() ||
      handle.end() > file_->size()) {
    return CorruptionAt(path_, handle.offset, "block reaches past the end of the file",
                        file_->size(), handle.end());
  }
  const size_t stored_bytes = static_cast<size_t>(handle.size) + kBlockSealBytes;
  Slice stored;
  // The block's final memory if it is stored raw, which is not known yet.
  BlockBytes bytes;
  size_t leading = 0;
  const bool by_scan = scan != nullptr && stored_bytes <= ScanState::kReadBytesMax;
  if (scan != nullptr && !by_scan) scan->Passed(handle.offset, handle.end());
  if (by_scan) {
    TIDESDB_ASSIGN(stored, scan->Read(*file_, handle.offset, stored_bytes));
  } else if (stored_bytes <= kThreadBytesMax && LikelyCompressed(kind)) {
    TIDESDB_ASSIGN(stored, file_->ReadAt(handle.offset, stored_bytes, ThreadBytes(stored_bytes)));
  } else {
    bytes = NewBytes(kind, stored_bytes, cache);
    leading = LeadingBytes(kind, bytes.get());
    TIDESDB_ASSIGN(stored, file_->ReadAt(handle.offset, stored_bytes, bytes.get() + leading));
  }
  if (stored.size() != stored_bytes) {
    return CorruptionAt(path_, handle.offset, "block is cut off: bytes", stored_bytes,
                        stored.size());
  }
  Compression compression;
  TIDESDB_TRY(CheckSeal(stored, kind, handle.offset, path_, &compression));
  const Slice payload = stored.substr(0, stored.size() - kBlockSealBytes);
  const bool compressed = compression != Compression::kNone;
  if (kind == BlockKind::kData && compressed != compressed_.load(std::memory_order_relaxed)) {
    compressed_.store(compressed, std::memory_order_relaxed);
  }
  if (compressed) return Inflate(handle, kind, compression, payload, scan, cache, decoded);
  TIDESDB_TRY(Validate(payload, kind, handle.offset));
  if (bytes == nullptr || stored.data() != bytes.get() + leading) {
    bytes = NewBytes(kind, payload.size(), cache);
    leading = LeadingBytes(kind, bytes.get());
    std::memcpy(bytes.get() + leading, payload.data(), payload.size());
  }
  decoded->bytes = std::move(bytes);
  decoded->size = leading + payload.size();
  return Status::Ok();
}

Status BlockSource::Inflate(BlockHandle handle, BlockKind kind, Compression compression,
                            Slice payload, ScanState* scan, BlockCache* cache,
                            Decoded* decoded) const {
  uint32_t raw_bytes = 0;
  if (!Decompressor::TakeRawBytes(compression, &payload, &raw_bytes)) {
    return CorruptionAt(path_, handle.offset, "compressed block has no valid length");
  }
  BlockBytes bytes = NewBytes(kind, raw_bytes, cache);
  const size_t leading = LeadingBytes(kind, bytes.get());
  char* const contents = bytes.get() + leading;
  Decompressor once;
  Decompressor& decompressor = scan != nullptr ? scan->decompressor() : once;
  if (!decompressor.Decompress(compression, payload, contents, raw_bytes)) {
    return CorruptionAt(path_, handle.offset, "compressed block does not decompress");
  }
  TIDESDB_TRY(Validate(Slice(contents, raw_bytes), kind, handle.offset));
  decoded->bytes = std::move(bytes);
  decoded->size = leading + raw_bytes;
  return Status::Ok();
}

Status BlockSource::Validate(Slice contents, BlockKind kind, uint64_t offset) const {
  switch (kind) {
    case BlockKind::kData:
    case BlockKind::kIndex:
    case BlockKind::kTopIndex:
      return ValidateBlock(contents, offset, path_);
    case BlockKind::kFilter:
      return ValidateFilter(contents, offset, path_);
    case BlockKind::kProperties:
      return Status::Ok();
  }
  return Status::Ok();
}

}  // namespace tidesdb
