#include "format/manifest_format.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/hash.h"
#include "base/random.h"

namespace tidesdb {
namespace {

VersionEdit FullEdit() {
  VersionEdit edit;
  edit.drop_families = {3, 4'000'000'000};
  ColumnFamilyOptions options;
  options.name = "orders";
  options.compression = Compression::kZstd;
  options.block_bytes = 16 << 10;
  options.bloom_fpr = 0.001;
  options.level0_file_trigger = 7;
  options.level_size_ratio = 8;
  options.target_file_bytes = uint64_t{5} << 32;
  options.tombstone_density_trigger = 500;
  options.tombstone_density_min_entries = uint64_t{1} << 40;
  edit.create_families = {{5, options}, {6, {}}};
  edit.create_families[1].options.bloom_filter = false;
  edit.catalog_erase = {"t/old"};
  edit.catalog_put = {{"t/new", std::string("a\0b", 3)}, {"", ""}};
  edit.remove_files = {{5, 6, 17}};
  FileRecord file;
  file.number = 18;
  file.bytes = uint64_t{1} << 40;
  file.global_sequence = 99;
  file.properties = {.family = 5,
                     .entries = 10,
                     .keys = 9,
                     .tombstones = 1,
                     .raw_key_bytes = 100,
                     .raw_value_bytes = 1000,
                     .data_blocks = 2,
                     .sequence_min = 99,
                     .sequence_max = 99,
                     .tombstone_sequence_min = 99,
                     .key_min = std::string("\0", 1),
                     .key_max = "z\xff"};
  edit.add_files = {{0, file}, {6, file}};
  edit.next_file_number = 19;
  edit.next_family_id = 7;
  edit.flushed_sequence = kSequenceMax;
  edit.wal_segment_min = 12;
  return edit;
}

// Two snapshot-like records and one more, all sealed.
std::string ThreeRecordFile(std::vector<uint64_t>* record_offsets = nullptr) {
  std::string file = EncodeManifestHeader();
  for (uint64_t i = 1; i <= 3; ++i) {
    VersionEdit edit = FullEdit();
    edit.next_file_number = i;
    const uint64_t offset = file.size();
    if (record_offsets != nullptr) record_offsets->push_back(offset);
    AppendManifestRecord(&file, offset, EncodeVersionEdit(edit));
    AppendManifestSeal(&file, offset);
  }
  return file;
}

TEST(ManifestFormat, EditSurvivesTheRoundTrip) {
  const std::string payload = EncodeVersionEdit(FullEdit());
  const Result<VersionEdit> back = DecodeVersionEdit(payload, "M", 0);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(EncodeVersionEdit(*back), payload);
  EXPECT_EQ(DescribeVersionEdit(*back),
            "drop family 3\n"
            "drop family 4000000000\n"
            "create family 5 name=orders compression=3 block_bytes=16384 bloom_fpr=0.001000 "
            "level0_file_trigger=7 level_size_ratio=8 target_file_bytes=21474836480 "
            "tombstone_density_trigger=500 tombstone_density_min_entries=1099511627776\n"
            "create family 6 name= compression=2 block_bytes=8192 bloom_fpr=off "
            "level0_file_trigger=4 level_size_ratio=10 target_file_bytes=33554432\n"
            "erase t/old\n"
            "put t/new = a\\x00b\n"
            "put  = \n"
            "remove file 17 from family 5 level 6\n"
            "add file 18 to family 5 level 0 bytes=1099511627776 global_sequence=99 entries=10 "
            "keys=9 tombstones=1 raw_key_bytes=100 raw_value_bytes=1000 data_blocks=2 "
            "sequences=99..99 tombstone_sequence_min=99 keys=[\\x00 z\\xff]\n"
            "add file 18 to family 5 level 6 bytes=1099511627776 global_sequence=99 entries=10 "
            "keys=9 tombstones=1 raw_key_bytes=100 raw_value_bytes=1000 data_blocks=2 "
            "sequences=99..99 tombstone_sequence_min=99 keys=[\\x00 z\\xff]\n"
            "next_file_number 19\n"
            "next_family_id 7\n"
            "flushed_sequence 72057594037927935\n"
            "wal_segment_min 12\n");
}

TEST(ManifestFormat, EveryCutOfAPayloadIsCorruptionOrAWholeNumberOfFields) {
  const std::string payload = EncodeVersionEdit(FullEdit());
  for (size_t n = 0; n < payload.size(); ++n) {
    const Result<VersionEdit> edit = DecodeVersionEdit(Slice(payload).substr(0, n), "M", 100);
    if (edit.ok()) {
      EXPECT_EQ(EncodeVersionEdit(*edit), payload.substr(0, n));
    } else {
      EXPECT_EQ(edit.status().code(), Code::kCorruption);
      EXPECT_NE(edit.status().message().find("M at offset "), Slice::npos);
    }
  }
}

TEST(ManifestFormat, RandomPayloadsNeverCrash) {
  const char* env = std::getenv("TIDESDB_SEED");
  const uint64_t seed = env == nullptr ? 1 : std::strtoull(env, nullptr, 10);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  Random random(seed);
  const std::string good = EncodeVersionEdit(FullEdit());
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (uint64_t i = random.Uniform(4) + 1; i > 0; --i) {
      bytes[random.Uniform(bytes.size())] = static_cast<char>(random.Next());
    }
    bytes.resize(random.Uniform(bytes.size() + 1));
    const Result<VersionEdit> edit = DecodeVersionEdit(bytes, "M", 0);
    if (edit.status().ok()) DescribeVersionEdit(*edit);
  }
}

TEST(ManifestFormat, ReadsAWholeFile) {
  const Result<ManifestContents> contents = ParseManifest(ThreeRecordFile(), "M");
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  ASSERT_EQ(contents->edits.size(), 3u);
  EXPECT_EQ(contents->edits[2].next_file_number, 3u);
  EXPECT_EQ(contents->dropped_bytes, 0u);
}

TEST(ManifestFormat, AFlippedByteInSyncedRecordsIsCorruption) {
  std::vector<uint64_t> offsets;
  const std::string good = ThreeRecordFile(&offsets);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 0x10;
    const Result<ManifestContents> contents = ParseManifest(bad, "M");
    bool in_seal = false;
    for (size_t i = 0; i < offsets.size(); ++i) {
      const uint64_t end = i + 1 < offsets.size() ? offsets[i + 1] : good.size();
      if (at >= end - kManifestSealBytes && at < end) in_seal = true;
    }
    if (in_seal) {
      // Seals hold no data; the record before each is whole.
      ASSERT_TRUE(contents.ok()) << "byte " << at;
      EXPECT_EQ(contents->edits.size(), 3u);
    } else {
      ASSERT_FALSE(contents.ok()) << "byte " << at;
      EXPECT_EQ(contents.status().code(), Code::kCorruption);
      EXPECT_NE(contents.status().message().find("M at offset "), Slice::npos);
    }
  }
}

TEST(ManifestFormat, ARecordWhoseWriteNeverEndedIsCutOff) {
  std::vector<uint64_t> offsets;
  const std::string good = ThreeRecordFile(&offsets);
  const size_t last_end = good.size() - kManifestSealBytes;  // The crash came before the seal.
  for (size_t size = offsets[2] + 1; size < last_end; ++size) {
    const Result<ManifestContents> contents = ParseManifest(Slice(good).substr(0, size), "M");
    ASSERT_TRUE(contents.ok()) << contents.status().ToString();
    EXPECT_EQ(contents->edits.size(), 2u);
    EXPECT_EQ(contents->dropped_bytes, size - offsets[2]);
    // The same length, but the end never reached the disk.
    std::string torn = good.substr(0, size) + std::string(last_end - size, '\0');
    const Result<ManifestContents> zeros = ParseManifest(torn, "M");
    ASSERT_TRUE(zeros.ok()) << zeros.status().ToString();
    EXPECT_EQ(zeros->edits.size(), 2u);
  }
  const Result<ManifestContents> whole = ParseManifest(Slice(good).substr(0, last_end), "M");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->edits.size(), 3u);
}

