// Decoded blocks, shared by all tables: sharded CLOCK, no lock and no allocation on a hit.
//
// Threads: any number at once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "table/block_memory.h"
#include "tidesdb/slice.h"

namespace tidesdb {

struct CacheStats {
  uint64_t partitions = 0;  // Parts with a mutex each.
  uint64_t entries = 0;
  uint64_t bytes = 0;  // Memory, including idle space between blocks and the table's slots.
  uint64_t hits = 0;
  uint64_t misses = 0;
};

// A block's key in the cache: the file, and the caller's number for the block.
struct BlockPlace {
  uint64_t file_number = 0;
  uint64_t place = 0;

  friend auto operator<=>(const BlockPlace&, const BlockPlace&) = default;
};

// How long an unused block stays. Index and filter blocks outlive data blocks in the cache; kKept
// is for data that was in use in another place.
enum class CachePriority : uint8_t { kData, kKept, kMeta };

class BlockCache {
 public:
  // A pinned entry: its bytes stay until Release.
  struct Handle;

  virtual ~BlockCache() = default;

  // Null if absent. A place is a number of the caller's for one block of the file.
  virtual Handle* Lookup(uint64_t file_number, uint64_t place) = 0;

  // As Lookup, for copies of files, which should not keep the block in the cache. *in_use: it was
  // used since its insertion, or since the cache last considered its eviction.
  virtual Handle* Peek(uint64_t file_number, uint64_t place, bool* in_use) = 0;

  // Memory for a block that will be inserted.
  virtual BlockBytes NewBlock(size_t bytes) = 0;

  // Takes the block over and returns it pinned. If no room can be made, the entry stands alone and
  // goes with its last pin. If another thread inserted the same block first, returns that one.
  virtual Handle* Insert(uint64_t file_number, uint64_t place, BlockBytes bytes, size_t size,
                         CachePriority priority) = 0;

  virtual Slice Bytes(Handle* handle) const = 0;
  virtual void Release(Handle* handle) = 0;
  // Drops the blocks of deleted files; pinned blocks go with their last pin. Visits the whole cache once, unless
  // none of the files has a block in it.
  virtual void EraseFiles(const std::vector<uint64_t>& file_numbers) = 0;
  // Counts bytes that a table's reader keeps outside as part of the cache. False if the total would
  // exceed a sixteenth of the cache.
  virtual bool Charge(size_t bytes) = 0;
  virtual void GiveBack(size_t bytes) = 0;
  virtual void SetCapacity(size_t bytes_max) = 0;
  // Whether more than an eighth of the cache is free, beside what may be idle. A few atomic loads.
  virtual bool HasRoom() const = 0;
  virtual CacheStats GetStats() const = 0;
  // All blocks, in no order. Visits the whole cache.
  virtual std::vector<BlockPlace> List() const = 0;
  // Whether any block is pinned. Visits all of them.
  virtual bool AnyPinned() const = 0;
};

std::unique_ptr<BlockCache> NewClockCache(size_t bytes_max, size_t typical_block_bytes);

}  // namespace tidesdb
