#include "codec/key_literals.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace tidesdb::plugin {
namespace {

constexpr size_t kBytesShown = 256;

uint64_t LittleEndian(Slice raw) {
  uint64_t number = 0;
  for (size_t i = raw.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(raw[i]);
  return number;
}

uint64_t BigEndian(Slice raw) {
  uint64_t number = 0;
  for (const char byte : raw) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char text[96];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

std::string Number(const KeyPart& part, Slice raw) {
  const uint64_t number = LittleEndian(raw);
  if (part.kind == PartKind::kUnsigned) return std::to_string(number);
  const auto shift = static_cast<unsigned>(64 - 8 * raw.size());
  return std::to_string(static_cast<int64_t>(number << shift) >> shift);
}

std::string Fraction(uint64_t number, uint32_t digits) {
  if (digits == 0) return "";
  return Format(".%0*" PRIu64, static_cast<int>(digits), number);
}

// The bytes after the seconds hold an even number of digits.
std::string Fraction(Slice bytes, uint32_t digits) {
  uint64_t number = BigEndian(bytes);
  if (digits % 2 == 1) number /= 10;
  return Fraction(number, digits);
}

// 40 bits from the top: not negative, year * 13 + month, day, hour, minute, second.
std::string DateTime(Slice raw, uint32_t scale) {
  if (raw.size() < 5) return HexLiteral(raw);
  const uint64_t bits = BigEndian(raw.substr(0, 5)) & ~(uint64_t{1} << 39);
  const uint64_t day = bits >> 17;
  const uint64_t months = day >> 5;
  return Format("'%04" PRIu64 "-%02" PRIu64 "-%02" PRIu64 " %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
                months / 13, months % 13, day & 31, (bits >> 12) & 31, (bits >> 6) & 63,
                bits & 63) +
         Fraction(raw.substr(5), scale) + "'";
}

// 24 bits around the middle, with the fraction: hour, minute, second.
std::string Time(Slice raw, uint32_t scale) {
  if (raw.size() < 3 || raw.size() > 6) return HexLiteral(raw);
  const auto behind = static_cast<unsigned>(8 * (raw.size() - 3));
  auto offset =
      static_cast<int64_t>(BigEndian(raw)) - static_cast<int64_t>(uint64_t{0x800000} << behind);
  const bool negative = offset < 0;
  if (negative) offset = -offset;
  const uint64_t seconds = static_cast<uint64_t>(offset) >> behind;
  uint64_t fraction = static_cast<uint64_t>(offset) & ((uint64_t{1} << behind) - 1);
  if (scale % 2 == 1) fraction /= 10;
  return Format("'%s%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, negative ? "-" : "",
                (seconds >> 12) & 1023, (seconds >> 6) & 63, seconds & 63) +
         Fraction(fraction, scale) + "'";
}

// Takes the next group of up to 9 digits off the bytes.
bool TakeDigits(uint32_t digits, Slice* bytes, std::string* text) {
  constexpr uint8_t kBytesOf[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
  const size_t n = kBytesOf[digits];
  if (bytes->size() < n) return false;
  *text += Format("%0*" PRIu64, static_cast<int>(digits), BigEndian(bytes->substr(0, n)));
  bytes->remove_prefix(n);
  return true;
}

// Groups of 9 digits around the point in big-endian bytes; the sign is the first bit, and the
// bytes of a negative number are inverted.
std::string Decimal(Slice raw, uint32_t precision, uint32_t scale) {
  if (raw.empty() || precision < scale) return HexLiteral(raw);
  std::string bytes(raw);
  const bool negative = (bytes[0] & 0x80) == 0;
  bytes[0] = static_cast<char>(bytes[0] ^ 0x80);
  if (negative) {
    for (char& byte : bytes) byte = static_cast<char>(~byte);
  }
  Slice rest = bytes;
  std::string text;
  const uint32_t whole = precision - scale;
  bool good = whole % 9 == 0 || TakeDigits(whole % 9, &rest, &text);
  for (uint32_t i = 0; i < whole / 9; ++i) good = good && TakeDigits(9, &rest, &text);
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  if (text.empty()) text = "0";
  if (scale > 0) text += ".";
  for (uint32_t i = 0; i < scale / 9; ++i) good = good && TakeDigits(9, &rest, &text);
  if (scale % 9 != 0) good = good && TakeDigits(scale % 9, &rest, &text);
  return good ? (negative ? "-" : "") + text : HexLiteral(raw);
}

std::string Bytes(Slice raw) {
  const bool text = std::all_of(raw.begin(), raw.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '\'' && c != '\\';
  });
  if (!text || raw.size() > kBytesShown) return HexLiteral(raw);
  return "'" + std::string(raw) + "'";
}

std::string Literal(const LiteralPart& part, Slice raw) {
  switch (part.kind) {
    case LiteralKind::kNumber:
      return Number(part.key, raw);
    case LiteralKind::kYear:
      return std::to_string(LittleEndian(raw) == 0 ? 0 : LittleEndian(raw) + 1900);
    case LiteralKind::kDate: {
      const uint64_t date = LittleEndian(raw);
      return Format("'%04" PRIu64 "-%02" PRIu64 "-%02" PRIu64 "'", date >> 9, (date >> 5) & 15,
                    date & 31);
    }
    case LiteralKind::kDateTime:
      return DateTime(raw, part.scale);
    case LiteralKind::kTime:
      return Time(raw, part.scale);
    case LiteralKind::kDecimal:
      return Decimal(raw, part.precision, part.scale);
    case LiteralKind::kBytes:
    case LiteralKind::kWeights:
      break;
  }
  return Bytes(raw);
}

// Takes one part off key. False if the part is incomplete.
bool TakeLiteral(const LiteralPart& part, Slice* key, std::string* literal) {
  Slice rest = *key;
  if (!IsReversible(part.key.kind)) {
    if (!SkipPart(part.key, &rest)) return false;
    std::string null;
    EncodeNull(part.key, &null);
    const Slice taken = key->substr(0, key->size() - rest.size());
    *literal = part.key.nullable && taken == Slice(null) ? "NULL" : "weights " + HexLiteral(taken);
    *key = rest;
    return true;
  }
  std::string raw(std::max<size_t>(rest.size(), part.key.width), '\0');
  size_t length = 0;
  const Taken taken =
      TakePart(part.key, &rest, reinterpret_cast<uint8_t*>(raw.data()), raw.size(), &length);
  if (taken == Taken::kBad) return false;
  *literal = taken == Taken::kNull ? "NULL" : Literal(part, Slice(raw).substr(0, length));
  *key = rest;
  return true;
}

}  // namespace

std::string HexLiteral(Slice bytes) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string text = "X'";
  for (const char c : bytes.substr(0, kBytesShown)) {
    text += kHex[static_cast<uint8_t>(c) >> 4];
    text += kHex[static_cast<uint8_t>(c) & 15];
  }
  return text + (bytes.size() > kBytesShown ? "...'" : "'");
}

std::string KeyLiterals(const KeyShape& shape, Slice key) {
  std::string text;
  for (const LiteralPart& part : shape.parts) {
    std::string literal;
    if (key.empty() || !TakeLiteral(part, &key, &literal)) break;
    text += (text.empty() ? "" : ", ") + literal;
  }
  if (!key.empty()) text += (text.empty() ? "" : ", ") + HexLiteral(key);
  return text;
}

}  // namespace tidesdb::plugin
