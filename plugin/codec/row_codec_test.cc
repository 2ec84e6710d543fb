#include "codec/row_codec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace tidesdb::plugin {
namespace {

// A record: 1 byte of null bits, INT, CHAR(10), VARCHAR(20), VARCHAR(300), BLOB, an INT that is not
// stored, BIGINT.
constexpr uint32_t kRecordBytes = 1 + 4 + 10 + 21 + 302 + 12 + 4 + 8;

std::vector<Column> Columns() {
  std::vector<Column> columns(7);
  uint32_t offset = 1;
  const auto place = [&](Column* column, Column::Layout layout, uint32_t bytes,
                         uint8_t length_bytes, uint32_t total) {
    column->layout = layout;
    column->bytes = bytes;
    column->length_bytes = length_bytes;
    column->offset = offset;
    offset += total;
  };
  place(&columns[0], Column::Layout::kFixed, 4, 0, 4);
  place(&columns[1], Column::Layout::kPadded, 10, 0, 10);
  columns[1].pad = ' ';
  place(&columns[2], Column::Layout::kVarying, 20, 1, 21);
  place(&columns[3], Column::Layout::kVarying, 300, 2, 302);
  place(&columns[4], Column::Layout::kBlob, 12, 4, 12);
  place(&columns[5], Column::Layout::kFixed, 4, 0, 4);
  columns[5].stored = false;
  place(&columns[6], Column::Layout::kFixed, 8, 0, 8);
  for (size_t i = 0; i < columns.size(); i++) {
    if (i == 0) continue;
    columns[i].null_mask = static_cast<uint8_t>(1 << i);
  }
  return columns;
}

struct Row {
  int32_t number = 0;
  std::string padded, small, large, blob;
  int64_t wide = 0;
  uint8_t nulls = 0;
};

std::string Record(const std::vector<Column>& columns, const Row& row) {
  std::string record(kRecordBytes, '\xee');
  auto* bytes = reinterpret_cast<uint8_t*>(record.data());
  bytes[0] = row.nulls;
  memcpy(bytes + columns[0].offset, &row.number, 4);
  EXPECT_TRUE(StoreRawValue(columns[1], row.padded, bytes));
  EXPECT_TRUE(StoreRawValue(columns[2], row.small, bytes));
  EXPECT_TRUE(StoreRawValue(columns[3], row.large, bytes));
  EXPECT_TRUE(StoreRawValue(columns[4], row.blob, bytes));
  memcpy(bytes + columns[6].offset, &row.wide, 8);
  return record;
}

// The record of defaults: the column that is not stored is NULL, and an unused bit is set.
const uint8_t* Defaults() {
  static const std::string defaults = [] {
    Row row;
    row.small = "def";
    row.nulls = 0x21;
    std::string record = Record(Columns(), row);
    const char* nowhere = nullptr;
    memcpy(record.data() + Columns()[4].offset + 4, &nowhere, sizeof nowhere);
    return record;
  }();
  return reinterpret_cast<const uint8_t*>(defaults.data());
}

Row RandomRow(std::mt19937_64* random) {
  Row row;
  const auto text = [&](uint64_t max) {
    std::string value((*random)() % (max + 1), '\0');
    for (char& c : value) c = static_cast<char>('a' + (*random)() % 26);
    return value;
  };
  row.number = static_cast<int32_t>((*random)());
  row.wide = static_cast<int64_t>((*random)());
  row.padded = text(10);
  row.small = text(20);
  row.large = text(300);
  row.blob = text((*random)() % 10 == 0 ? 100000 : 50);
  row.nulls = static_cast<uint8_t>((*random)() & (*random)() & 0xfe);
  return row;
}

TEST(RowCodecTest, WhatIsWantedComesBackAndNothingElseIsTouched) {
  const char* text = std::getenv("TIDESDB_SEED");
  std::mt19937_64 random(text != nullptr ? std::strtoull(text, nullptr, 10) : 7);
  const std::vector<Column> columns = Columns();
  RowCodec codec;
  codec.Build(columns, 1, Defaults());
  EXPECT_TRUE(codec.has_blobs());
  std::string bytes;
  std::vector<ApartValue> apart;
  for (int i = 0; i < 3000; i++) {
    const Row row = RandomRow(&random);
    const std::string record = Record(columns, row);
    codec.Encode(reinterpret_cast<const uint8_t*>(record.data()), &bytes);
    std::vector<bool> wanted;
    for (size_t c = 0; c < columns.size(); c++) wanted.push_back(random() % 2 == 0);
    RowPlan plan;
    plan.Build(codec, wanted);
    std::string back(kRecordBytes, '\x11');
    auto* to = reinterpret_cast<uint8_t*>(back.data());
    const Status decoded = plan.Decode(bytes, to, &apart);
    ASSERT_TRUE(decoded.ok()) << decoded.ToString();
    uint8_t nulls = 0x21;
    for (size_t c = 0; c < columns.size(); c++) {
      if (!wanted[c] || !columns[c].stored || columns[c].null_mask == 0) continue;
      nulls = static_cast<uint8_t>((nulls & ~columns[c].null_mask) |
                                   (row.nulls & columns[c].null_mask));
    }
    EXPECT_EQ(to[0], nulls);
    const auto* from = reinterpret_cast<const uint8_t*>(record.data());
    for (size_t c = 0; c < columns.size(); c++) {
      const Column& column = columns[c];
      if (wanted[c] && column.stored && !IsNull(column, from)) {
        ASSERT_EQ(RawValue(column, to), RawValue(column, from)) << c;
      } else if (wanted[c] && column.stored) {
        ASSERT_EQ(RawValue(column, to), RawValue(column, Defaults())) << c;
      } else if (!wanted[c]) {
        ASSERT_EQ(back[column.offset], '\x11') << c;
      }
    }
  }
}

TEST(RowCodecTest, RowsAreTheSameByTheirStoredColumns) {
  std::mt19937_64 random(5);
  const std::vector<Column> columns = Columns();
  RowCodec codec;
  codec.Build(columns, 1, Defaults());
  const auto same = [&](const std::string& a, const std::string& b) {
    return codec.SameRow(reinterpret_cast<const uint8_t*>(a.data()),
                         reinterpret_cast<const uint8_t*>(b.data()));
  };
  Row row = RandomRow(&random);
  row.nulls = 0x10;  // The blob.
  const std::string record = Record(columns, row);
  Row other = row;
  other.blob = "whatever";
  other.nulls ^= 0x20;  // The column that is not stored.
  EXPECT_TRUE(same(record, Record(columns, other)));
  other.nulls ^= 0x10;
  EXPECT_FALSE(same(record, Record(columns, other)));
  other = row;
  other.wide++;
  EXPECT_FALSE(same(record, Record(columns, other)));
  other = row;
  other.small += "x";
  EXPECT_FALSE(same(record, Record(columns, other)));
}

TEST(RowCodecTest, AMarkOnARowChangesNoColumn) {
  const std::vector<Column> columns = Columns();
  RowCodec codec;
  codec.Build(columns, 1, Defaults());
  RowPlan plan;
  plan.Build(codec, std::vector<bool>(columns.size(), true));
  EXPECT_FALSE(RowCodec::IsPutOnce(""));
  for (const size_t blob_bytes : {size_t{7}, size_t{70'000}}) {  // The second needs the other flag.
    Row row;
    row.number = 5;
    row.blob = std::string(blob_bytes, 'b');
    const std::string record = Record(columns, row);
    std::string plain;
    codec.Encode(reinterpret_cast<const uint8_t*>(record.data()), &plain);
    EXPECT_FALSE(RowCodec::IsPutOnce(plain));
    std::string marked = plain;
    RowCodec::MarkPutOnce(&marked);
    EXPECT_TRUE(RowCodec::IsPutOnce(marked));
    EXPECT_EQ(marked.size(), plain.size());
    std::string read(kRecordBytes, '\0');
    std::string read_marked(kRecordBytes, '\0');
    std::vector<ApartValue> apart;
    ASSERT_TRUE(plan.Decode(plain, reinterpret_cast<uint8_t*>(read.data()), &apart).ok());
    ASSERT_TRUE(plan.Decode(marked, reinterpret_cast<uint8_t*>(read_marked.data()), &apart).ok());
    EXPECT_TRUE(codec.SameRow(reinterpret_cast<const uint8_t*>(read.data()),
                              reinterpret_cast<const uint8_t*>(read_marked.data())));
    EXPECT_TRUE(codec.SameRow(reinterpret_cast<const uint8_t*>(record.data()),
                              reinterpret_cast<const uint8_t*>(read_marked.data())));
  }
}

TEST(RowCodecTest, TrailingPadIsNotStored) {
  const std::vector<Column> columns = Columns();
  RowCodec codec;
  codec.Build(columns, 1, Defaults());
  Row row;
  std::string shorter;
  std::string longer;
  codec.Encode(reinterpret_cast<const uint8_t*>(Record(columns, row).data()), &shorter);
  row.padded = "0123456789";
  codec.Encode(reinterpret_cast<const uint8_t*>(Record(columns, row).data()), &longer);
  EXPECT_EQ(longer.size(), shorter.size() + 10);
}

TEST(RowCodecTest, ExactlyThePaddingIsLeftOut) {
  constexpr uint32_t kBytes = 40;
  std::vector<ApartValue> apart;
  std::vector<Column> columns(1);
  columns[0].layout = Column::Layout::kPadded;
  columns[0].bytes = kBytes;
  for (const uint8_t pad : {uint8_t{' '}, uint8_t{0}, uint8_t{0xff}}) {
    columns[0].pad = pad;
    RowCodec codec;
    codec.Build(columns, 0, nullptr);
    RowPlan plan;
    plan.Build(codec, {true});
    const std::string pads(kBytes, static_cast<char>(pad));
    std::string row;
    codec.Encode(reinterpret_cast<const uint8_t*>(pads.data()), &row);
    const size_t empty = row.size();
    for (uint32_t bytes = 1; bytes <= kBytes; bytes++) {
      std::string record = pads;
      record[bytes - 1] = 'x';
      codec.Encode(reinterpret_cast<const uint8_t*>(record.data()), &row);
      EXPECT_EQ(row.size(), empty + bytes);
      std::string decoded(kBytes, 'y');
      ASSERT_TRUE(plan.Decode(row, reinterpret_cast<uint8_t*>(decoded.data()), &apart).ok());
      EXPECT_EQ(decoded, record);
    }
  }
}

TEST(RowCodecTest, ValuesThatDoNotFitAreRefused) {
  const std::vector<Column> columns = Columns();
  std::string record(kRecordBytes, '\0');
  auto* bytes = reinterpret_cast<uint8_t*>(record.data());
  EXPECT_FALSE(StoreRawValue(columns[0], "12345", bytes));
  EXPECT_FALSE(StoreRawValue(columns[1], "12345678901", bytes));
  EXPECT_FALSE(StoreRawValue(columns[2], std::string(21, 'x'), bytes));
  Column tiny = columns[4];
  tiny.length_bytes = 1;
  EXPECT_FALSE(StoreRawValue(tiny, std::string(256, 'x'), bytes));
}

TEST(RowCodecTest, LongValuesLieApart) {
  std::mt19937_64 random(11);
  const std::vector<Column> columns = Columns();
  RowCodec codec;
  codec.Build(columns, 1, Defaults());
  codec.SetApartOver(100);
  EXPECT_EQ(codec.long_columns(), (std::vector<uint32_t>{3, 4}));
  EXPECT_FALSE(codec.LiesApart(std::string(100, 'x')));
  EXPECT_TRUE(codec.LiesApart(std::string(101, 'x')));
  RowPlan plan;
  plan.Build(codec, std::vector<bool>(columns.size(), true));
  std::string bytes;
  std::vector<ApartValue> found;
  for (int i = 0; i < 1000; i++) {
    const Row row = RandomRow(&random);
    std::string record = Record(columns, row);
    auto* const from = reinterpret_cast<uint8_t*>(record.data());
    std::vector<ApartValue> refers(columns.size());
    std::vector<uint32_t> apart;
    for (const uint32_t c : codec.long_columns()) {
      if (random() % 2 == 0) continue;
      refers[c] = {c, static_cast<uint32_t>(random()), random() | 1};
      if (!IsNull(columns[c], from)) apart.push_back(c);
    }
    codec.Encode(from, refers, &bytes);
    EXPECT_EQ(bytes[0], apart.empty() ? 1 : 3);
    std::string back(kRecordBytes, '\x11');
    auto* const to = reinterpret_cast<uint8_t*>(back.data());
    const auto as_referred = [&] {
      ASSERT_EQ(found.size(), apart.size());
      for (size_t a = 0; a < apart.size(); a++) {
        EXPECT_EQ(found[a].column, apart[a]);
        EXPECT_EQ(found[a].id, refers[apart[a]].id);
        EXPECT_EQ(found[a].bytes, refers[apart[a]].bytes);
      }
    };
    ASSERT_TRUE(plan.Decode(bytes, to, &found).ok());
    as_referred();
    for (const uint32_t c : apart) {
      EXPECT_TRUE(RawValue(columns[c], to).empty());
      ASSERT_TRUE(StoreRawValue(columns[c], RawValue(columns[c], from), to));
    }
    EXPECT_TRUE(codec.SameRow(from, to));
    ASSERT_TRUE(codec.ListApart(bytes, &found).ok());
    as_referred();
  }
  codec.SetApartOver(1);
  EXPECT_FALSE(codec.LiesApart(std::string(64, 'x')));
  codec.SetApartOver(0);
  EXPECT_TRUE(codec.long_columns().empty());
  EXPECT_FALSE(codec.LiesApart(std::string(100000, 'x')));
}

TEST(RowCodecTest, DamagedAndNewerRowsAreErrors) {
  std::mt19937_64 random(3);
  const std::vector<Column> columns = Columns();
  RowCodec codec;
  codec.Build(columns, 1, Defaults());
  RowPlan plan;
  plan.Build(codec, std::vector<bool>(columns.size(), true));
  std::string record(kRecordBytes, '\0');
  auto* to = reinterpret_cast<uint8_t*>(record.data());
  std::string bytes;
  std::vector<ApartValue> apart;
  codec.Encode(reinterpret_cast<const uint8_t*>(Record(columns, RandomRow(&random)).data()),
               &bytes);
  for (size_t n = 0; n < 26; n++) {
    EXPECT_EQ(plan.Decode(Slice(bytes).substr(0, n), to, &apart).code(), Code::kCorruption) << n;
  }
  for (int i = 0; i < 20000; i++) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    plan.Decode(damaged, to, &apart).IgnoreError();
  }
  std::vector<ApartValue> refers(columns.size());
  refers[3] = {3, 1000, 7};
  refers[4] = {4, 2000, 8};
  codec.Encode(reinterpret_cast<const uint8_t*>(Record(columns, Row()).data()), refers, &bytes);
  ASSERT_EQ(bytes[0], 3);
  for (size_t n = 0; n < bytes.size(); n++) {
    const Slice cut = Slice(bytes).substr(0, n);
    EXPECT_EQ(plan.Decode(cut, to, &apart).code(), Code::kCorruption) << n;
    EXPECT_EQ(codec.ListApart(cut, &apart).code(), Code::kCorruption) << n;
  }
  for (int i = 0; i < 20000; i++) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    plan.Decode(damaged, to, &apart).IgnoreError();
    codec.ListApart(damaged, &apart).IgnoreError();
  }
  bytes[0] = 9;
  EXPECT_EQ(plan.Decode(bytes, to, &apart).code(), Code::kNotSupported);
}

}  // namespace
}  // namespace tidesdb::plugin
