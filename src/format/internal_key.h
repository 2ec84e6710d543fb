// The version of a key: its commit sequence and its kind, and the order of versions.
//
// Format: docs/format/key.md
#pragma once

#include <cstdint>

#include "tidesdb/slice.h"

namespace tidesdb {

// A commit's place in the commit order of the database; all writes of a transaction share it.
using SequenceNumber = uint64_t;
constexpr SequenceNumber kSequenceMax = (uint64_t{1} << 56) - 1;

using FamilyId = uint32_t;

// Stored on disk; never renumber.
enum class ValueType : uint8_t {
  kDelete = 0,
  kPut = 1,
  kSingleDelete = 2,
};

// Sequence and type in one number: sequence << 8 | type.
using Trailer = uint64_t;

constexpr Trailer PackTrailer(SequenceNumber sequence, ValueType type) {
  return sequence << 8 | static_cast<uint8_t>(type);
}
constexpr SequenceNumber TrailerSequence(Trailer trailer) { return trailer >> 8; }
constexpr ValueType TrailerType(Trailer trailer) { return static_cast<ValueType>(trailer & 0xff); }
constexpr bool IsTombstone(ValueType type) { return type != ValueType::kPut; }
// Sorts before every version that a snapshot at `sequence` sees, and after all newer ones.
constexpr Trailer SeekTrailer(SequenceNumber sequence) { return sequence << 8 | 0xff; }
constexpr Trailer kTrailerMax = SeekTrailer(kSequenceMax);

// Negative, zero or positive. Keys ascend; versions of one key descend, newest first.
inline int CompareVersions(Slice a_key, Trailer a, Slice b_key, Trailer b) {
  const int order = a_key.compare(b_key);
  if (order != 0) return order;
  return a == b ? 0 : (a > b ? -1 : 1);
}

}  // namespace tidesdb
