// Builds the contents of one block from entries in order.
//
// Threads: one at a time.
// Format: docs/format/block.md
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/block_format.h"
#include "tidesdb/slice.h"

namespace tidesdb {

class BlockBuilder {
 public:
  // A full key comes after restart_interval entries, or after restart_bytes of them: a lookup decodes
  // the entries between, each a miss of the processor's cache if they are long. hash_index: for
  // blocks with lookups of exact keys.
  BlockBuilder(uint32_t restart_interval, uint32_t restart_bytes, bool hash_index);

  // key_hash is only used with a hash index. REQUIRES: sorts after all earlier entries; SizeWith()
  // of it fits in 32 bits.
  void Add(Slice key, Trailer trailer, Slice value, uint64_t key_hash);

  // Appends the search structures to the entries. The caller may append to the string or take it;
  // call Reset() before the next Add.
  std::string* Finish();
  void Reset();

  bool empty() const { return entries_ == 0; }
  uint32_t entries() const { return entries_; }
  Slice last_key() const { return last_key_; }
  // An upper limit of the size if Finish() were called now.
  size_t SizeEstimate() const { return SizeOf(buffer_.size(), restarts_.size(), hashes_.size()); }
  // The same with one more entry.
  size_t SizeWith(Slice key, Slice value) const;

 private:
  struct HashedRestart {
    uint64_t key_hash;
    uint32_t restart;
  };

  bool RestartIsDue() const {
    return entries_ == 0 || entries_since_restart_ == restart_interval_ ||
           buffer_.size() - restarts_.back() >= restart_bytes_;
  }
  size_t SizeOf(size_t entry_bytes, size_t restarts, size_t keys) const;
  void StripPrefix(uint32_t prefix_bytes);
  uint32_t AppendBuckets();

  const uint32_t restart_interval_;
  const uint32_t restart_bytes_;
  const bool hash_index_;
  std::string buffer_;
  std::string last_key_;
  std::string first_key_;
  std::vector<uint32_t> restarts_;
  std::vector<uint64_t> heads_;
  std::vector<HashedRestart> hashes_;
  SequenceNumber sequence_base_ = 0;
  uint32_t entries_ = 0;
  uint32_t entries_since_restart_ = 0;
  uint32_t key_bytes_max_ = 0;
};

}  // namespace tidesdb
