// Fetches the blocks of one table file, from the cache or from disk; what it hands out is checked
// and decoded.
//
// Invariant: bytes that are in the cache have passed checksum, decompression and validation; a hit
//   repeats none of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
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

// What one scan keeps from block to block: raw bytes read ahead of it, whichever way it runs, and a
// decompressor.
// Threads: one at a time.
class ScanState {
 public:
  // Longer blocks are read past the buffer, which must not grow to the largest value of a table.
  static constexpr size_t kReadBytesMax = 256 << 10;

  // Returns the n bytes at offset, fewer only where the file ends. They live until the next call.
  // REQUIRES: n <= kReadBytesMax.
  Result<Slice> Read(const RandomAccessFile& file, uint64_t offset, size_t n);
  // A block was read by other means: the scan goes on from there.
  void Passed(uint64_t offset, uint64_t end) {
    last_offset_ = offset;
    last_end_ = end;
  }
  Decompressor& decompressor() { return decompressor_; }

 private:
  AlignedBytes buffer_;
  size_t buffer_room_ = 0;
  Slice bytes_;                // What the buffer holds,
  uint64_t bytes_offset_ = 0;  // and where it lies in the file.
  uint64_t last_offset_ = 0;   // The block before, [last_offset_, last_end_). Equal: none.
  uint64_t last_end_ = 0;
  size_t window_ = 0;  // Bytes to read at once; 0: the scan has not proved to be one.
  Decompressor decompressor_;
};

// Threads: any number at once.
class BlockSource {
 public:
  // cache may be null; then every fetch reads the file.
  BlockSource(std::unique_ptr<RandomAccessFile> file, std::string path, uint64_t file_number,
              BlockCache* cache)
      : file_(std::move(file)), path_(std::move(path)), file_number_(file_number), cache_(cache) {}

  // A block's contents. scan may be null. Errors: kIoError, kCorruption.
  Status Fetch(BlockHandle handle, BlockKind kind, bool fill_cache, ScanState* scan,
               BlockRef* block) const;

  // Puts contents into the cache that stand at this place of a file that was just written.
  static void PutDecoded(BlockCache* cache, uint64_t file_number, uint64_t offset, BlockKind kind,
                         Slice contents, CachePriority priority);

  // The same without a look at the cache.
  Status Load(BlockHandle handle, BlockKind kind, ScanState* scan, BlockRef* block) const;

  const RandomAccessFile& file() const { return *file_; }
  const std::string& path() const { return path_; }

 private:
  // A block's contents, and the byte of its kind behind them, at the end of bytes[0, size).
  struct Decoded {
    BlockBytes bytes;
    size_t size = 0;
  };

  bool LikelyCompressed(BlockKind kind) const;
  static Slice Contents(Slice decoded, BlockKind kind);
  // `cache`: where the block is to go; null: its bytes are the caller's.
  Status Decode(BlockHandle handle, BlockKind kind, ScanState* scan, BlockCache* cache,
                Decoded* decoded) const;
  Status Inflate(BlockHandle handle, BlockKind kind, Compression compression, Slice payload,
                 ScanState* scan, BlockCache* cache, Decoded* decoded) const;
  Status Validate(Slice contents, BlockKind kind, uint64_t offset) const;

  const std::unique_ptr<RandomAccessFile> file_;
  const std::string path_;
  const uint64_t file_number_;
  BlockCache* const cache_;
  // The last data block that was read: a guess where the next is best read to. Relaxed: only that.
  mutable std::atomic<bool> compressed_ = true;
};

}  // namespace tidesdb
