#include "codec/key_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tidesdb::plugin {
namespace {

uint64_t Seed() {
  const char* text = std::getenv("TIDESDB_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20240229;
}

template <typename T>
std::string Raw(T value, size_t width = sizeof(T)) {
  return std::string(reinterpret_cast<const char*>(&value), width);
}

std::string Encode(const KeyPart& part, Slice raw) {
  std::string key;
  std::string scratch;
  EncodePart(part, raw, &key, &scratch);
  return key;
}

KeyPart Part(PartKind kind, uint32_t width, bool nullable = false, bool descending = false) {
  KeyPart part;
  part.kind = kind;
  part.width = width;
  part.chars_max = width;
  part.nullable = nullable;
  part.descending = descending;
  return part;
}

// A collation of letters without case with weights of two bytes, and one with weights of one byte.
size_t WeighWide(const void*, int, uint8_t* to, size_t, const uint8_t* from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    to[2 * i] = 1;
    to[2 * i + 1] = static_cast<uint8_t>(std::toupper(from[i]));
  }
  return 2 * n;
}
size_t WeighNarrow(const void*, int, uint8_t* to, size_t, const uint8_t* from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = static_cast<uint8_t>(std::toupper(from[i]));
  return n;
}
// Two levels: letters, then their case.
size_t WeighLevels(const void*, int level, uint8_t* to, size_t, const uint8_t* from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    to[i] = static_cast<uint8_t>(level == 0              ? std::toupper(from[i])
                                 : std::isupper(from[i]) ? 2
                                                         : 1);
  }
  return n;
}

Collation MakeCollation(decltype(Collation::weigh) weigh, uint8_t width, bool pad_space) {
  Collation collation;
  collation.weigh = weigh;
  collation.weights_bytes_max = [](const void*, size_t n) { return 2 * n; };
  collation.prefix_bytes = [](const void*, const uint8_t*, size_t n, uint32_t chars) {
    return std::min<size_t>(n, chars);
  };
  collation.trimmed_bytes = [](const void*, const uint8_t* from, size_t n) {
    while (n > 0 && from[n - 1] == ' ') n--;
    return n;
  };
  if (!pad_space) return collation;
  const uint8_t space = ' ';
  collation.pad[0].bytes = width;
  weigh(nullptr, 0, collation.pad[0].weights, 8, &space, 1);
  return collation;
}

