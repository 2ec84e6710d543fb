// Shows key bytes as SQL literals: 5, 'abc', NULL.
//
// Knows nothing of the server, like key_codec.h; table_codec.h provides the parts of a key.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "codec/key_codec.h"
#include "tidesdb/slice.h"

namespace tidesdb::plugin {

enum class LiteralKind : uint8_t {
  kNumber,    // kUnsigned, kSigned.
  kYear,      // Years after 1900; 0 is 0.
  kDate,      // kUnsigned of 3 bytes.
  kDateTime,  // kRaw: the server's packed form.
  kTime,      // The same.
  kDecimal,   // kRaw: the server's binary form.
  kBytes,     // Any kind with IsReversible(), as text if it is text, else X'00FF'.
  kWeights,   // Only the weights are known: shown as weights X'00FF'.
};

struct LiteralPart {
  KeyPart key;
  LiteralKind kind = LiteralKind::kBytes;
  uint32_t precision = 0;  // Of a decimal: total digits.
  uint32_t scale = 0;      // Digits after the point.
};

// The parts of a family's keys.
struct KeyShape {
  KeyShape() = default;
  KeyShape(KeyShape&&) = default;
  KeyShape& operator=(KeyShape&&) = default;
  KeyShape(const KeyShape&) = delete;  // Parts point to its collations.
  KeyShape& operator=(const KeyShape&) = delete;

  std::vector<LiteralPart> parts;
  std::list<Collation> collations;
};
using KeyShapes = std::map<uint32_t, KeyShape>;  // By family.

// A key, or the start of one. Parts that cannot be decoded are X'00FF'.
std::string KeyLiterals(const KeyShape& shape, Slice key);
// X'00FF'. Long texts end in an ellipsis.
std::string HexLiteral(Slice bytes);

}  // namespace tidesdb::plugin
