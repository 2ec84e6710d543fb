#include "format/table_format.h"
#include "base/test_hex.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/random.h"

namespace tidesdb {
namespace {

constexpr uint64_t kFileBytes = 1000;
// Of a file of kFileBytes: the footer at 944, the properties (100 bytes) at 835, the top index (26)
// at 800.
constexpr TableFooter kFooter = {{800, 26}, {835, 100}};

std::string Footer() {
  std::string bytes;
  PutTableFooter(&bytes, kFooter);
  return bytes;
}

TEST(TableFooterTest, Golden) {
  EXPECT_EQ(Hex(Footer()),
            "2003000000000000"
            "1a00000000000000"
            "4303000000000000"
            "6400000000000000"
            "01000000"
            "38000000"
            "ff527908574ffaff"
            "54494445"
            "5354424c");
  EXPECT_EQ(Footer().substr(48), "TIDESTBL");
}

TEST(TableFooterTest, RoundTrip) {
  TableFooter footer;
  ASSERT_TRUE(DecodeTableFooter(Footer(), kFileBytes, "f", &footer).ok());
  EXPECT_EQ(footer.top_index, kFooter.top_index);
  EXPECT_EQ(footer.properties, kFooter.properties);
  // After other bytes, because a reader reads more of the file at once.
  ASSERT_TRUE(DecodeTableFooter("more" + Footer(), kFileBytes, "f", &footer).ok());
}

TEST(TableFooterTest, EveryFlippedBitIsCorruption) {
  const std::string footer = Footer();
  for (size_t bit = 0; bit < footer.size() * 8; ++bit) {
    std::string damaged = footer;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
    TableFooter out;
    const Status status = DecodeTableFooter(damaged, kFileBytes, "f", &out);
    EXPECT_EQ(status.code(), Code::kCorruption) << bit << " " << status.ToString();
  }
}

TEST(TableFooterTest, NewerVersionIsRefusedByName) {
  // A version 2 with a longer footer; only the last 24 bytes are the same.
  std::string newer(60, 'n');
  newer.append("\x02\0\0\0", 4);
  PutFixed32(&newer, 84);
  PutFixed64(&newer, Checksum64(newer));
  PutFixed64(&newer, kTableMagic);
  TableFooter out;
  const Status status = DecodeTableFooter(newer, kFileBytes, "000012.tdb", &out);
  EXPECT_EQ(status.code(), Code::kNotSupported);
  EXPECT_EQ(status.message(),
            "000012.tdb at offset 976: table format version 2 is newer than this program's (1)");
}

TEST(TableFooterTest, ShortFilesAndWrongPlaces) {
  TableFooter out;
  for (size_t n = 0; n < kTableFooterBytes; ++n) {
    const std::string part = Footer().substr(kTableFooterBytes - n);
    EXPECT_EQ(DecodeTableFooter(part, n, "f", &out).code(), Code::kCorruption);
  }
  // A footer of a longer or shorter file.
  EXPECT_EQ(DecodeTableFooter(Footer(), kFileBytes + 1, "f", &out).code(), Code::kCorruption);
  EXPECT_EQ(DecodeTableFooter(Footer(), kFileBytes - 1, "f", &out).code(), Code::kCorruption);
  EXPECT_EQ(DecodeTableFooter(Footer(), kTableFooterBytes, "f", &out).code(), Code::kCorruption);
  // Numbers whose sum overflows, with a correct seal.
  for (const TableFooter& wrong :
       {TableFooter{{UINT64_MAX, 26}, {835, 100}}, TableFooter{{800, UINT64_MAX - 799}, {835, 100}},
        TableFooter{{800, 26}, {UINT64_MAX - 8, 944}}, TableFooter{{800, 26}, {835, UINT64_MAX}}}) {
    std::string bytes;
    PutTableFooter(&bytes, wrong);
    EXPECT_EQ(DecodeTableFooter(bytes, kFileBytes, "f", &out).code(), Code::kCorruption);
  }
}

TableProperties Properties() {
  TableProperties p;
  p.family = 7;
  p.entries = 1000;
  p.keys = 900;
  p.tombstones = 50;
  p.raw_key_bytes = 12345;
  p.raw_value_bytes = 1 << 30;
  p.data_blocks = 20;
  p.sequence_min = 5;
  p.sequence_max = kSequenceMax;
  p.tombstone_sequence_min = 6;
  p.key_min = std::string("a\0b", 3);
  p.key_max = "zz";
  return p;
}

TEST(TablePropertiesTest, GoldenAndRoundTrip) {
  std::string bytes;
  PutTableProperties(&bytes, Properties());
  EXPECT_EQ(Hex(bytes),
            "07"
            "e807"
            "8407"
            "32"
            "b960"
            "8080808004"
            "14"
            "05"
            "ffffffffffffff7f"
            "06"
            "03610062"
            "027a7a");
  Slice in = bytes;
  TableProperties out;
  ASSERT_TRUE(GetTableProperties(&in, &out));
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(out, Properties());
  for (size_t n = 0; n < bytes.size(); ++n) {
    in = Slice(bytes).substr(0, n);
    EXPECT_FALSE(GetTableProperties(&in, &out)) << n;
    EXPECT_EQ(in.size(), n);
  }
}

TEST(BlockHandleTest, RoundTripAndLimits) {
  for (const BlockHandle handle :
       {BlockHandle{0, 0}, BlockHandle{1, 2}, BlockHandle{1ull << 40, 70000},
        BlockHandle{INT64_MAX, UINT32_MAX}}) {
    std::string bytes;
    PutBlockHandle(&bytes, handle);
    Slice in = bytes;
    BlockHandle out;
    ASSERT_TRUE(GetBlockHandle(&in, &out));
    EXPECT_EQ(out, handle);
    EXPECT_GT(out.end(), out.offset);
  }
  for (const BlockHandle handle : {BlockHandle{1ull << 63, 0}, BlockHandle{0, 1ull << 32}}) {
    std::string bytes;
    PutBlockHandle(&bytes, handle);
    Slice in = bytes;
    BlockHandle out;
    EXPECT_FALSE(GetBlockHandle(&in, &out));
  }
  PartitionHandles handles = {{10, 20}, {30, 40}};
  std::string bytes;
  PutPartitionHandles(&bytes, handles);
  PartitionHandles out;
  ASSERT_TRUE(GetPartitionHandles(bytes, &out));
  EXPECT_EQ(out.index, handles.index);
  EXPECT_EQ(out.filter, handles.filter);
  EXPECT_FALSE(GetPartitionHandles(bytes + "x", &out));
}

TEST(TableFormatTest, RandomBytesDoNoHarm) {
  Random random(5);
  for (int i = 0; i < 50000; ++i) {
    std::string bytes(random.Uniform(120), '\0');
    for (char& c : bytes) c = static_cast<char>(random.Next());
    Slice in = bytes;
    TableProperties properties;
    (void)GetTableProperties(&in, &properties);
    PartitionHandles handles;
    (void)GetPartitionHandles(bytes, &handles);
    // Passes magic and length, to reach the checksum.
    if (bytes.size() >= kTableTailBytes) {
      EncodeFixed64(bytes.data() + bytes.size() - 8, kTableMagic);
      bytes[bytes.size() - 20] = static_cast<char>(random.Uniform(130));
      bytes[bytes.size() - 19] = bytes[bytes.size() - 18] = bytes[bytes.size() - 17] = 0;
    }
    TableFooter footer;
    EXPECT_FALSE(DecodeTableFooter(bytes, bytes.size(), "f", &footer).ok());
  }
}

}  // namespace
}  // namespace tidesdb
