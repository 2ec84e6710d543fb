#include "codec/key_codec.h"

#include <algorithm>
#include <cstring>

namespace tidesdb::plugin {
namespace {

// Stored on disk; never renumber.
constexpr char kNullMark = 0;
constexpr char kValueMark = 1;

// kBytes: a zero byte is followed by kZeroMark, the end is a zero byte and kEndMark.
constexpr uint8_t kZeroMark = 0xff;
constexpr uint8_t kEndMark = 0x01;

// kText with padding: groups of weights, each followed by a mark. The mark says how the rest of the
// text compares with endless spaces.
constexpr uint8_t kRestLess = 1;
constexpr uint8_t kRestNone = 2;
constexpr uint8_t kRestGreater = 3;

constexpr size_t kUsualGroupBytes = 8;

size_t GroupBytes(const Collation::Pad& space) {
  const size_t pad = space.bytes;
  return pad <= 1 ? kUsualGroupBytes : pad * std::max<size_t>(1, kUsualGroupBytes / pad);
}

// Of one size almost always: then a single instruction.
void CopyGroup(char* to, const uint8_t* from, size_t group) {
  if (group == kUsualGroupBytes) {
    memcpy(to, from, kUsualGroupBytes);
  } else {
    memcpy(to, from, group);
  }
}

void AppendReversed(const uint8_t* from, size_t n, uint8_t flip, std::string* key) {
  uint8_t bytes[8] = {};
  for (size_t i = 0; i < n; i++) bytes[i] = from[n - 1 - i];
  bytes[0] ^= flip;
  key->append(reinterpret_cast<const char*>(bytes), n);
}

template <typename Number, typename Bits>
void AppendFloating(const char* raw, std::string* key) {
  Number number;
  memcpy(&number, raw, sizeof number);
  if (number == 0) number = 0;  // Minus zero equals zero.
  Bits bits;
  memcpy(&bits, &number, sizeof bits);
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  bits = (bits & kSign) != 0 ? ~bits : bits | kSign;
  AppendReversed(reinterpret_cast<const uint8_t*>(&bits), sizeof bits, 0, key);
}

void AppendEscapedStart(const uint8_t* from, size_t n, std::string* key) {
  const uint8_t* const end = from + n;
  while (from < end) {
    const auto* zero =
        static_cast<const uint8_t*>(memchr(from, 0, static_cast<size_t>(end - from)));
    const uint8_t* stop = zero != nullptr ? zero + 1 : end;
    key->append(reinterpret_cast<const char*>(from), static_cast<size_t>(stop - from));
    if (zero != nullptr) key->push_back(static_cast<char>(kZeroMark));
    from = stop;
  }
}

void AppendEscaped(const uint8_t* from, size_t n, std::string* key) {
  AppendEscapedStart(from, n, key);
  key->push_back(0);
  key->push_back(static_cast<char>(kEndMark));
}

uint8_t CompareWithPad(const uint8_t* rest, size_t n, const Collation::Pad& space) {
  for (size_t i = 0; i < n; i++) {
    const uint8_t pad = space.weights[i % space.bytes];
    if (rest[i] != pad) return rest[i] < pad ? kRestLess : kRestGreater;
  }
  return kRestNone;
}

// REQUIRES: space.bytes != 0.
void AppendPadded(const uint8_t* weights, size_t n, const Collation::Pad& space, std::string* key) {
  const size_t pad = space.bytes;
  while (n >= pad && memcmp(weights + n - pad, space.weights, pad) == 0) n -= pad;
  const size_t group = GroupBytes(space);
  const size_t groups = std::max<size_t>(1, (n + group - 1) / group);
  const size_t start = key->size();
  key->resize(start + groups * (group + 1));
  char* to = key->data() + start;
  for (; n > group; weights += group, n -= group, to += group + 1) {
    CopyGroup(to, weights, group);
    const uint8_t mark = CompareWithPad(weights + group, n - group, space);
    to[group] = static_cast<char>(mark);
    if (mark == kRestNone) {
      key->resize(static_cast<size_t>(to - key->data()) + group + 1);
      return;
    }
  }
  if (n > 0) memcpy(to, weights, n);
  for (size_t i = n; i < group; i++) to[i] = static_cast<char>(space.weights[(i - n) % pad]);
  to[group] = static_cast<char>(kRestNone);
}

// The same if the weights may continue: omits a group's mark, and all after it, if it depends on
// what follows.
void AppendPaddedStart(const uint8_t* weights, size_t n, const Collation::Pad& space,
                       std::string* key) {
  const size_t group = GroupBytes(space);
  while (n > group) {
    const uint8_t mark = CompareWithPad(weights + group, n - group, space);
    key->append(reinterpret_cast<const char*>(weights), group);
    if (mark == kRestNone) return;
    key->push_back(static_cast<char>(mark));
    weights += group;
    n -= group;
  }
  key->append(reinterpret_cast<const char*>(weights), n);
}

// The bytes of a text that go into its key.
size_t KeyBytes(const KeyPart& part, const uint8_t* from, size_t n) {
  const Collation& collation = *part.collation;
  if (part.trim_spaces) n = collation.trimmed_bytes(collation.handle, from, n);
  if (part.weights_max != 0) return n;
  const size_t prefix = collation.prefix_bytes(collation.handle, from, n, part.chars_max);
  // In the server's form of a key, padding looks like spaces at the end of a prefix.
  if (!part.trim_spaces || prefix == n) return prefix;
  return collation.trimmed_bytes(collation.handle, from, prefix);
}

// The most bytes of weights that n bytes of text can take. Makes room for them in scratch.
size_t MakeRoom(const KeyPart& part, size_t n, std::string* scratch) {
  size_t room = part.weights_max;
  if (room == 0) room = part.collation->weights_bytes_max(part.collation->handle, n);
  if (scratch->size() < room) scratch->resize(room);
  return room;
}

void AppendText(const KeyPart& part, Slice raw, std::string* key, std::string* scratch) {
  const Collation& collation = *part.collation;
  const auto* from = reinterpret_cast<const uint8_t*>(raw.data());
  const size_t n = KeyBytes(part, from, raw.size());
  const size_t room = MakeRoom(part, n, scratch);
  auto* weights = reinterpret_cast<uint8_t*>(scratch->data());
  for (int level = 0; level < collation.levels; level++) {
    const size_t made = collation.weigh(collation.handle, level, weights, room, from, n);
    if (collation.pad[level].bytes != 0) {
      AppendPadded(weights, made, collation.pad[level], key);
    } else {
      AppendEscaped(weights, made, key);
    }
  }
}

void Invert(std::string* key, size_t start) {
  for (size_t i = start; i < key->size(); i++) (*key)[i] = static_cast<char>(~(*key)[i]);
}

// The byte at i of a part, before the inversion of a descending part.
uint8_t ByteAt(Slice key, size_t i, uint8_t flip) { return static_cast<uint8_t>(key[i]) ^ flip; }

bool SkipEscaped(Slice* key, uint8_t flip) {
  for (size_t i = 0; i + 1 < key->size(); i++) {
    if (ByteAt(*key, i, flip) != 0) continue;
    if (ByteAt(*key, i + 1, flip) == kEndMark) {
      key->remove_prefix(i + 2);
      return true;
    }
    i++;
  }
  return false;
}

bool SkipPadded(const Collation::Pad& space, Slice* key, uint8_t flip) {
  const size_t group = GroupBytes(space);
  for (size_t i = group; i < key->size(); i += group + 1) {
    if (ByteAt(*key, i, flip) == kRestNone) {
      key->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool SkipText(const Collation& collation, Slice* key, uint8_t flip) {
  for (int level = 0; level < collation.levels; level++) {
    const Collation::Pad& pad = collation.pad[level];
    const bool skipped = pad.bytes != 0 ? SkipPadded(pad, key, flip) : SkipEscaped(key, flip);
    if (!skipped) return false;
  }
  return true;
}

// Little-endian, as large as its order needs: the highest bit is that of the number.
uint64_t NumberBits(const KeyPart& part, Slice raw) {
  uint64_t bits = 0;
  memcpy(&bits, raw.data(), part.width);
  bits <<= 8 * (sizeof bits - part.width);
  return part.kind == PartKind::kSigned ? bits ^ uint64_t { 1 } << 63 : bits;
}

size_t FixedBytes(const KeyPart& part) {
  switch (part.kind) {
    case PartKind::kFloat:
      return 4;
    case PartKind::kDouble:
      return 8;
    case PartKind::kBytes:
    case PartKind::kText:
      return 0;
    default:
      return part.width;
  }
}

template <typename Bits>
void TakeNumber(const KeyPart& part, const char* from, uint8_t* to) {
  Bits bits;
  memcpy(&bits, from, sizeof bits);
  bits = sizeof bits == sizeof(uint32_t) ? __builtin_bswap32(static_cast<uint32_t>(bits))
                                         : static_cast<Bits>(__builtin_bswap64(bits));
  if (part.descending) bits = ~bits;
  if (part.kind == PartKind::kSigned) bits ^= Bits{1} << (8 * sizeof bits - 1);
  memcpy(to, &bits, sizeof bits);
}

Taken TakeEscaped(Slice* key, uint8_t flip, uint8_t* to, size_t to_bytes, size_t* length) {
  size_t n = 0;
  for (size_t i = 0; i < key->size(); i++) {
    const uint8_t byte = ByteAt(*key, i, flip);
    if (byte == 0) {
      if (++i == key->size()) return Taken::kBad;
      if (ByteAt(*key, i, flip) == kEndMark) {
        key->remove_prefix(i + 1);
        *length = n;
        return Taken::kValue;
      }
    }
    if (n == to_bytes) return Taken::kBad;
    to[n++] = byte;
  }
  return Taken::kBad;
}

}  // namespace

void EncodePart(const KeyPart& part, Slice raw, std::string* key, std::string* scratch) {
  const size_t start = key->size();
  if (part.nullable) key->push_back(kValueMark);
  const auto* from = reinterpret_cast<const uint8_t*>(raw.data());
  switch (part.kind) {
    case PartKind::kUnsigned:
      AppendReversed(from, part.width, 0, key);
      break;
    case PartKind::kSigned:
      AppendReversed(from, part.width, 0x80, key);
      break;
    case PartKind::kFloat:
      AppendFloating<float, uint32_t>(raw.data(), key);
      break;
    case PartKind::kDouble:
      AppendFloating<double, uint64_t>(raw.data(), key);
      break;
    case PartKind::kRaw:
      key->append(raw.data(), part.width);
      break;
    case PartKind::kBytes:
      AppendEscaped(from, std::min<size_t>(raw.size(), part.chars_max), key);
      break;
    case PartKind::kText:
      AppendText(part, raw, key, scratch);
      break;
  }
  if (part.descending) Invert(key, start);
}

int ComparePart(const KeyPart& part, Slice a, Slice b, std::string* scratch) {
  int order = 0;
  switch (part.kind) {
    case PartKind::kUnsigned:
    case PartKind::kSigned: {
      const uint64_t one = NumberBits(part, a);
      const uint64_t other = NumberBits(part, b);
      order = one < other ? -1 : one > other;
      break;
    }
    case PartKind::kRaw:
      order = memcmp(a.data(), b.data(), part.width);
      break;
    case PartKind::kBytes:
      order = a.substr(0, part.chars_max).compare(b.substr(0, part.chars_max));
      break;
    default: {
      if (a == b) return 0;
      std::string one;
      std::string other;
      EncodePart(part, a, &one, scratch);
      EncodePart(part, b, &other, scratch);
      return one.compare(other);
    }
  }
  return part.descending ? -order : order;
}

void EncodeNull(const KeyPart& part, std::string* key) {
  key->push_back(part.descending ? static_cast<char>(~kNullMark) : kNullMark);
}

void EncodeStart(const KeyPart& part, Slice start, bool cut, std::string* key,
                 std::string* scratch) {
  const size_t begin = key->size();
  if (part.nullable) key->push_back(kValueMark);
  const Collation& collation = *part.collation;
  const auto* from = reinterpret_cast<const uint8_t*>(start.data());
  // CHAR is padded by bytes: bytes after the first characters are not part of the value.
  const size_t bytes = collation.prefix_bytes(collation.handle, from, start.size(), part.chars_max);
  const size_t room = MakeRoom(part, bytes, scratch);
  auto* const weights = reinterpret_cast<uint8_t*>(scratch->data());
  size_t n = collation.weigh(collation.handle, 0, weights, room, from, bytes);
  const size_t settled = cut && collation.settled_bytes != nullptr
                             ? collation.settled_bytes(collation, from, bytes)
                             : bytes;
  if (settled < bytes) {
    std::string other(room, '\0');
    auto* const shorter = reinterpret_cast<uint8_t*>(other.data());
    const size_t made = collation.weigh(collation.handle, 0, shorter, room, from, settled);
    n = static_cast<size_t>(std::mismatch(weights, weights + std::min(n, made), shorter).first -
                            weights);
  }
  if (collation.pad[0].bytes != 0) {
    AppendPaddedStart(weights, n, collation.pad[0], key);
  } else {
    AppendEscapedStart(weights, n, key);
  }
  if (part.descending) Invert(key, begin);
}

bool SkipPart(const KeyPart& part, Slice* key) {
  const uint8_t flip = part.descending ? 0xff : 0;
  if (part.nullable) {
    if (key->empty()) return false;
    const uint8_t mark = ByteAt(*key, 0, flip);
    key->remove_prefix(1);
    if (mark == kNullMark) return true;
  }
  if (part.kind == PartKind::kBytes) return SkipEscaped(key, flip);
  if (part.kind == PartKind::kText) return SkipText(*part.collation, key, flip);
  const size_t n = FixedBytes(part);
  if (key->size() < n) return false;
  key->remove_prefix(n);
  return true;
}

Taken TakePart(const KeyPart& part, Slice* key, uint8_t* to, size_t to_bytes, size_t* length) {
  const uint8_t flip = part.descending ? 0xff : 0;
  if (part.nullable) {
    if (key->empty()) return Taken::kBad;
    const uint8_t mark = ByteAt(*key, 0, flip);
    key->remove_prefix(1);
    if (mark == kNullMark) return Taken::kNull;
  }
  if (part.kind == PartKind::kBytes) return TakeEscaped(key, flip, to, to_bytes, length);
  const size_t n = part.width;
  if (key->size() < n || to_bytes < n) return Taken::kBad;
  if (part.kind == PartKind::kRaw) {
    for (size_t i = 0; i < n; i++) to[i] = ByteAt(*key, i, flip);
  } else if (n == sizeof(uint32_t)) {
    TakeNumber<uint32_t>(part, key->data(), to);
  } else if (n == sizeof(uint64_t)) {
    TakeNumber<uint64_t>(part, key->data(), to);
  } else {
    for (size_t i = 0; i < n; i++) to[n - 1 - i] = ByteAt(*key, i, flip);
    if (part.kind == PartKind::kSigned) to[n - 1] ^= 0x80;
  }
  key->remove_prefix(n);
  *length = n;
  return Taken::kValue;
}

bool KeyAfterPrefix(Slice prefix, std::string* after) {
  after->assign(prefix);
  while (!after->empty()) {
    auto last = static_cast<uint8_t>(after->back());
    if (last != 0xff) {
      after->back() = static_cast<char>(last + 1);
      return true;
    }
    after->pop_back();
  }
  return false;
}

}  // namespace tidesdb::plugin
