#include "wal/wal_segment_reader.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/failpoint.h"

namespace tidesdb {
namespace {

constexpr uint64_t kWindowBytes = 256 << 10;

// The offset of a frame's segment number; no segment has number 0.
constexpr size_t kSegmentOffset = 16;
constexpr size_t kZerosBytes = 64;

bool AreZeros(const char* bytes) {
  uint64_t any = 0;
  for (size_t i = 0; i < kZerosBytes; i += sizeof any) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    any |= word;
  }
  return any == 0;
}

// The first place from `at` on where a record of the segment may be; bytes.size() or a bit less if
// there is none. Unwritten space is zeros, megabytes of them.
uint64_t SkipZeros(Slice bytes, uint64_t at) {
  while (at + kSegmentOffset + kZerosBytes <= bytes.size() &&
         AreZeros(bytes.data() + at + kSegmentOffset)) {
    at += kZerosBytes;
  }
  return at;
}

}  // namespace

Result<std::unique_ptr<WalSegmentReader>> WalSegmentReader::Open(FileSystem* fs,
                                                                 const std::string& path,
                                                                 uint32_t segment) {
  TIDESDB_ASSIGN(auto file, fs->NewRandomAccessFile(path));
  return std::make_unique<WalSegmentReader>(std::move(file), path, segment);
}

Result<Slice> WalSegmentReader::Bytes(uint64_t offset, uint64_t n) {
  if (offset >= file_->size()) return Slice();
  n = std::min(n, file_->size() - offset);
  if (offset < window_offset_ || offset + n > window_offset_ + window_.size()) {
    const uint64_t wanted = std::min(std::max(n, kWindowBytes), file_->size() - offset);
    // The next read frees a huge record's memory.
    if (wanted > buffer_bytes_ || buffer_bytes_ > 2 * std::max(wanted, kWindowBytes)) {
      buffer_bytes_ = std::max(wanted, kWindowBytes);
      window_ = Slice();
      buffer_ = std::make_unique_for_overwrite<char[]>(buffer_bytes_);
    }
    window_offset_ = offset;
    TIDESDB_ASSIGN(window_, file_->ReadAt(offset, wanted, buffer_.get()));
  }
  return window_.substr(offset - window_offset_, n);
}

Result<bool> WalSegmentReader::ReadAt(uint64_t offset, uint64_t limit, WalRecordAt* record) {
  TIDESDB_ASSIGN(const bool found, ReadOnce(offset, limit, record));
  if (found) return true;
  window_ = Slice();  // A fault of one read need not be a fault of the file.
  return ReadOnce(offset, limit, record);
}

Result<bool> WalSegmentReader::ReadOnce(uint64_t offset, uint64_t limit, WalRecordAt* record) {
  TIDESDB_ASSIGN(const Slice header, Bytes(offset, kWalFrameBytes));
  if (header.size() < kWalFrameBytes ||
      !ParseWalFrame(header.data(), WalPosition::At(segment_, offset), &record->frame)) {
    return false;
  }
  const uint64_t end = offset + WalRecordBytes(record->frame.payload_bytes);
  if (end > limit || end > file_->size()) return false;
  TIDESDB_ASSIGN(const Slice bytes, Bytes(offset, kWalFrameBytes + record->frame.payload_bytes));
  if (bytes.size() < kWalFrameBytes + record->frame.payload_bytes) return false;
  record->bytes = bytes;
  record->payload = bytes.substr(kWalFrameBytes);
  if (!VerifyWalFrame(bytes.data(), record->payload) && !TIDESDB_PLANTED("wal_skip_checksum")) {
    return false;
  }
  if (record->frame.version != kWalVersion) {
    return Status::NotSupported(path_ + " at offset " + std::to_string(offset) +
                                ": WAL format version " + std::to_string(record->frame.version) +
                                "; this program knows version " + std::to_string(kWalVersion));
  }
  return true;
}

Result<bool> WalSegmentReader::LooksBegun(uint64_t offset) {
  TIDESDB_ASSIGN(const Slice header, Bytes(offset, kWalFrameBytes));
  WalFrame frame;
  return header.size() == kWalFrameBytes &&
         ParseWalFrame(header.data(), WalPosition::At(segment_, offset), &frame);
}

Result<bool> WalSegmentReader::FindFrom(uint64_t offset, uint64_t limit, WalRecordAt* record) {
  limit = std::min(limit, file_->size());
  while (offset + kWalFrameBytes <= limit) {
    TIDESDB_ASSIGN(const Slice bytes, Bytes(offset, std::min(limit - offset, kWindowBytes)));
    if (bytes.size() < kWalFrameBytes) break;
    // A quick check of the position before the full one.
    uint64_t at = 0;
    bool looks_right = false;
    for (; at + kWalFrameBytes <= bytes.size(); at += kWalAlignment) {
      at = SkipZeros(bytes, at);
      if (at + kWalFrameBytes > bytes.size()) break;
      WalFrame frame;
      looks_right =
          DecodeFixed32(bytes.data() + at + kSegmentOffset) == segment_ &&
          ParseWalFrame(bytes.data() + at, WalPosition::At(segment_, offset + at), &frame);
      if (looks_right) break;
    }
    offset += at;
    if (!looks_right) continue;
    TIDESDB_ASSIGN(const bool found, ReadOnce(offset, UINT64_MAX, record));
    if (found) return true;
    offset += kWalAlignment;
  }
  return false;
}

}  // namespace tidesdb