int Sign(int value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

int Compare(const KeyPart& part, Slice a, Slice b) {
  std::string scratch;
  return Sign(ComparePart(part, a, b, &scratch));
}

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

// The comparison of SQL: with PAD SPACE the shorter text continues with spaces.
int CompareText(std::string a, std::string b, bool pad_space) {
  a = Upper(a);
  b = Upper(b);
  if (pad_space) {
    const size_t n = std::max(a.size(), b.size());
    a.resize(n, ' ');
    b.resize(n, ' ');
  }
  return Sign(a.compare(b));
}

TEST(KeyCodecTest, WholeNumbersOfEveryWidthKeepTheirOrderAndComeBack) {
  std::mt19937_64 random(Seed());
  for (const uint32_t width : {1u, 2u, 3u, 4u, 8u}) {
    for (const bool is_signed : {false, true}) {
      for (const bool descending : {false, true}) {
        const KeyPart part =
            Part(is_signed ? PartKind::kSigned : PartKind::kUnsigned, width, true, descending);
        for (int i = 0; i < 2000; i++) {
          const unsigned shift = 64 - 8 * width;
          const uint64_t a = random() >> shift;
          const uint64_t b = i % 3 == 0 ? a : random() >> shift;
          const std::string key_a = Encode(part, Raw(a, width));
          const std::string key_b = Encode(part, Raw(b, width));
          int wanted;
          if (is_signed) {
            const auto signed_a = static_cast<int64_t>(a << shift);
            const auto signed_b = static_cast<int64_t>(b << shift);
            wanted = signed_a < signed_b ? -1 : signed_a > signed_b;
          } else {
            wanted = a < b ? -1 : a > b;
          }
          ASSERT_EQ(Sign(key_a.compare(key_b)), descending ? -wanted : wanted) << width;
          ASSERT_EQ(Compare(part, Raw(a, width), Raw(b, width)), descending ? -wanted : wanted);
          Slice rest = key_a;
          uint64_t back = 0;
          size_t length = 0;
          ASSERT_EQ(TakePart(part, &rest, reinterpret_cast<uint8_t*>(&back), 8, &length),
                    Taken::kValue);
          ASSERT_EQ(back, a);
          ASSERT_TRUE(rest.empty());
        }
      }
    }
  }
}

TEST(KeyCodecTest, FloatingNumbersKeepTheirOrderAndMinusZeroIsZero) {
  const std::vector<double> values = {
      -std::numeric_limits<double>::max(), -1e10, -1.5, -1e-300, 0, 1e-300, 1.5, 1e10,
      std::numeric_limits<double>::max()};
  const KeyPart wide = Part(PartKind::kDouble, 8);
  const KeyPart narrow = Part(PartKind::kFloat, 4);
  for (size_t i = 1; i < values.size(); i++) {
    EXPECT_LT(Encode(wide, Raw(values[i - 1])), Encode(wide, Raw(values[i])));
    EXPECT_EQ(Compare(wide, Raw(values[i - 1]), Raw(values[i])), -1);
  }
  EXPECT_EQ(Compare(wide, Raw(0.0), Raw(-0.0)), 0);
  EXPECT_EQ(Encode(wide, Raw(0.0)), Encode(wide, Raw(-0.0)));
  EXPECT_EQ(Encode(narrow, Raw(0.0F)), Encode(narrow, Raw(-0.0F)));
  EXPECT_LT(Encode(narrow, Raw(-2.5F)), Encode(narrow, Raw(-2.0F)));
}

TEST(KeyCodecTest, NullComesFirstAndLastWhenDescending) {
  for (const bool descending : {false, true}) {
    const KeyPart part = Part(PartKind::kUnsigned, 4, true, descending);
    std::string null;
    EncodeNull(part, &null);
    const std::string zero = Encode(part, Raw(uint32_t{0}));
    const std::string most = Encode(part, Raw(~uint32_t{0}));
    EXPECT_EQ(null < zero, !descending);
    EXPECT_EQ(null < most, !descending);
    Slice rest = null;
    uint8_t value[4];
    size_t length;
    EXPECT_EQ(TakePart(part, &rest, value, 4, &length), Taken::kNull);
    EXPECT_TRUE(rest.empty());
  }
}

TEST(KeyCodecTest, BytesKeepTheirOrderAndEndWhereTheyEnd) {
  std::mt19937_64 random(Seed());
  for (const bool descending : {false, true}) {
    const KeyPart part = Part(PartKind::kBytes, 40, false, descending);
    for (int i = 0; i < 5000; i++) {
      std::string a;
      std::string b;
      const auto byte = [&] { return static_cast<char>(random() % 3 == 0 ? 0xff : random() % 2); };
      for (uint64_t n = random() % 12; n > 0; n--) a.push_back(byte());
      b = a.substr(0, random() % (a.size() + 1));
      for (uint64_t n = random() % 3; n > 0; n--) b.push_back(byte());
      const std::string key_a = Encode(part, a) + "tail";
      const std::string key_b = Encode(part, b);
      const int wanted = Sign(a.compare(b));
      ASSERT_EQ(Compare(part, a, b), descending ? -wanted : wanted);
      if (wanted != 0) {
        ASSERT_EQ(Sign(key_a.compare(key_b)), descending ? -wanted : wanted);
      }
      Slice rest = key_a;
      uint8_t back[40];
      size_t length = 0;
      ASSERT_EQ(TakePart(part, &rest, back, sizeof back, &length), Taken::kValue);
      ASSERT_EQ(std::string(reinterpret_cast<char*>(back), length), a);
      ASSERT_EQ(rest, "tail");
      rest = key_a;
      ASSERT_TRUE(SkipPart(part, &rest));
      ASSERT_EQ(rest, "tail");
    }
  }
}

TEST(KeyCodecTest, TextIsOrderedByItsCollation) {
  std::mt19937_64 random(Seed());
  const Collation collations[] = {
      MakeCollation(WeighWide, 2, true), MakeCollation(WeighNarrow, 1, true),
      MakeCollation(WeighWide, 2, false), MakeCollation(WeighNarrow, 1, false)};
  const char letters[] = "aAbB  \t!z";
  for (const Collation& collation : collations) {
    for (const bool descending : {false, true}) {
      KeyPart part = Part(PartKind::kText, 0, true, descending);
      part.collation = &collation;
      part.chars_max = 100;
      for (int i = 0; i < 10000; i++) {
        std::string a;
        for (uint64_t n = random() % 20; n > 0; n--) a.push_back(letters[random() % 9]);
        std::string b = a.substr(0, random() % (a.size() + 1));
        for (uint64_t n = random() % 4; n > 0; n--) b.push_back(letters[random() % 9]);
        const int wanted = CompareText(a, b, collation.pad[0].bytes != 0);
        const std::string key_a = Encode(part, a);
        const std::string key_b = Encode(part, b);
        ASSERT_EQ(Sign(key_a.compare(key_b)), descending ? -wanted : wanted)
            << "<" << a << "> <" << b << ">";
        ASSERT_EQ(Compare(part, a, b), descending ? -wanted : wanted);
        const std::string with_tail = key_a + "tail";
        Slice rest = with_tail;
        ASSERT_TRUE(SkipPart(part, &rest));
        ASSERT_EQ(rest, "tail");
      }
    }
  }
}

TEST(KeyCodecTest, ALowerLevelDecidesOnlyBetweenEqualsOfTheOneAbove) {
  Collation collation = MakeCollation(WeighLevels, 1, true);
  collation.levels = 2;
  collation.pad[1].bytes = 1;
  collation.pad[1].weights[0] = 1;
  KeyPart part = Part(PartKind::kText, 0);
  part.collation = &collation;
  part.chars_max = 100;
  EXPECT_LT(Encode(part, "abc"), Encode(part, "abC"));
  EXPECT_LT(Encode(part, "abC"), Encode(part, "abd"));
  EXPECT_LT(Encode(part, "Ab"), Encode(part, "abc"));
  EXPECT_EQ(Encode(part, "ab"), Encode(part, "ab  "));
  const std::string key = Encode(part, "some Text that is longer") + "tail";
  Slice rest = key;
  ASSERT_TRUE(SkipPart(part, &rest));
  EXPECT_EQ(rest, "tail");
}

// Letters, then accents, which have no weight at the first level.
size_t WeighAccents(const void*, int level, uint8_t* to, size_t, const uint8_t* from, size_t n) {
  size_t made = 0;
  for (size_t i = 0; i < n; i++) {
    if (level == 1) {
      to[made++] = from[i] == '\'' ? 1 : 2;
    } else if (from[i] != '\'') {
      to[made++] = from[i];
    }
  }
  return made;
}

TEST(KeyCodecTest, ALevelIsPaddedByItself) {
  Collation collation = MakeCollation(WeighAccents, 1, false);
  collation.levels = 2;
  collation.pad[1].bytes = 1;
  collation.pad[1].weights[0] = 2;
  KeyPart part = Part(PartKind::kText, 0);
  part.collation = &collation;
  part.chars_max = 100;
  EXPECT_LT(Encode(part, "a"), Encode(part, "a "));
  EXPECT_LT(Encode(part, "a"), Encode(part, "a\t"));
  EXPECT_LT(Encode(part, "a'"), Encode(part, "a"));
  EXPECT_LT(Encode(part, "a'"), Encode(part, "a\t"));
  const std::string key = Encode(part, "a' longer than a group' ") + "tail";
  Slice rest = key;
  ASSERT_TRUE(SkipPart(part, &rest));
  EXPECT_EQ(rest, "tail");
}

TEST(KeyCodecTest, PrefixesCutCharactersAndTrimmedSpacesDoNotCount) {
  const Collation collation = MakeCollation(WeighNarrow, 1, false);
  KeyPart part = Part(PartKind::kText, 0);
  part.collation = &collation;
  part.chars_max = 3;
  EXPECT_EQ(Encode(part, "abcdef"), Encode(part, "ABCxyz"));
  part.chars_max = 10;
  EXPECT_NE(Encode(part, "ab"), Encode(part, "ab  "));
  part.trim_spaces = true;
  EXPECT_EQ(Encode(part, "ab"), Encode(part, "ab  "));
}

// "$" sorts as two letters s, "'" has no weight, and "ch" is one letter, after h.
size_t WeighLetters(const void*, int, uint8_t* to, size_t room, const uint8_t* from, size_t n) {
  size_t made = 0;
  const auto put = [&](int weight) {
    if (made < room) to[made++] = static_cast<uint8_t>(weight);
  };
  for (size_t i = 0; i < n; i++) {
    const bool two = i + 1 < n && from[i] == 'c' && from[i + 1] == 'h';
    if (from[i] == '\'') continue;
    if (from[i] == '$') put(2 * 's');
    put(from[i] == '$' ? 2 * 's' : two ? 2 * 'h' + 1 : 2 * from[i]);
    if (two) i++;
  }
  return made;
}

std::string Letters(const std::string& text, bool pad_space) {
  std::string weights(2 * text.size() + 40, '\0');
  weights.resize(WeighLetters(nullptr, 0, reinterpret_cast<uint8_t*>(weights.data()),
                              weights.size(), reinterpret_cast<const uint8_t*>(text.data()),
                              text.size()));
  if (pad_space) weights.resize(64, static_cast<char>(2 * ' '));
  return weights;
}

// The range from a text's first characters must cover all texts that start with them.
TEST(KeyCodecTest, WeightsOfAStartGoWithTheOrderOfWholeTexts) {
  std::mt19937_64 random(Seed());
  for (const bool pads : {false, true}) {
    Collation collation = MakeCollation(WeighLetters, 1, pads);
    if (pads) collation.pad[0].weights[0] = 2 * ' ';
    collation.settled_bytes = [](const Collation&, const uint8_t* from, size_t n) {
      return n > 0 && from[n - 1] == 'c' ? n - 1 : n;
    };
    KeyPart part = Part(PartKind::kText, 0, true);
    part.collation = &collation;
    const auto draw = [&] {
      std::string text(random() % 14, '\0');
      for (char& c : text) c = "abchs$' \t"[random() % 9];
      return text;
    };
    for (int i = 0; i < 200000; i++) {
      part.chars_max = static_cast<uint32_t>(1 + random() % 12);
      part.weights_max = part.chars_max;
      part.descending = random() % 2 == 0;
      const std::string a = draw();
      std::string b = draw();
      if (random() % 2 == 0) b = a.substr(0, random() % (a.size() + 1)) + b;
      const int wanted = Sign(Letters(a, pads).compare(Letters(b, pads)));
      const std::string key = Encode(part, a);
      const int got = Sign(key.compare(Encode(part, b))) * (part.descending ? -1 : 1);
      ASSERT_TRUE(got == 0 || got == wanted)
          << "\"" << a << "\" and \"" << b << "\", seed " << Seed();
      Slice rest = key;
      ASSERT_TRUE(SkipPart(part, &rest));
      ASSERT_TRUE(rest.empty());
      // Of equal texts, both must start with the bytes of either's first characters.
      std::string start;
      std::string scratch;
      EncodeStart(part, Slice(a).substr(0, part.chars_max), true, &start, &scratch);
      if (a.size() < part.chars_max) continue;
      ASSERT_TRUE(Slice(key).starts_with(start)) << "\"" << a << "\", seed " << Seed();
      if (wanted != 0) continue;
      ASSERT_TRUE(Slice(Encode(part, b)).starts_with(start)) << a << " and " << b;
    }
  }
}

TEST(KeyCodecTest, DamagedBytesAreRefused) {
  std::mt19937_64 random(Seed());
  const Collation collation = MakeCollation(WeighWide, 2, true);
  KeyPart parts[] = {Part(PartKind::kUnsigned, 4, true), Part(PartKind::kBytes, 10),
                     Part(PartKind::kText, 0), Part(PartKind::kRaw, 7), Part(PartKind::kDouble, 8)};
  parts[2].collation = &collation;
  uint8_t value[10];
  size_t length;
  for (const KeyPart& part : parts) {
    Slice nothing;
    EXPECT_FALSE(SkipPart(part, &nothing));
    for (int i = 0; i < 2000; i++) {
      std::string bytes(random() % 30, '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      Slice key = bytes;
      SkipPart(part, &key);
      key = bytes;
      if (IsReversible(part.kind)) TakePart(part, &key, value, sizeof value, &length);
    }
  }
}

TEST(KeyCodecTest, KeyAfterPrefixIsTheSmallestBeyondIt) {
  std::string after;
  ASSERT_TRUE(KeyAfterPrefix("ab", &after));
  EXPECT_EQ(after, "ac");
  ASSERT_TRUE(KeyAfterPrefix(Slice("a\xff\xff", 3), &after));
  EXPECT_EQ(after, "b");
  EXPECT_FALSE(KeyAfterPrefix(Slice("\xff\xff", 2), &after));
  EXPECT_FALSE(KeyAfterPrefix("", &after));
}

}  // namespace
}  // namespace tidesdb::plugin
