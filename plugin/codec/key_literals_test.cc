#include "codec/key_literals.h"

#include <gtest/gtest.h>

#include <string>

namespace tidesdb::plugin {
namespace {

LiteralPart Part(PartKind kind, LiteralKind literal, uint32_t width, bool nullable = false) {
  LiteralPart part;
  part.key.kind = kind;
  part.key.width = width;
  part.key.chars_max = width;
  part.key.nullable = nullable;
  part.kind = literal;
  return part;
}

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

// Encodes one value in a key and shows it.
std::string Told(const LiteralPart& part, Slice raw) {
  KeyShape shape;
  shape.parts.push_back(part);
  std::string key;
  std::string scratch;
  EncodePart(part.key, raw, &key, &scratch);
  return KeyLiterals(shape, key);
}

TEST(KeyLiterals, Numbers) {
  EXPECT_EQ(Told(Part(PartKind::kSigned, LiteralKind::kNumber, 4), Bytes({0xfb, 0xff, 0xff, 0xff})),
            "-5");
  EXPECT_EQ(
      Told(Part(PartKind::kUnsigned, LiteralKind::kNumber, 4), Bytes({0xfb, 0xff, 0xff, 0xff})),
      "4294967291");
  EXPECT_EQ(Told(Part(PartKind::kSigned, LiteralKind::kNumber, 8), std::string(8, '\xff')), "-1");
  LiteralPart descending = Part(PartKind::kSigned, LiteralKind::kNumber, 1, true);
  descending.key.descending = true;
  EXPECT_EQ(Told(descending, Bytes({7})), "7");
  EXPECT_EQ(Told(Part(PartKind::kUnsigned, LiteralKind::kYear, 1), Bytes({126})), "2026");
}

TEST(KeyLiterals, TimesAndDecimals) {
  // The bytes that Field_newdate, Field_datetimef, Field_timef and Field_new_decimal store.
  EXPECT_EQ(Told(Part(PartKind::kUnsigned, LiteralKind::kDate, 3), Bytes({0x7a, 0xd5, 0x0f})),
            "'2026-11-26'");
  LiteralPart time = Part(PartKind::kRaw, LiteralKind::kTime, 3);
  EXPECT_EQ(Told(time, Bytes({0x80, 0xa1, 0x05})), "'10:04:05'");
  EXPECT_EQ(Told(time, Bytes({0x7f, 0x5e, 0xfb})), "'-10:04:05'");
  LiteralPart datetime = Part(PartKind::kRaw, LiteralKind::kDateTime, 7);
  datetime.scale = 3;
  EXPECT_EQ(Told(datetime, Bytes({0x99, 0xbb, 0x74, 0xa1, 0x05, 0x04, 0xce})),
            "'2026-11-26 10:04:05.123'");
  LiteralPart decimal = Part(PartKind::kRaw, LiteralKind::kDecimal, 5);
  decimal.precision = 10;
  decimal.scale = 2;
  EXPECT_EQ(Told(decimal, Bytes({0x80, 0x00, 0x04, 0xd2, 0x32})), "1234.50");
  EXPECT_EQ(Told(decimal, Bytes({0x7f, 0xff, 0xfb, 0x2d, 0xcd})), "-1234.50");
  EXPECT_EQ(Told(decimal, Bytes({0x80, 0x00, 0x00, 0x00, 0x05})), "0.05");
}

TEST(KeyLiterals, Texts) {
  const LiteralPart bytes = Part(PartKind::kBytes, LiteralKind::kBytes, 300);
  EXPECT_EQ(Told(bytes, "abc"), "'abc'");
  EXPECT_EQ(Told(bytes, "it's"), "X'69742773'");
  EXPECT_EQ(Told(bytes, Bytes({0, 255})), "X'00FF'");
  EXPECT_EQ(HexLiteral(std::string(300, 'a')).size(), 2 + 512 + 4);
}

TEST(KeyLiterals, SeveralPartsAndTheirStarts) {
  KeyShape shape;
  shape.parts.push_back(Part(PartKind::kSigned, LiteralKind::kNumber, 4, true));
  shape.parts.push_back(Part(PartKind::kBytes, LiteralKind::kBytes, 10));
  std::string key;
  std::string scratch;
  EncodeNull(shape.parts[0].key, &key);
  EXPECT_EQ(KeyLiterals(shape, key), "NULL");
  EncodePart(shape.parts[1].key, "x", &key, &scratch);
  EXPECT_EQ(KeyLiterals(shape, key), "NULL, 'x'");
  EXPECT_EQ(KeyLiterals(shape, Slice(key).substr(0, key.size() - 1)), "NULL, X'7800'");
  EXPECT_EQ(KeyLiterals(shape, key + '\1'), "NULL, 'x', X'01'");
  EXPECT_EQ(KeyLiterals(shape, ""), "");
}

}  // namespace
}  // namespace tidesdb::plugin
