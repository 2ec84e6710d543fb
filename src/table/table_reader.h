// Reads one immutable table file: point lookups, iterators, estimates.
//
// Threads: any number at once, no lock on the way to a cached block.
// Owns: the open file and the pinned top of the index; blocks belong to the cache.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "format/internal_iter.h"
#include "format/version_hit.h"
#include "io/file_system.h"
#include "table/block_cache.h"
#include "table/table_options.h"
#include "tidesdb/result.h"

namespace tidesdb {

struct TableReadOptions {
  bool fill_cache = true;
};

class TableReader {
 public:
  virtual ~TableReader() = default;

  // Checks footer and properties. `file_number` identifies the blocks in the cache. A non-zero
  // `global_sequence` replaces the sequence of every entry (a spilled write set, written before its
  // commit sequence was known).
  // Errors: kCorruption, kNotSupported, kIoError; each names path and offset.
  static Result<std::shared_ptr<TableReader>> Open(std::unique_ptr<RandomAccessFile> file,
                                                   std::string path, uint64_t file_number,
                                                   SequenceNumber global_sequence,
                                                   BlockCache* cache);

  // Where a lookup goes on in this file.
  struct KeyPlace {
    uint64_t hash;
    uint32_t partition;
    Slice filter;  // Lives as long as the reader; empty: it must be fetched, or there is none.
  };

  // The first step of Get: finds the place by what is in memory, and begins to load the filter into
  // the processor's cache. Who asks several files takes this step for all of them first, and so
  // waits for their filters once. hash: the key's Hash64.
  virtual KeyPlace Find(Slice key, SequenceNumber snapshot, uint64_t hash) const = 0;
  // The rest. place: found for the same key and snapshot.
  virtual Result<bool> GetAt(const TableReadOptions& options, Slice key, SequenceNumber snapshot,
                             const KeyPlace& place, VersionHit* hit) const = 0;
  // The newest version of the key with sequence <= snapshot; false if there is none.
  Result<bool> Get(const TableReadOptions& options, Slice key, SequenceNumber snapshot,
                   VersionHit* hit) const;

  // Lives no longer than this reader.
  virtual std::unique_ptr<InternalIterator> NewIterator(const TableReadOptions& options) const = 0;

  // Reads those of the data blocks at these ascending offsets that the cache lacks into it, with
  // their indexes and filters, as long as it has room and *stop is false. What is no block's offset
  // is passed over. Returns the number of blocks read.
  virtual Result<uint64_t> FillCache(std::span<const uint64_t> offsets,
                                     const std::atomic<bool>* stop) const = 0;

  virtual const TableProperties& properties() const = 0;

  // An estimate of the share of entries with keys < key, from 0 to 1. kExact: right to a few
  // entries; reads one data block and the index. kCoarse: right to a block; reads the index only.
  // Assumes that keys are spread evenly within a block.
  enum class Precision : uint8_t { kExact, kCoarse };
  virtual Result<double> ShareBefore(Slice key, Precision precision) const = 0;

  // Bypasses the cache. Checks checksums, order, counts, and that the filter holds every key.
  virtual Status Verify(VerifyDepth depth) const = 0;

  virtual size_t MemoryBytes() const = 0;  // Pinned outside the cache.
};

}  // namespace tidesdb
