// The bytes of a block of a table file: entries, search structures, and the seal around them.
//
// Pure. Functions on a trusted block (all of BlockView) do not check bounds: ValidateBlock did so
// once, when the block was decoded.
//
// Format: docs/format/block.md
//
// Stored block  := payload | u8 kind << 4 | compression | u64 checksum
// Block contents := entry* | u8 bucket* | u64 head* | u32 restart* | prefix | trailer of 28 bytes
#pragma once

#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/coding.h"
#include "base/key_head.h"
#include "format/internal_key.h"
#include "tidesdb/options.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// --- The seal ---

// Stored on disk; never renumber.
enum class BlockKind : uint8_t {
  kData = 1,
  kIndex = 2,     // Of one partition: last key and place of each data block.
  kFilter = 3,    // Of one partition: docs/format/table.md.
  kTopIndex = 4,  // The last key of each partition, and the places of its index and filter.
  kProperties = 5,
};

// Kind and compression byte (1), checksum (8).
inline constexpr size_t kBlockSealBytes = 1 + 8;

inline constexpr uint8_t SealByte(BlockKind kind, Compression compression) {
  return static_cast<uint8_t>(static_cast<uint8_t>(kind) << 4 | static_cast<uint8_t>(compression));
}

// Appends the seal of a payload that will be stored at file_offset. The checksum covers payload,
// kind, compression and place, so it detects a block read from the wrong place.
void SealBlock(std::string* payload, BlockKind kind, Compression compression, uint64_t file_offset);

// stored: payload and seal as read at file_offset. Returns kCorruption if checksum, kind or
// compression are wrong.
Status CheckSeal(Slice stored, BlockKind kind, uint64_t file_offset, Slice path,
                 Compression* compression);

// --- The contents ---

inline constexpr size_t kBlockTrailerBytes = 28;  // 8 + 5 * 4, see BlockView.
inline constexpr uint8_t kBucketEmpty = 255;      // No key of this block hashes here.
inline constexpr uint8_t kBucketShared = 254;     // Keys of several restart intervals do: search.
inline constexpr uint32_t kBucketRestartsMax = 254;  // Numbers 0..253, beside the two marks.

// Length of the longest common prefix.
inline size_t CommonPrefixBytes(Slice a, Slice b) {
  const size_t limit = a.size() < b.size() ? a.size() : b.size();
  size_t n = 0;
  while (n + 8 <= limit) {
    const uint64_t difference = DecodeFixed64(a.data() + n) ^ DecodeFixed64(b.data() + n);
    if (difference != 0) return n + static_cast<size_t>(std::countr_zero(difference)) / 8;
    n += 8;
  }
  while (n < limit && a[n] == b[n]) ++n;
  return n;
}

// The bucket of the in-block hash index for a key's Hash64.
inline uint32_t BucketOf(uint64_t key_hash, uint32_t bucket_count) {
  return static_cast<uint32_t>((key_hash & 0xffffffff) * bucket_count >> 32);
}

// An entry's tag holds its type and the signed distance of its sequence from the block's base.
inline constexpr unsigned kTagTypeBits = 3;
inline uint64_t EncodeTag(SequenceNumber base, Trailer trailer) {
  const auto delta = static_cast<int64_t>(TrailerSequence(trailer) - base);
  const uint64_t zigzag = static_cast<uint64_t>(delta) << 1 ^ static_cast<uint64_t>(delta >> 63);
  return zigzag << kTagTypeBits | (trailer & 0xff);
}
inline Trailer DecodeTag(SequenceNumber base, uint64_t tag) {
  const uint64_t zigzag = tag >> kTagTypeBits;
  const uint64_t delta = zigzag >> 1 ^ (0 - (zigzag & 1));
  return (base + delta) << 8 | (tag & ((1 << kTagTypeBits) - 1));
}

// One entry: varint32 shared | varint32 unshared | varint32 value_bytes | varint64 tag | unshared
// key bytes | value. Its key is the first `shared` bytes of the previous key (at a restart, of the
// block's prefix) and the unshared ones.
struct BlockEntry {
  uint32_t shared;
  uint32_t unshared;
  uint32_t value_bytes;
  uint64_t tag;
  const char* suffix;  // The unshared key bytes.

  Slice value() const { return {suffix + unshared, value_bytes}; }
  const char* end() const { return suffix + unshared + value_bytes; }
};

