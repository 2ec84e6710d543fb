// Turns column values into key bytes that memcmp orders as SQL does, and back where that is
// possible.
//
// Knows nothing of the server: a value comes as its "raw" bytes, those of the record buffer for a
// column of fixed size, the content without its length for a varying one. The adapter in
// table_codec.h says which KeyPart a column needs.
//
// Format: docs/format/row.md
//
// A part is self-delimiting, so parts follow one another without
// separators, and the encoding of the first k parts is a prefix of every key that agrees in them.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb::plugin {

// How the strings of a collation are compared: by weights, that is, bytes that memcmp orders.
// Some collations have several levels of them: strings equal at one are compared at the next.
struct Collation {
  static constexpr int kLevelsMax = 4;
  struct Pad {
    uint8_t weights[8] = {};  // Those of one space.
    uint8_t bytes = 0;        // 0: nothing is padded, what goes on is greater.
  };

  const void* handle = nullptr;  // The server's.
  // Writes the weights of a text at one level; returns their number of bytes.
  size_t (*weigh)(const void* handle, int level, uint8_t* to, size_t to_bytes, const uint8_t* from,
                  size_t from_bytes) = nullptr;
  // At least what weigh() writes for that many bytes of text.
  size_t (*weights_bytes_max)(const void* handle, size_t from_bytes) = nullptr;
  // The bytes that the first chars_max characters take.
  size_t (*prefix_bytes)(const void* handle, const uint8_t* from, size_t from_bytes,
                         uint32_t chars_max) = nullptr;
  // The bytes without the spaces at the end.
  size_t (*trimmed_bytes)(const void* handle, const uint8_t* from, size_t from_bytes) = nullptr;
  // Of the start of a text: the bytes whose characters are no part of a letter that may go on behind
  // it, as "c" in front of "h" where "ch" is one letter. Null: there are no such letters.
  size_t (*settled_bytes)(const Collation& collation, const uint8_t* from,
                          size_t from_bytes) = nullptr;
  const void* letters = nullptr;  // For settled_bytes() and alike_bytes().
  // The bytes without what LIKE fills the start of a range with, and without what it fills the end
  // with: the smallest and the greatest character. Null: ranges are as the server says.
  size_t (*unfilled_start)(const void* handle, const uint8_t* from, size_t from_bytes) = nullptr;
  size_t (*unfilled_end)(const void* handle, const uint8_t* from, size_t from_bytes) = nullptr;
  // Of the start of a text, without what fills it: the bytes whose weights all texts start with that
  // begin with characters equal to these, one by one, as LIKE compares them. Null: all of it.
  size_t (*alike_bytes)(const Collation& collation, const uint8_t* from,
                        size_t from_bytes) = nullptr;
  bool starts_weigh_alone = true;  // The weights of a text start with those of its start.
  int levels = 1;
  Pad pad[kLevelsMax];  // How the shorter of two texts goes on, at each level.
};

enum class PartKind : uint8_t {
  kUnsigned,  // Little-endian, `width` bytes.
  kSigned,    // The same, two's complement.
  kFloat,     // IEEE single.
  kDouble,    // IEEE double.
  kRaw,       // `width` bytes that compare as they are: decimals, temporals, BINARY(n), UUID.
  kBytes,     // Varying bytes without padding: VARBINARY, BLOB prefixes.
  kText,      // Weights of varying length.
};

struct KeyPart {
  PartKind kind = PartKind::kRaw;
  bool nullable = false;
  bool descending = false;
  uint32_t width = 0;        // See PartKind.
  bool trim_spaces = false;  // As in CHAR columns: trailing spaces are no part of the value.
  uint32_t chars_max = 0;    // For text: characters the key takes. For kBytes: bytes.
  // For text, not 0: bytes of the whole text's weights that the key takes, whatever characters they
  // are of. So it goes with the order of whole texts also where a character has no weight, or
  // several, or one together with the next; those of the first characters alone would not.
  uint32_t weights_max = 0;
  const Collation* collation = nullptr;
};

// Appends one part. scratch: memory that is used again.
void EncodePart(const KeyPart& part, Slice raw, std::string* key, std::string* scratch);
void EncodeNull(const KeyPart& part, std::string* key);
// Appends what the parts of all texts start with that start with this one, and not where a part ends.
// cut: wherever it may be, within a letter too.
void EncodeStart(const KeyPart& part, Slice start, bool cut, std::string* key,
                 std::string* scratch);

// Whether the raw value can be read from the key.
inline bool IsReversible(PartKind kind) {
  return kind == PartKind::kUnsigned || kind == PartKind::kSigned || kind == PartKind::kRaw ||
         kind == PartKind::kBytes;
}

// Moves key past one part. Returns: false when the bytes are not such a part.
bool SkipPart(const KeyPart& part, Slice* key);

enum class Taken : uint8_t { kValue, kNull, kBad };

// Takes one part off key and gives its value. For kUnsigned, kSigned and kRaw `width` bytes are
// written to `to`; for kBytes at most to_bytes are, and *length says how many there are. REQUIRES:
// IsReversible(part.kind).
Taken TakePart(const KeyPart& part, Slice* key, uint8_t* to, size_t to_bytes, size_t* length);

// The smallest key greater than this one.
inline std::string Successor(Slice key) {
  std::string after(key);
  after.push_back('\0');
  return after;
}

// The smallest key greater than every key that starts with prefix; false when there is none.
bool KeyAfterPrefix(Slice prefix, std::string* after);

}  // namespace tidesdb::plugin
