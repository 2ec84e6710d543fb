#include "table/block_builder.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tidesdb {

namespace {

// Four buckets for three keys. More would not pay, because a shared bucket costs no more than a
// search of the key heads.
size_t BucketsFor(size_t keys) { return keys + keys / 3 + 1; }

// Limit of the memory kept between blocks; that of a huge value is freed.
constexpr size_t kKeptBytesMax = 4 << 20;

// How much longer headers may get that name a prefix where they had none: a 32-bit length in place
// of a zero. Only a block with one restart does not win it back.
constexpr size_t kPrefixSlackBytes = kVarint32BytesMax - 1;

// Header of an entry: three varint32 and a varint64.
constexpr size_t kHeaderBytesMax = 3 * kVarint32BytesMax + kVarint64BytesMax;

}  // namespace

BlockBuilder::BlockBuilder(uint32_t restart_interval, uint32_t restart_bytes, bool hash_index)
    : restart_interval_(restart_interval), restart_bytes_(restart_bytes), hash_index_(hash_index) {
  CHECK(restart_interval > 0);
}

size_t BlockBuilder::SizeOf(size_t entry_bytes, size_t restarts, size_t keys) const {
  const size_t buckets = hash_index_ && restarts <= kBucketRestartsMax ? BucketsFor(keys) : 0;
  return entry_bytes + kPrefixSlackBytes + buckets + restarts * (4 + 8) + kBlockTrailerBytes;
}

size_t BlockBuilder::SizeWith(Slice key, Slice value) const {
  const bool restart = RestartIsDue();
  const size_t shared = restart ? 0 : CommonPrefixBytes(last_key_, key);
  const size_t entry_bytes = kHeaderBytesMax + (key.size() - shared) + value.size();
  return SizeOf(buffer_.size() + entry_bytes, restarts_.size() + 1, hashes_.size() + 1);
}

void BlockBuilder::Add(Slice key, Trailer trailer, Slice value, uint64_t key_hash) {
  const bool first = entries_ == 0;
  const bool restart = RestartIsDue();
  size_t shared = 0;
  if (first) {
    first_key_ = key;
    sequence_base_ = TrailerSequence(trailer);
  }
  if (restart) {
    restarts_.push_back(static_cast<uint32_t>(buffer_.size()));
    entries_since_restart_ = 0;
  } else {
    shared = CommonPrefixBytes(last_key_, key);
  }
  char header[kHeaderBytesMax];
  char* p = EncodeVarint32(header, static_cast<uint32_t>(shared));
  p = EncodeVarint32(p, static_cast<uint32_t>(key.size() - shared));
  p = EncodeVarint32(p, static_cast<uint32_t>(value.size()));
  p = EncodeVarint64(p, EncodeTag(sequence_base_, trailer));
  buffer_.append(header, static_cast<size_t>(p - header));
  buffer_.append(key.substr(shared));
  buffer_.append(value);
  if (hash_index_ && (first || key != last_key_ || restart)) {
    hashes_.push_back({key_hash, static_cast<uint32_t>(restarts_.size() - 1)});
  }
  last_key_ = key;
  key_bytes_max_ = std::max(key_bytes_max_, static_cast<uint32_t>(key.size()));
  ++entries_;
  ++entries_since_restart_;
}

std::string* BlockBuilder::Finish() {
  const auto prefix_bytes = static_cast<uint32_t>(CommonPrefixBytes(first_key_, last_key_));
  StripPrefix(prefix_bytes);
  const uint32_t buckets = AppendBuckets();
  for (const uint64_t head : heads_) PutFixed64(&buffer_, head);
  for (const uint32_t restart : restarts_) PutFixed32(&buffer_, restart);
  buffer_.append(last_key_, 0, prefix_bytes);
  PutFixed64(&buffer_, sequence_base_);
  PutFixed32(&buffer_, entries_);
  PutFixed32(&buffer_, static_cast<uint32_t>(restarts_.size()));
  PutFixed32(&buffer_, prefix_bytes);
  PutFixed32(&buffer_, buckets);
  PutFixed32(&buffer_, key_bytes_max_);
  CHECK(buffer_.size() <= UINT32_MAX);
  return &buffer_;
}

// Fills heads_, and removes the common prefix, known only now, from all restart keys. Entries move
// towards the front: a header that names the prefix can get longer by its length field, but the
// prefix itself is removed.
void BlockBuilder::StripPrefix(uint32_t prefix_bytes) {
  char* const base = buffer_.data();
  char* out = base;
  for (size_t i = 0; i < restarts_.size(); ++i) {
    const char* in = base + restarts_[i];
    const char* end = base + (i + 1 < restarts_.size() ? restarts_[i + 1] : buffer_.size());
    const BlockEntry entry = DecodeTrustedEntry(in);
    heads_.push_back(KeyHead(Slice(entry.suffix, entry.unshared).substr(prefix_bytes)));
    restarts_[i] = static_cast<uint32_t>(out - base);
    if (prefix_bytes > 0) {
      char header[kHeaderBytesMax];
      char* p = EncodeVarint32(header, prefix_bytes);
      p = EncodeVarint32(p, entry.unshared - prefix_bytes);
      p = EncodeVarint32(p, entry.value_bytes);
      p = EncodeVarint64(p, entry.tag);
      in = entry.suffix + prefix_bytes;
      const auto header_bytes = static_cast<size_t>(p - header);
      CHECK(out + header_bytes <= in);
      std::memcpy(out, header, header_bytes);
      out += header_bytes;
    }
    if (out != in) std::memmove(out, in, static_cast<size_t>(end - in));
    out += end - in;
  }
  buffer_.resize(static_cast<size_t>(out - base));
}

uint32_t BlockBuilder::AppendBuckets() {
  if (!hash_index_ || restarts_.size() > kBucketRestartsMax) return 0;
  const auto count = static_cast<uint32_t>(BucketsFor(hashes_.size()));
  const size_t start = buffer_.size();
  buffer_.append(count, static_cast<char>(kBucketEmpty));
  for (const HashedRestart& hashed : hashes_) {
    char& bucket = buffer_[start + BucketOf(hashed.key_hash, count)];
    const auto value = static_cast<uint8_t>(bucket);
    if (value == kBucketEmpty) {
      bucket = static_cast<char>(hashed.restart);
    } else if (value != hashed.restart) {
      bucket = static_cast<char>(kBucketShared);
    }
  }
  return count;
}

void BlockBuilder::Reset() {
  buffer_.clear();
  if (buffer_.capacity() > kKeptBytesMax) buffer_.shrink_to_fit();
  last_key_.clear();
  first_key_.clear();
  restarts_.clear();
  heads_.clear();
  hashes_.clear();
  sequence_base_ = 0;
  entries_ = 0;
  entries_since_restart_ = 0;
  key_bytes_max_ = 0;
}

}  // namespace tidesdb
