// The bytes of a filter: a Bloom filter in cache lines, so that a lookup touches only one of them.
//
// Pure. Keys are given by their Hash64.
//
// Format: docs/format/table.md
//
// Contents := line of 64 bytes * | u32 line_count | u8 probes
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

inline constexpr size_t kFilterLineBytes = 64;    // 512 bits: 9 bits of a hash select one.
inline constexpr size_t kFilterTrailerBytes = 5;  // Line count (4), probes (1).
inline constexpr uint8_t kFilterProbesMax = 16;

struct FilterShape {
  uint32_t bits_per_key;
  uint8_t probes;
};

// The smallest filter with an expected share of false positives of at most fpr. REQUIRES: 0 < fpr <
// 1.
FilterShape ChooseFilterShape(double fpr);

// Replaces *contents with a filter that holds every key of hashes.
void BuildFilter(const std::vector<uint64_t>& hashes, FilterShape shape, std::string* contents);

// Returns kCorruption, naming path and offset, if the contents are not a filter.
Status ValidateFilter(Slice contents, uint64_t file_offset, Slice path);

namespace filter_internal {
// 2^64 divided by the golden ratio, made odd: every product's top bits depend on all bits of the
// hash.
inline constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;

inline uint64_t LineOf(uint64_t hash, uint32_t line_count) {
  return (hash >> 32) * line_count >> 32;
}

// By the size, not by the trailer: so the processor loads line and trailer together.
inline const char* LineOf(Slice contents, uint64_t hash) {
  const auto line_count =
      static_cast<uint32_t>((contents.size() - kFilterTrailerBytes) / kFilterLineBytes);
  return contents.data() + kFilterLineBytes * LineOf(hash, line_count);
}
}  // namespace filter_internal

// Begins to load what FilterMayContain reads into the processor's cache, without waiting. REQUIRES:
// as there.
inline void PrefetchFilter(Slice contents, uint64_t hash) {
  __builtin_prefetch(filter_internal::LineOf(contents, hash));
  __builtin_prefetch(contents.data() + contents.size() - 1);
}

// False only if no key with that hash is in it. REQUIRES: ValidateFilter(contents) succeeded.
inline bool FilterMayContain(Slice contents, uint64_t hash) {
  const char* line = filter_internal::LineOf(contents, hash);
  const auto probes = static_cast<uint8_t>(contents.back());
  uint64_t h = hash;
  for (uint8_t i = 0; i < probes; ++i) {
    h *= filter_internal::kMultiplier;
    const uint64_t bit = h >> 55;
    if ((static_cast<uint8_t>(line[bit / 8]) >> (bit % 8) & 1) == 0) return false;
  }
  return true;
}

}  // namespace tidesdb
