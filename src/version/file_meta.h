// A table file in use: its manifest record, its open reader, and whether it may be deleted.
//
// Threads: constant except for the reader slot (TableCache) and the obsolete mark, which have their
//   own synchronization.
// Owns: nothing on disk. When the last reference to a file marked obsolete goes, its number is
//   given to ObsoleteFiles.
#pragma once

#include <atomic>
#include <memory>

#include "format/manifest_format.h"
#include "table/table_reader.h"

namespace tidesdb {

class ObsoleteFiles;
class TableCache;

using TableRef = std::shared_ptr<TableReader>;

class FileMeta {
 public:
  // `obsolete_files` may be null (tests); it outlives this object.
  FileMeta(FileRecord record, ObsoleteFiles* obsolete_files)
      : record_(std::move(record)), obsolete_files_(obsolete_files) {}
  ~FileMeta();
  FileMeta(const FileMeta&) = delete;
  FileMeta& operator=(const FileMeta&) = delete;

  const FileRecord& record() const { return record_; }
  uint64_t number() const { return record_.number; }
  uint64_t bytes() const { return record_.bytes; }
  const TableProperties& properties() const { return record_.properties; }
  Slice key_min() const { return record_.properties.key_min; }
  Slice key_max() const { return record_.properties.key_max; }
  SequenceNumber sequence_min() const { return record_.properties.sequence_min; }
  SequenceNumber sequence_max() const { return record_.properties.sequence_max; }

  // No version names the file any more, and the manifest edit that dropped it is durable.
  void MarkObsolete() const { obsolete_.store(true, std::memory_order_relaxed); }

 private:
  friend class TableCache;

  const FileRecord record_;
  ObsoleteFiles* const obsolete_files_;
  // Relaxed: set before the marker releases its reference, which orders it for the last holder.
  mutable std::atomic<bool> obsolete_ = false;

  // Of TableCache.
  mutable std::atomic<bool> slot_busy_ =
      false;                 // A spin lock around reader_; held for a pointer copy.
  mutable TableRef reader_;  // Null: not open.
  // The same reader once it stays open as long as this object; null: it may be closed. Release and
  // acquire: a thread that sees it sees the opened table.
  mutable std::atomic<TableReader*> lasting_reader_ = nullptr;
  mutable uint32_t finds_ = 0;  // Since it was opened. Under slot_busy_.
  mutable std::atomic<bool> recently_used_ = false;
  mutable std::atomic<TableCache*> cache_ =
      nullptr;  // The first one that opened it; never changes then.
};

using FileRef = std::shared_ptr<const FileMeta>;

}  // namespace tidesdb
