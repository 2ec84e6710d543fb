// Reads the records of one WAL segment file, and finds records after damage.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "format/wal_format.h"
#include "io/file_system.h"
#include "tidesdb/result.h"

namespace tidesdb {

// An undamaged record.
struct WalRecordAt {
  WalFrame frame;
  Slice bytes;    // Frame and payload. Valid until the reader's next call.
  Slice payload;  // As `bytes`.

  WalPosition end() const {
    return WalPosition::At(frame.position.segment,
                           frame.position.offset() + WalRecordBytes(frame.payload_bytes));
  }
};

class WalSegmentReader {
 public:
  // Open's.
  WalSegmentReader(std::unique_ptr<RandomAccessFile> file, std::string path, uint32_t segment)
      : file_(std::move(file)), path_(std::move(path)), segment_(segment) {}

  static Result<std::unique_ptr<WalSegmentReader>> Open(FileSystem* fs, const std::string& path,
                                                        uint32_t segment);

  // Reads the record at `offset`. Returns false if there is none: the bytes were never written,
  // belong to another segment, are damaged, or do not end at or before `limit`. Reads twice before
  // it returns false.
  // Errors: kIoError; kNotSupported for a record of a newer version.
  Result<bool> ReadAt(uint64_t offset, uint64_t limit, WalRecordAt* record);

  // Whether a record was begun at `offset`. For messages: after ReadAt returned false, this
  // distinguishes a torn write from the end of all writing.
  Result<bool> LooksBegun(uint64_t offset);

  // Reads the first record that starts in [offset, limit); false if there is none.
  // Errors: as ReadAt.
  Result<bool> FindFrom(uint64_t offset, uint64_t limit, WalRecordAt* record);

  uint64_t file_bytes() const { return file_->size(); }
  const std::string& path() const { return path_; }

 private:
  Result<bool> ReadOnce(uint64_t offset, uint64_t limit, WalRecordAt* record);
  // The bytes of [offset, offset + n), fewer at the end of the file. Valid until the next call.
  Result<Slice> Bytes(uint64_t offset, uint64_t n);

  const std::unique_ptr<RandomAccessFile> file_;
  const std::string path_;
  const uint32_t segment_;
  std::unique_ptr<char[]> buffer_;
  uint64_t buffer_bytes_ = 0;
  Slice window_;  // The cached part of the file, from window_offset_ on.
  uint64_t window_offset_ = 0;
};

}  // namespace tidesdb
