// Turns column values into key bytes that memcmp orders as SQL does, and back if possible.
//
// Knows nothing of the server. A value comes as its "raw" bytes: those of the record buffer for a column of fixed
// size, the content without its length for a varying one. The adapter in table_codec.h chooses the KeyPart of a
// column.
//
// Format: docs/format/row.md
//
// A part is self-delimiting, so parts follow one another without separators. The encoding of the first k parts is a
// prefix of every key that agrees in them.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb::plugin {

// How the strings of a collation compare: by weights, which are bytes that memcmp orders. Some collations have
// several levels: strings that are equal at one level compare at the next.
struct Collation {
  static constexpr int kLevelsMax = 4;
  struct Pad {
    uint8_t weights[8] = {};  // Those of one space.
    uint8_t bytes = 0;        // 0: no padding, the longer text is greater.
  };

  const void* handle = nullptr;  // The server's collation.
  // Writes the weights of a text at one level; returns the number of bytes.
  size_t (*weigh)(const void* handle, int level, uint8_t* to, size_t to_bytes, const uint8_t* from,
                  size_t from_bytes) = nullptr;
  // An upper limit of what weigh() writes for that many bytes of text.
  size_t (*weights_bytes_max)(const void* handle, size_t from_bytes) = nullptr;
  // The bytes of the first chars_max characters.
  size_t (*prefix_bytes)(const void* handle, const uint8_t* from, size_t from_bytes,
                         uint32_t chars_max) = nullptr;
  // The bytes without the spaces at the end.
  size_t (*trimmed_bytes)(const void* handle, const uint8_t* from, size_t from_bytes) = nullptr;
  // Of the start of a text: the bytes whose characters cannot be part of a longer letter, such as "c" before "h" if
  // "ch" is one letter. Null: there are no such letters.
  size_t (*settled_bytes)(const Collation& collation, const uint8_t* from,
                          size_t from_bytes) = nullptr;
  const void* letters = nullptr;  // For settled_bytes() and alike_bytes().
  // The bytes without the characters that LIKE pads the start or the end of a range with: the smallest or the
  // greatest one. Null: ranges are exactly as the server says.
  size_t (*unfilled_start)(const void* handle, const uint8_t* from, size_t from_bytes) = nullptr;
  size_t (*unfilled_end)(const void* handle, const uint8_t* from, size_t from_bytes) = nullptr;
  // Of the start of a text, without padding: the bytes that have the same weights in all texts that begin with
  // equal characters, compared one by one as LIKE does. Null: all bytes.
  size_t (*alike_bytes)(const Collation& collation, const uint8_t* from,
                        size_t from_bytes) = nullptr;
  bool starts_weigh_alone = true;  // The weights of a text begin with those of its start.
  int levels = 1;
  Pad pad[kLevelsMax];  // How the shorter of two texts continues, at each level.
};

enum class PartKind : uint8_t {
  kUnsigned,  // Little-endian, `width` bytes.
  kSigned,    // Like kUnsigned, two's complement.
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
  bool trim_spaces = false;  // Trailing spaces are not part of the value, as in CHAR columns.
  uint32_t chars_max = 0;    // For text: characters in the key. For kBytes: bytes.
  // For text, if not 0: bytes of the whole text's weights in the key, whatever their characters. This keeps the
  // order of whole texts even if a character has no weight, several weights, or one weight together with the next
  // character. Weights of the first characters alone would not.
  uint32_t weights_max = 0;
  const Collation* collation = nullptr;
};

// Appends one part. scratch: reused memory.
void EncodePart(const KeyPart& part, Slice raw, std::string* key, std::string* scratch);
void EncodeNull(const KeyPart& part, std::string* key);
// Appends the bytes that the parts of all texts with this start have in common, without a part's end. cut: the text
// may end within a letter.
void EncodeStart(const KeyPart& part, Slice start, bool cut, std::string* key,
                 std::string* scratch);

// The order of what EncodePart() makes of two values that are not NULL. scratch: reused memory.
int ComparePart(const KeyPart& part, Slice a, Slice b, std::string* scratch);

// Whether the key contains the raw value.
inline bool IsReversible(PartKind kind) {
  return kind == PartKind::kUnsigned || kind == PartKind::kSigned || kind == PartKind::kRaw ||
         kind == PartKind::kBytes;
}

// Moves key past one part. Returns: false if the bytes are not such a part.
bool SkipPart(const KeyPart& part, Slice* key);

enum class Taken : uint8_t { kValue, kNull, kBad };

// Takes one part off key and returns its value. For kUnsigned, kSigned and kRaw it writes `width` bytes to `to`;
// for kBytes at most to_bytes, and *length is the full number.
// REQUIRES: IsReversible(part.kind).
Taken TakePart(const KeyPart& part, Slice* key, uint8_t* to, size_t to_bytes, size_t* length);

// The smallest key greater than this one.
inline std::string Successor(Slice key) {
  std::string after(key);
  after.push_back('\0');
  return after;
}

// The smallest key greater than every key that starts with prefix; false if there is none.
bool KeyAfterPrefix(Slice prefix, std::string* after);

}  // namespace tidesdb::plugin