TEST(ManifestFormat, ALostSealBeforeAWholeRecordDoesNoHarm) {
  std::vector<uint64_t> offsets;
  std::string file = ThreeRecordFile(&offsets);
  file.replace(offsets[1] - kManifestSealBytes, kManifestSealBytes, kManifestSealBytes, '\0');
  const Result<ManifestContents> contents = ParseManifest(file, "M");
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  EXPECT_EQ(contents->edits.size(), 3u);
}

TEST(ManifestFormat, WithoutItsFirstRecordAManifestIsCorrupt) {
  std::vector<uint64_t> offsets;
  const std::string good = ThreeRecordFile(&offsets);
  for (const size_t size : {size_t{0}, size_t{7}, kManifestHeaderBytes, size_t{offsets[1] - 20}}) {
    const Result<ManifestContents> contents = ParseManifest(Slice(good).substr(0, size), "M");
    ASSERT_FALSE(contents.ok()) << size;
    EXPECT_EQ(contents.status().code(), Code::kCorruption);
  }
}

TEST(ManifestFormat, ARecordInsideOfAValueIsNoRecord) {
  // The catalog holds bytes that are a manifest; the edit that carries them is torn.
  VersionEdit edit;
  edit.catalog_put = {{"x", ThreeRecordFile()}};
  std::string file = ThreeRecordFile();
  const uint64_t offset = file.size();
  AppendManifestRecord(&file, offset, EncodeVersionEdit(edit));
  file.resize(file.size() - 1);
  const Result<ManifestContents> contents = ParseManifest(file, "M");
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  EXPECT_EQ(contents->edits.size(), 3u);
}

