// Files and directories as the engine sees them; the only access to the disk.
//
// Every error names the operation, the file, the offset if there is one, and the system's text. A
// full disk or quota is kNoSpace, a lock held by others is kBusy, the rest is kIoError.
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

// A file written from front to back. It has no buffer: when Append returns, the operating system
// has the bytes and they survive the process (but not a power loss).
// Threads: one at a time. The destructor closes it without a sync and without an error.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  // After an error it is unknown how much was written.
  virtual Status Append(Slice data) = 0;
  // Makes data and size durable (fdatasync). SyncDir makes the directory entry durable. A failed
  // Sync is final: its data may never reach the disk, whatever a later Sync returns.
  virtual Status Sync() = 0;
  // Reserves disk space up to `bytes` from the start without changing the size. A hint: a file
  // system without support ignores it. Returns kNoSpace if the space is missing.
  virtual Status Preallocate(uint64_t bytes) = 0;
  // Cuts the file; appends continue at the new end. REQUIRES: size <= this->size().
  virtual Status Truncate(uint64_t size) = 0;
  virtual Status Close() = 0;
  virtual uint64_t size() const = 0;
  // A hint before the first byte: written data should not stay in the system's page cache. Best are
  // appends of pieces whose address and size are multiples of kDirectAlignmentMax; only the last
  // one may have any size.
  virtual void BypassPageCache() {}
};

// A file written at any offset, new or with old contents: recycled WAL segments.
// Threads: WriteAt to disjoint ranges and Sync may run at once; Sync may run beside WriteReserved;
//   the rest one at a time.
class PositionalFile {
 public:
  virtual ~PositionalFile() = default;

  // Writes past the end extend the file.
  virtual Status WriteAt(uint64_t offset, Slice data) = 0;
  // As WritableFile::Sync.
  virtual Status Sync() = 0;
  // Makes the file at least `bytes` long. The new part is zeros with reserved disk space. Returns
  // kNoSpace if the space is missing.
  virtual Status Preallocate(uint64_t bytes) = 0;
  // A hint that changes no contents: the range will be written in small pieces, each synced. Writes
  // zeros to its blocks that are only reserved. The first write to such a block changes metadata,
  // which makes the next sync slower.
  virtual void WriteReserved(uint64_t offset, uint64_t bytes) {
    (void)offset;
    (void)bytes;
  }
  virtual Status Truncate(uint64_t size) = 0;
  virtual Status Close() = 0;
  virtual uint64_t size() const = 0;
};

// Threads: safe from many.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;

  // Reads up to n bytes; fewer only at the end of the file. The slice views scratch, or memory that
  // lives as long as this file.
  // REQUIRES: scratch has room for n bytes.
  virtual Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const = 0;
  // A hint: the range will be read soon.
  virtual void Readahead(uint64_t offset, size_t n) const {
    (void)offset;
    (void)n;
  }
  // A hint: whether reads are random (true, as point lookups are) or sequential.
  virtual void AdviseRandom(bool random) const { (void)random; }
  // A hint before the first read: reads bypass the system's page cache if the file system supports
  // it, and otherwise leave little in it.
  virtual void BypassPageCache() {}
  // Reads into memory of NewAlignedBytes that start and end on a multiple of this power of two
  // avoid a copy.
  virtual size_t alignment() const { return 1; }
  // The size at its open.
  virtual uint64_t size() const = 0;
};

// Held until destroyed.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// The operations on the file system by kind of file; tests count fdatasync calls with it.
// Threads: relaxed atomics; they publish nothing.
struct IoCounters {
  struct PerKind {
    std::atomic<uint64_t> syncs = 0;  // Returned calls of fdatasync, failed ones included.
    std::atomic<uint64_t> writes = 0;
    std::atomic<uint64_t> write_bytes = 0;
    std::atomic<uint64_t> reads = 0;
    std::atomic<uint64_t> read_bytes = 0;
    std::atomic<uint64_t> readers = 0;  // Open RandomAccessFiles.
  };
  PerKind& of(FileKind kind) { return kinds[static_cast<size_t>(kind)]; }
  const PerKind& of(FileKind kind) const { return kinds[static_cast<size_t>(kind)]; }

  std::array<PerKind, kFileKindCount> kinds;
  std::atomic<uint64_t> dir_syncs = 0;
};

enum class OpenMode : uint8_t {
  kCreate,    // The file must not exist.
  kTruncate,  // Created if missing, else emptied.
  kKeep,      // Must exist; contents stay (a WritableFile appends at the end).
};

// Threads: safe from many. Outlives its files and locks.
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
  // A hard link. Fails if `to` exists.
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  // Open handles stay usable.
  virtual Status Delete(const std::string& path) = 0;
  // Returns kAlreadyExists if the path exists.
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
  // Creates the file if missing. Does not wait: kBusy, with the file's name, if any process holds
  // it, this one included.
  virtual Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) = 0;
  // The space that an unprivileged process can still use on the file system of path.
  virtual Result<uint64_t> FreeSpaceBytes(const std::string& path) = 0;

  const IoCounters& counters() const { return counters_; }

 protected:
  IoCounters counters_;
};

}  // namespace tidesdb
