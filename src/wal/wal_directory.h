// The segment files of a directory, and their order.
//
// Threads: immutable once read.
// Invariant: if several segments name the same predecessor, the one with the highest number is
//   right. The latest recovery created it and decided that the log continues there; the others are
//   abandoned.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "format/wal_format.h"
#include "wal/wal_options.h"
#include "wal/wal_segment_reader.h"

namespace tidesdb {

struct WalSegmentInfo {
  uint32_t number = 0;
  uint64_t file_bytes = 0;
  // Its first record is complete. If not, none of its records count: it was created ahead of its
  // use, or its data is lost.
  bool begun = false;
  WalSegmentStart start;
  WalPosition synced;  // From its first record.
};

class WalDirectory {
 public:
  // Errors: kIoError, kNotSupported (a segment of a newer version).
  static Result<WalDirectory> Read(FileSystem* fs, const std::string& dir);

  // By number.
  const std::map<uint32_t, WalSegmentInfo>& segments() const { return segments_; }
  // Null if there is no such file.
  const WalSegmentInfo* Find(uint32_t number) const;
  // The begun segment that follows `number`; null if there is none.
  const WalSegmentInfo* SuccessorOf(uint32_t number) const;
  // 0 if there is no segment file.
  uint32_t number_max() const { return segments_.empty() ? 0 : segments_.rbegin()->first; }

  Result<std::unique_ptr<WalSegmentReader>> OpenSegment(uint32_t number) const;
  std::string PathOf(uint32_t number) const { return WalFileName(dir_, number); }

 private:
  WalDirectory(FileSystem* fs, std::string dir) : fs_(fs), dir_(std::move(dir)) {}

  FileSystem* fs_;
  std::string dir_;
  std::map<uint32_t, WalSegmentInfo> segments_;
};

}  // namespace tidesdb