// A family created by a program of version 1: its options end before the newer ones.
TEST(ManifestFormat, OptionsOfVersion1HaveDefaultsForTheRest) {
  VersionEdit edit;
  edit.create_families = {{5, {}}};
  std::string payload = EncodeVersionEdit(edit);
  // Field, family and length take a byte each; a trigger of 0 takes one, the entries of 1024 two.
  constexpr size_t kNewerBytes = 3;
  payload.resize(payload.size() - kNewerBytes);
  payload[2] = static_cast<char>(payload[2] - kNewerBytes);
  const Result<VersionEdit> back = DecodeVersionEdit(payload, "M", 0);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  ASSERT_EQ(back->create_families.size(), 1u);
  EXPECT_EQ(EncodeVersionEdit(*back), EncodeVersionEdit(edit));
}

TEST(ManifestFormat, ANewerVersionIsNotSupported) {
  std::string file = ThreeRecordFile();
  EncodeFixed32(file.data() + 8, kManifestFormatVersion + 1);
  EncodeFixed64(file.data() + 12, Checksum64(Slice(file).substr(0, 12)));
  const Result<ManifestContents> contents = ParseManifest(file, "M");
  ASSERT_FALSE(contents.ok());
  EXPECT_EQ(contents.status().code(), Code::kNotSupported);
}

TEST(ManifestFormat, CurrentIsExactOrCorrupt) {
  for (const uint64_t number : {uint64_t{1}, uint64_t{123456}, uint64_t{1234567890}}) {
    const std::string good = EncodeCurrent(number);
    const Result<uint64_t> back = ParseCurrent(good, "CURRENT");
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, number);
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] ^= 1;
      EXPECT_EQ(ParseCurrent(bad, "CURRENT").status().code(), Code::kCorruption);
      EXPECT_EQ(ParseCurrent(good.substr(0, at), "CURRENT").status().code(), Code::kCorruption);
    }
    EXPECT_EQ(ParseCurrent(good + "x", "CURRENT").status().code(), Code::kCorruption);
  }
}

}  // namespace
}  // namespace tidesdb
