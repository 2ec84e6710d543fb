// Fetches the blocks of one table file from the cache or from disk; returned blocks are checked and
// decoded.
//
// Invariant: bytes in the cache have passed checksum, decompression and validation; a hit repeats
//   none of these.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "format/table_format.h"
#include "io/aligned_bytes.h"
#include "io/file_system.h"
#include "table/block_cache.h"
#include "table/block_memory.h"
#include "table/block_ref.h"
#include "table/compressor.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// The state of one scan between blocks: raw bytes read ahead in its direction, and a decompressor.
// Threads: one at a time.
class ScanState {
 public:
  // Longer blocks bypass the buffer, which must not grow to the largest value of a table.
  static constexpr size_t kReadBytesMax = 256 << 10;

  // Returns the n bytes at offset, fewer only at the end of the file. They live until the next
  // call.
  // REQUIRES: n <= kReadBytesMax.
  Result<Slice> Read(const RandomAccessFile& file, uint64_t offset, size_t n);
  bool Holds(uint64_t offset, size_t n) const {
    return offset >= bytes_offset_ && offset - bytes_offset_ + n <= bytes_.size();
  }
  // The scan needs no block at or behind that place; 0: not known.
  void SetRangeEnd(uint64_t end) { range_end_ = end; }
  // A block was read by other means: the scan continues after it.
  void Passed(uint64_t offset, uint64_t end) {
    last_offset_ = offset;
    last_end_ = end;
  }
  Decompressor& decompressor() { return decompressor_; }

 private:
  AlignedBytes buffer_;
  size_t buffer_room_ = 0;
  Slice bytes_;                // The content of the buffer,
  uint64_t bytes_offset_ = 0;  // and its place in the file.
  uint64_t last_offset_ = 0;   // The previous block, [last_offset_, last_end_). Equal: none.
  uint64_t last_end_ = 0;
  size_t window_ = 0;  // Bytes to read at once; 0: not known to be a scan yet.
  uint64_t range_end_ = 0;
  Decompressor decompressor_;
};

// Threads: any number at once.
class BlockSource {
 public:
  // cache may be null; every fetch then reads the file.
  BlockSource(std::unique_ptr<RandomAccessFile> file, std::string path, uint64_t file_number,
              BlockCache* cache)
      : file_(std::move(file)), path_(std::move(path)), file_number_(file_number), cache_(cache) {}

  // A block's contents. scan may be null. Errors: kIoError, kCorruption.
  Status Fetch(BlockHandle handle, BlockKind kind, bool fill_cache, ScanState* scan,
               BlockRef* block) const {
    if (Find(handle, kind, fill_cache, scan, block)) return Status::Ok();
    return FetchMissing(handle, kind, fill_cache, scan, block);
  }
  // Its two parts. Find returns: whether the cache has the block.
  bool Find(BlockHandle handle, BlockKind kind, bool fill_cache, ScanState* scan,
            BlockRef* block) const;
  Status FetchMissing(BlockHandle handle, BlockKind kind, bool fill_cache, ScanState* scan,
                      BlockRef* block) const;
  // FetchMissing for a lookup that fills the cache. Data blocks that follow the wanted one are read with it and put
  // into the cache, too: one with room warms up with fewer reads. An error there is left to its own reader.
  // REQUIRES: a cache; `next` is not empty, and ascends from `handle` on.
  Status FetchMissingWith(std::span<const BlockHandle> next, BlockHandle handle,
                          BlockRef* block) const;

  // The same without a lookup in the cache.
  Status Load(BlockHandle handle, BlockKind kind, ScanState* scan, BlockRef* block) const;

  // Puts contents into the cache that are at this place of a file that was just written.
  static void PutDecoded(BlockCache* cache, uint64_t file_number, uint64_t offset, BlockKind kind,
                         Slice contents, CachePriority priority);
  // The offset of a block in its file, by its place in the cache, if it is a data block.
  static std::optional<uint64_t> DataOffset(uint64_t place);

  // Whether lookups should do so.
  bool CacheHasRoom() const { return cache_ != nullptr && cache_->HasRoom(); }

  const RandomAccessFile& file() const { return *file_; }
  const std::string& path() const { return path_; }

 private:
  // A block's contents, at the end of bytes[0, size).
  struct Decoded {
    BlockBytes bytes;
    size_t size = 0;
  };

  bool LikelyCompressed(BlockKind kind) const;
  static Slice Contents(Slice decoded, BlockKind kind);
  // `cache`: for blocks that go into it; null: the caller keeps the bytes.
  Status Decode(BlockHandle handle, BlockKind kind, ScanState* scan, BlockCache* cache,
                Decoded* decoded) const;
  Status Inflate(BlockHandle handle, BlockKind kind, Compression compression, Slice payload,
                 ScanState* scan, BlockCache* cache, Decoded* decoded) const;
  Status Validate(Slice contents, BlockKind kind, uint64_t offset) const;

  const std::unique_ptr<RandomAccessFile> file_;
  const std::string path_;
  const uint64_t file_number_;
  BlockCache* const cache_;
  // For the last data block: a guess where to read the next one. Relaxed: just a guess.
  mutable std::atomic<bool> compressed_ = true;
};

}  // namespace tidesdb
