// Which segment files a directory holds, and which of them follows which.
//
// Threads: immutable once read.
// Invariant: of the segments that say they follow the same one, the highest number is right: it was
//   started by the latest recovery, which decided that the log continues there and the others are
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
  // Its first record is whole. If not, no record of it counts: it was made ahead of its use, or is
  // lost.
  bool begun = false;
  WalSegmentStart start;
  WalPosition synced;  // What its first record says.
};

class WalDirectory {
 public:
  // Errors: kIoError, kNotSupported (a segment of a newer version).
  static Result<WalDirectory> Read(FileSystem* fs, const std::string& dir);

  // By number.
  const std::map<uint32_t, WalSegmentInfo>& segments() const { return segments_; }
  // Null: no such file.
  const WalSegmentInfo* Find(uint32_t number) const;
  // The begun segment that follows `number`; null: none.
  const WalSegmentInfo* SuccessorOf(uint32_t number) const;
  // 0 when there is no segment file.
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
