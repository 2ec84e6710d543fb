// Files and directories as the engine sees them; the only door to the disk.
//
// Every error names the operation, the file, the offset where there is one, and the system's text.
// A full disk or quota is kNoSpace, a lock that somebody else holds kBusy, the rest kIoError.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/file_names.h"
#include "tidesdb/result.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// A file written from front to back. No buffer of its own: when Append returns, the bytes are with
// the operating system and survive the process (not the power).
// Threads: one at a time. Destroying it closes it, without a sync and without a word.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  // After an error, what and how much was written is unknown.
  virtual Status Append(Slice data) = 0;
  // Makes data and size durable (fdatasync). The entry in the directory is SyncDir's business.
  // A failed Sync is final: what it covered may never reach the disk, whatever a later Sync says.
  virtual Status Sync() = 0;
  // Reserves disk space up to bytes from the start without changing the size; a hint that a file
  // system without support ignores. Returns kNoSpace when the space is not there.
  virtual Status Preallocate(uint64_t bytes) = 0;
  // Cuts the file; appending goes on at the new end. REQUIRES: size <= this->size().
  virtual Status Truncate(uint64_t size) = 0;
  virtual Status Close() = 0;
  virtual uint64_t size() const = 0;
  // What is written leaves the system's page cache soon after; a hint, given before the first byte.
  virtual void BypassPageCache() {}
};

// A file written at any offset, new or with old contents: WAL segments that are recycled.
// Threads: WriteAt to disjoint ranges and Sync may run at once; the rest one at a time.
class PositionalFile {
 public:
  virtual ~PositionalFile() = default;

  // Writes past the end extend the file.
  virtual Status WriteAt(uint64_t offset, Slice data) = 0;
  // As WritableFile::Sync.
  virtual Status Sync() = 0;
  // Makes the file at least bytes long, the new part zeros with disk space reserved, so that later
  // writes inside change no metadata. Returns kNoSpace when the space is not there.
  virtual Status Preallocate(uint64_t bytes) = 0;
  virtual Status Truncate(uint64_t size) = 0;
  virtual Status Close() = 0;
  virtual uint64_t size() const = 0;
};

// Threads: safe from many.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;

  // Reads up to n bytes; fewer only where the file ends. The slice views scratch, or memory that
  // lives as long as this file. REQUIRES: scratch has room for n bytes.
  virtual Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const = 0;
  // Says that the range will be read soon; a hint.
  virtual void Readahead(uint64_t offset, size_t n) const {
    (void)offset;
    (void)n;
  }
  // Says whether reads jump about (true, as point lookups do) or run through; a hint.
  virtual void AdviseRandom(bool random) const { (void)random; }
  // Reads go past the system's page cache where the file system can do that, and else leave little
  // in it; a hint, given before the first read.
  virtual void BypassPageCache() {}
  // Reads that start and end on a multiple of this (a power of two), to memory of NewAlignedBytes,
  // are not copied once more.
  virtual size_t alignment() const { return 1; }
  // The size when it was opened.
  virtual uint64_t size() const = 0;
};

// Held until destroyed.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// What was asked of the file system, by kind of file; tests count fdatasync calls with it.
// Threads: relaxed atomics, they publish nothing.
struct IoCounters {
  struct PerKind {
    std::atomic<uint64_t> syncs = 0;  // Calls of fdatasync that returned, well or not.
    std::atomic<uint64_t> writes = 0;
    std::atomic<uint64_t> write_bytes = 0;
    std::atomic<uint64_t> reads = 0;
    std::atomic<uint64_t> read_bytes = 0;
    std::atomic<uint64_t> readers = 0;  // RandomAccessFiles that are open now.
  };
  PerKind& of(FileKind kind) { return kinds[static_cast<size_t>(kind)]; }
  const PerKind& of(FileKind kind) const { return kinds[static_cast<size_t>(kind)]; }

  std::array<PerKind, kFileKindCount> kinds;
  std::atomic<uint64_t> dir_syncs = 0;
};

enum class OpenMode : uint8_t {
  kCreate,    // The file must not exist.
  kTruncate,  // Made if missing, emptied if not.
  kKeep,      // Must exist; contents stay (a WritableFile appends at the end).
};

// Threads: safe from many. Lives longer than the files and locks it hands out.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                                OpenMode mode) = 0;
  virtual Result<std::unique_ptr<PositionalFile>> NewPositionalFile(const std::string& path,
                                                                    OpenMode mode) = 0;
  virtual Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) = 0;

  // Atomic; replaces an existing file. Durable after SyncDir of the target's directory.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // A second name for the same file. Fails when to exists.
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  // Open handles stay usable.
  virtual Status Delete(const std::string& path) = 0;
  // Returns kAlreadyExists when the path is there.
  virtual Status CreateDir(const std::string& path) = 0;
  // REQUIRES: empty.
  virtual Status RemoveDir(const std::string& path) = 0;
  // Names, without "." and "..", sorted.
  virtual Result<std::vector<std::string>> List(const std::string& dir) = 0;
  virtual Result<bool> Exists(const std::string& path) = 0;
  virtual Result<bool> IsDir(const std::string& path) = 0;
  virtual Result<uint64_t> FileSize(const std::string& path) = 0;
  // Makes the entries of a directory (creations, deletions, renames) durable.
  virtual Status SyncDir(const std::string& dir) = 0;
  // Makes the file if missing. Does not wait: kBusy, naming the file, when anybody holds it, this
  // process included.
  virtual Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) = 0;
  // What an unprivileged process may still write where path lies.
  virtual Result<uint64_t> FreeSpaceBytes(const std::string& path) = 0;

  const IoCounters& counters() const { return counters_; }

 protected:
  IoCounters counters_;
};

}  // namespace tidesdb
