#include "format/wal_format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "base/coding.h"
#include "base/random.h"

namespace tidesdb {
namespace {

constexpr Slice kWhere = "000007.wal at offset 48";

uint64_t Seed() {
  const char* text = std::getenv("TIDESDB_SEED");
  const uint64_t seed = text == nullptr ? 7 : std::strtoull(text, nullptr, 10);
  std::printf("TIDESDB_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

std::string Hex(Slice bytes) {
  std::string out;
  for (const char c : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
    out += digits;
  }
  return out;
}

std::string SmallBatch() {
  std::string buffer;
  WalBatchEncoder encoder(&buffer);
  encoder.Begin();
  encoder.Put(300, "key", "value");
  encoder.Delete(300, "k");
  encoder.SingleDelete(2, "");
  encoder.Finish();
  SetWalPayloadSequence(buffer.data(), 0x0102030405);
  return buffer;
}

WalIngest SmallIngest() {
  WalIngest ingest;
  ingest.sequence = 99;
  for (uint64_t i = 1; i <= 3; i++) {
    WalIngestFile file;
    file.number = 1000 * i;
    file.bytes = i << 33;
    file.properties.family = static_cast<FamilyId>(i);
    file.properties.entries = 10 * i;
    file.properties.keys = 9 * i;
    file.properties.tombstones = i;
    file.properties.raw_key_bytes = 77;
    file.properties.raw_value_bytes = 88;
    file.properties.data_blocks = 5;
    file.properties.key_min = std::string(i, 'a');
    file.properties.key_max = std::string(i, '\xff');
    ingest.files.push_back(file);
  }
  return ingest;
}

// Decodes any bytes; must not crash. Returns whether they were valid.
bool DecodeAnything(Slice payload) {
  if (payload.size() < kWalPrefixBytes) {
    WalBatchDecoder decoder(payload, kWhere);
    WalOperation operation;
    EXPECT_FALSE(decoder.Next(&operation));
    EXPECT_EQ(decoder.status().code(), Code::kCorruption);
    return false;
  }
  switch (WalPayloadKind(payload)) {
    case WalKind::kSegmentStart:
      return WalSegmentStart::Decode(payload, kWhere).status().ok();
    case WalKind::kIngest:
      return WalIngest::Decode(payload, kWhere).status().ok();
    default:
      break;
  }
  WalBatchDecoder decoder(payload, kWhere);
  WalOperation operation;
  uint64_t bytes = 0;
  while (decoder.Next(&operation)) bytes += operation.key.size() + operation.value.size();
  EXPECT_LE(bytes, payload.size());
  if (!decoder.status().ok()) {
    EXPECT_NE(decoder.status().message().find(kWhere), Slice::npos);
  }
  return decoder.status().ok();
}

// The bytes on disk must never change under this version number.
TEST(WalFormatTest, GoldenBytes) {
  EXPECT_EQ(Hex(SmallBatch()),
            "03"
            "0504030201000000"
            "03000000"
            "05"
            "ac02"
            "03"
            "6b6579"
            "05"
            "76616c7565"
            "00"
            "01"
            "6b"
            "06"
            "02"
            "00");
  std::string start;
  WalSegmentStart{.sequence = 5, .previous_end = {7, 9}}.EncodeTo(&start);
  EXPECT_EQ(Hex(start),
            "01"
            "0500000000000000"
            "54494445535741"
            "4c"
            "07000000"
            "09000000");
  std::string mark;
  EncodeWalSyncMark(6, &mark);
  EXPECT_EQ(Hex(mark),
            "02"
            "0600000000000000");
  WalFrame frame;
  frame.payload_bytes = static_cast<uint32_t>(mark.size());
  frame.position = WalPosition::At(3, 4096);
  frame.synced = WalPosition::At(2, 80);
  char bytes[kWalFrameBytes];
  EncodeWalFrame(frame, mark, bytes);
  EXPECT_EQ(Hex(Slice(bytes, kWalFrameBytes)),
            "ed01fb1bc1a1716a"
            "09000000"
            "01000000"
            "03000000"
            "00020000"
            "02000000"
            "0a000000");
}

TEST(WalFormatTest, FrameRoundTripAndDamage) {
  const std::string payload = SmallBatch();
  WalFrame frame;
  frame.payload_bytes = static_cast<uint32_t>(payload.size());
  frame.position = WalPosition::At(9, 48);
  frame.synced = WalPosition::At(8, 1 << 20);
  char bytes[kWalFrameBytes];
  EncodeWalFrame(frame, payload, bytes);
  WalFrame got;
  ASSERT_TRUE(ParseWalFrame(bytes, frame.position, &got));
  EXPECT_TRUE(VerifyWalFrame(bytes, payload));
  EXPECT_EQ(got.payload_bytes, payload.size());
  EXPECT_EQ(got.synced, frame.synced);
  EXPECT_EQ(got.version, kWalVersion);
  EXPECT_FALSE(ParseWalFrame(bytes, WalPosition::At(8, 48), &got));  // Of another segment.
  EXPECT_FALSE(ParseWalFrame(bytes, WalPosition::At(9, 56), &got));  // Moved.
  for (size_t i = 0; i < kWalFrameBytes; i++) {
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    EXPECT_FALSE(ParseWalFrame(bytes, frame.position, &got) && VerifyWalFrame(bytes, payload)) << i;
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
  }
  std::string damaged = payload;
  for (size_t i = 0; i < payload.size(); i++) {
    damaged[i] = static_cast<char>(damaged[i] ^ 0x80);
    EXPECT_FALSE(VerifyWalFrame(bytes, damaged)) << i;
    damaged[i] = payload[i];
  }
}

TEST(WalFormatTest, RecordBytes) {
  EXPECT_EQ(WalRecordBytes(9), 48u);
  EXPECT_EQ(WalRecordBytes(16), 48u);
  EXPECT_EQ(WalRecordBytes(17), 56u);
  EXPECT_EQ(WalRecordBytes(kWalPayloadBytesMax) % kWalAlignment, 0u);
  EXPECT_LT(WalRecordBytes(kWalPayloadBytesMax), uint64_t{UINT32_MAX});
}

TEST(WalFormatTest, SegmentStartRoundTrip) {
  const WalSegmentStart start{.sequence = kSequenceMax, .previous_end = WalPosition::At(12, 4096)};
  std::string payload;
  start.EncodeTo(&payload);
  auto got = WalSegmentStart::Decode(payload, kWhere);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->sequence, start.sequence);
  EXPECT_EQ(got->previous_end, start.previous_end);
  EXPECT_EQ(WalSegmentStart::Decode(SmallBatch(), kWhere).status().code(), Code::kCorruption);
}

TEST(WalFormatTest, BatchRoundTrip) {
  Random random(Seed());
  std::vector<std::tuple<FamilyId, ValueType, std::string, std::string>> wanted;
  std::string buffer = "before";
  WalBatchEncoder encoder(&buffer);
  encoder.Begin();
  for (int i = 0; i < 2000; i++) {
    const auto family = static_cast<FamilyId>(random.OneIn(3) ? random.Next() : 5);
    const auto type = static_cast<ValueType>(random.Uniform(3));
    std::string key(random.Skewed(9), static_cast<char>(i));
    std::string value(IsTombstone(type) ? 0 : random.Skewed(12), static_cast<char>(-i));
    encoder.Add({family, type, key, value});
    wanted.emplace_back(family, type, std::move(key), std::move(value));
  }
  EXPECT_EQ(encoder.operations(), 2000u);
  const Slice payload = encoder.Finish();
  EXPECT_EQ(payload.size(), encoder.bytes());
  EXPECT_EQ(buffer.substr(0, 6), "before");
  SetWalPayloadSequence(buffer.data() + 6, 4711);
  EXPECT_EQ(WalPayloadKind(payload), WalKind::kBatch);
  EXPECT_EQ(WalPayloadSequence(payload), 4711u);
  WalBatchDecoder decoder(payload, kWhere);
  EXPECT_EQ(decoder.sequence(), 4711u);
  EXPECT_EQ(decoder.operations(), 2000u);
  WalOperation got;
  for (const auto& [family, type, key, value] : wanted) {
    ASSERT_TRUE(decoder.Next(&got)) << decoder.status().ToString();
    EXPECT_EQ(got.family, family);
    EXPECT_EQ(got.type, type);
    EXPECT_EQ(got.key, key);
    EXPECT_EQ(got.value, value);
  }
  EXPECT_FALSE(decoder.Next(&got));
  EXPECT_TRUE(decoder.status().ok());
}

TEST(WalFormatTest, EncoderIsUsedAgain) {
  std::string buffer;
  WalBatchEncoder encoder(&buffer);
  encoder.Begin();
  encoder.Put(1, "a", "b");
  encoder.Finish();
  const std::string first = buffer;
  buffer.clear();
  encoder.Begin();
  encoder.Put(1, "a", "b");
  EXPECT_EQ(encoder.Finish(), first);  // Contains nothing of the first batch.
}

TEST(WalFormatTest, EmptyBatch) {
  std::string buffer;
  WalBatchEncoder encoder(&buffer);
  encoder.Begin();
  WalBatchDecoder decoder(encoder.Finish(), kWhere);
  WalOperation operation;
  EXPECT_FALSE(decoder.Next(&operation));
  EXPECT_TRUE(decoder.status().ok());
}

TEST(WalFormatTest, IngestRoundTrip) {
  const WalIngest ingest = SmallIngest();
  std::string payload;
  ingest.EncodeTo(&payload);
  SetWalPayloadSequence(payload.data(), 123);
  auto got = WalIngest::Decode(payload, kWhere);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(got->sequence, 123u);
  ASSERT_EQ(got->files.size(), 3u);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(got->files[i].number, ingest.files[i].number);
    EXPECT_EQ(got->files[i].bytes, ingest.files[i].bytes);
    EXPECT_EQ(got->files[i].properties, ingest.files[i].properties);
  }
}

TEST(WalFormatTest, CutPayloadsAreCorruption) {
  std::string ingest;
  SmallIngest().EncodeTo(&ingest);
  std::string start;
  WalSegmentStart{.sequence = 5, .previous_end = {7, 9}}.EncodeTo(&start);
  for (const std::string& payload : {SmallBatch(), ingest, start}) {
    EXPECT_TRUE(DecodeAnything(payload));
    for (size_t n = 0; n < payload.size(); n++) {
      EXPECT_FALSE(DecodeAnything(Slice(payload).substr(0, n))) << n;
    }
    EXPECT_FALSE(DecodeAnything(payload + '\0'));
  }
}

TEST(WalFormatTest, PreparedTransactionsRoundTrip) {
  std::string payload;
  WalPrepare::EncodeHeader(77, Slice("na\0me", 5), &payload);
  EXPECT_FALSE(WalPrepare::Decode(payload, kWhere).ok());  // It prepares nothing.
  payload += SmallBatch();
  const auto prepare = WalPrepare::Decode(payload, kWhere);
  ASSERT_TRUE(prepare.ok()) << prepare.status().ToString();
  EXPECT_EQ(prepare->id, 77u);
  EXPECT_EQ(prepare->name, Slice("na\0me", 5));
  EXPECT_EQ(prepare->writes, SmallBatch());
  EXPECT_EQ(WalPayloadSequence(payload), 0u);
  for (size_t n = 0; n + SmallBatch().size() < payload.size() + kWalPrefixBytes; n++) {
    EXPECT_FALSE(WalPrepare::Decode(Slice(payload).substr(0, n), kWhere).ok()) << n;
  }
  for (const WalKind kind : {WalKind::kCommit, WalKind::kRollback}) {
    std::string end;
    WalOutcome{.sequence = 5, .id = 77}.EncodeTo(kind, &end);
    EXPECT_EQ(end.size(), kWalOutcomeBytes);
    EXPECT_EQ(WalPayloadKind(end), kind);
    const auto outcome = WalOutcome::Decode(end, kWhere);
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->sequence, 5u);
    EXPECT_EQ(outcome->id, 77u);
    EXPECT_FALSE(WalOutcome::Decode(end + '\0', kWhere).ok());
    EXPECT_FALSE(WalOutcome::Decode(Slice(end).substr(1), kWhere).ok());
  }
}

TEST(WalFormatTest, UnknownOperationsAreCorruption) {
  const size_t first_tag = kWalPrefixBytes + 4;
  for (const int tag : {0x03, 0x08, 0x80, 0x07, 0x01}) {  // 0x01: the first has no family.
    std::string payload = SmallBatch();
    payload[first_tag] = static_cast<char>(tag);
    EXPECT_FALSE(DecodeAnything(payload)) << tag;
  }
  std::string payload = SmallBatch();
  SetWalPayloadSequence(payload.data(), kSequenceMax + 1);
  EXPECT_FALSE(DecodeAnything(payload));
}

TEST(WalFormatTest, SurvivesAnyBytes) {
  Random random(Seed());
  std::string ingest;
  SmallIngest().EncodeTo(&ingest);
  const std::string seeds[] = {SmallBatch(), ingest, std::string(64, '\xff')};
  for (int round = 0; round < 20000; round++) {
    std::string payload = seeds[random.Uniform(3)];
    for (uint64_t changes = 1 + random.Uniform(4); changes > 0; changes--) {
      payload[random.Uniform(payload.size())] = static_cast<char>(random.Next());
    }
    payload.resize(random.OneIn(3) ? random.Uniform(payload.size() + 1) : payload.size());
    DecodeAnything(payload);
  }
}

}  // namespace
}  // namespace tidesdb