namespace block_internal {
inline const char* TrustedVarint64(const char* p, uint64_t* value) {
  uint64_t byte = static_cast<uint8_t>(*p++);
  uint64_t result = byte & 0x7f;
  for (unsigned shift = 7; byte >= 0x80; shift += 7) {
    byte = static_cast<uint8_t>(*p++);
    result |= (byte & 0x7f) << shift;
  }
  *value = result;
  return p;
}
inline const char* TrustedVarint32(const char* p, uint32_t* value) {
  uint64_t wide;
  p = TrustedVarint64(p, &wide);
  *value = static_cast<uint32_t>(wide);
  return p;
}
}  // namespace block_internal

// REQUIRES: p is at an entry of a valid block.
[[gnu::always_inline]] inline BlockEntry DecodeTrustedEntry(const char* p) {
  BlockEntry entry;
  // The trailer of the block follows the last entry, so that four bytes are there.
  if (const uint32_t first = DecodeFixed32(p); (first & 0x8080) == 0) {  // Short, as most are.
    entry.shared = first & 0x7f;
    entry.unshared = first >> 8 & 0x7f;
    p += 2;
  } else {
    p = block_internal::TrustedVarint32(p, &entry.shared);
    p = block_internal::TrustedVarint32(p, &entry.unshared);
  }
  p = block_internal::TrustedVarint32(p, &entry.value_bytes);
  p = block_internal::TrustedVarint64(p, &entry.tag);
  entry.suffix = p;
  return entry;
}

// A view of valid block contents.
class BlockView {
 public:
  BlockView() = default;
  // REQUIRES: ValidateBlock(contents) succeeded; the bytes outlive the view.
  explicit BlockView(Slice contents) {
    const char* trailer = contents.data() + contents.size() - kBlockTrailerBytes;
    sequence_base_ = DecodeFixed64(trailer);
    entry_count_ = DecodeFixed32(trailer + 8);
    restart_count_ = DecodeFixed32(trailer + 12);
    prefix_bytes_ = DecodeFixed32(trailer + 16);
    bucket_count_ = DecodeFixed32(trailer + 20);
    key_bytes_max_ = DecodeFixed32(trailer + 24);
    prefix_ = trailer - prefix_bytes_;
    restarts_ = prefix_ - size_t{4} * restart_count_;
    heads_ = restarts_ - size_t{8} * restart_count_;
    entries_ = contents.data();
    entries_end_ = heads_ - bucket_count_;
  }

  const char* entries() const { return entries_; }
  const char* entries_end() const { return entries_end_; }
  uint32_t entry_count() const { return entry_count_; }
  uint32_t restart_count() const { return restart_count_; }
  uint32_t bucket_count() const { return bucket_count_; }
  uint32_t key_bytes_max() const { return key_bytes_max_; }
  bool empty() const { return entry_count_ == 0; }
  bool only_restarts() const { return entry_count_ == restart_count_; }

  uint32_t RestartOffset(uint32_t i) const { return DecodeFixed32(restarts_ + size_t{4} * i); }
  const char* Restart(uint32_t i) const { return entries_ + RestartOffset(i); }
  // The end of the entries of interval i.
  const char* RestartEnd(uint32_t i) const {
    return i + 1 < restart_count_ ? Restart(i + 1) : entries_end_;
  }
  uint64_t Head(uint32_t i) const { return DecodeFixed64(heads_ + size_t{8} * i); }
  uint8_t Bucket(uint32_t i) const { return static_cast<uint8_t>(entries_end_[i]); }

  // The common prefix of all keys of the block.
  Slice prefix() const { return {prefix_, prefix_bytes_}; }
  Trailer TrailerOf(const BlockEntry& entry) const { return DecodeTag(sequence_base_, entry.tag); }

 private:
  const char* entries_ = nullptr;
  const char* entries_end_ = nullptr;
  const char* heads_ = nullptr;
  const char* restarts_ = nullptr;
  const char* prefix_ = nullptr;
  SequenceNumber sequence_base_ = 0;
  uint32_t entry_count_ = 0;
  uint32_t restart_count_ = 0;
  uint32_t prefix_bytes_ = 0;
  uint32_t bucket_count_ = 0;
  uint32_t key_bytes_max_ = 0;
};

// Whether BlockView may follow every number in the contents. Otherwise returns kCorruption that
// names the fault; file_offset and path are for the message. Does not check the order of keys.
Status ValidateBlock(Slice contents, uint64_t file_offset, Slice path);

}  // namespace tidesdb
