#include "wal/wal_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/coding.h"
#include "wal/wal_segment_reader.h"
#include "wal/wal_test_util.h"

namespace tidesdb {
namespace {

struct Placed {
  WalPosition begin;
  WalPosition end;
  WalPosition synced;
  WalKind kind = WalKind::kBatch;
};

// All records of an undamaged log, in order.
std::vector<Placed> Layout(const WalHarness& log) {
  std::vector<Placed> all;
  auto directory = WalDirectory::Read(log.options.fs, WalHarness::kDir);
  CHECK_OK(directory.status());
  for (const auto& [number, info] : directory->segments()) {
    auto reader = directory->OpenSegment(number);
    CHECK_OK(reader.status());
    WalRecordAt at;
    for (uint64_t offset = 0;; offset = at.end().offset()) {
      auto found = (*reader)->ReadAt(offset, UINT64_MAX, &at);
      CHECK_OK(found.status());
      if (!*found) break;
      all.push_back({at.frame.position, at.end(), at.frame.synced, WalPayloadKind(at.payload)});
    }
  }
  return all;
}

bool Names(const Status& status, const WalHarness& log, WalPosition place) {
  const std::string text =
      log.Path(place.segment) + " at offset " + std::to_string(place.offset()) + ":";
  return status.message().substr(0, text.size()) == text;
}

// "Corruption: /db/000001.wal at offset 64: what".
std::string DamageAt(const WalHarness& log, WalPosition place, const std::string& what) {
  return "Corruption: " + log.Path(place.segment) + " at offset " + std::to_string(place.offset()) +
         ": " + what;
}

// Overwrites bytes of a file directly.
void Overwrite(WalHarness* log, uint64_t segment, uint64_t offset, Slice bytes) {
  auto file = log->fs->NewPositionalFile(log->Path(segment), OpenMode::kKeep);
  CHECK_OK(file.status());
  CHECK_OK((*file)->WriteAt(offset, bytes));
  CHECK_OK((*file)->Sync());
}

// The expected result of a log whose record number `damaged` is unreadable. Any later record with a
// synced position beyond it proves the damage.
void ExpectDamageTold(WalHarness* log, const std::vector<Placed>& layout, size_t damaged,
                      const std::string& what) {
  bool proven = false;
  for (size_t i = damaged + 1; i < layout.size(); i++) {
    proven = proven || layout[i].synced > layout[damaged].begin;
  }
  const auto records = static_cast<size_t>(
      std::count_if(layout.begin(), layout.begin() + static_cast<ptrdiff_t>(damaged),
                    [](const Placed& p) { return p.kind == WalKind::kBatch; }));
  const Replayed replayed = log->Replay(1);
  if (proven) {
    EXPECT_EQ(replayed.status.code(), Code::kCorruption) << what;
    // A missing segment start looks like a false end of the previous segment.
    const bool start = layout[damaged].kind == WalKind::kSegmentStart && damaged > 0;
    EXPECT_TRUE(
        Names(replayed.status, *log, start ? layout[damaged - 1].end : layout[damaged].begin))
        << what << ": " << replayed.status.ToString();
  } else {
    EXPECT_TRUE(IsPrefix(replayed, log->model, records)) << what;
    EXPECT_EQ(replayed.payloads.size(), records) << what;
  }
}

// Three segments, with each group synced; the last group is not synced, or the log is closed.
void WriteThreeSegments(WalHarness* log, bool close) {
  ASSERT_TRUE(log->Open().ok());
  for (int segment = 0; segment < 3; segment++) {
    for (int group = 0; group < 3; group++) {
      ASSERT_TRUE(log->Append({10, 3}).ok());
      ASSERT_TRUE(log->Sync().ok());
    }
    ASSERT_TRUE(log->wal->Rotate().ok());
  }
  ASSERT_TRUE(log->Append({20, 20, 20}).ok());
  if (close) {
    ASSERT_TRUE(log->wal->Close().ok());
  }
  log->Kill();
}

class WalDamageTest : public testing::TestWithParam<bool> {};

TEST_P(WalDamageTest, EveryFlippedByteIsCorruptionOrACut) {
  WalHarness log(4 << 10);
  ASSERT_NO_FATAL_FAILURE(WriteThreeSegments(&log, GetParam()));
  const std::vector<Placed> layout = Layout(log);
  ASSERT_EQ(layout.size(), GetParam() ? 26u : 25u);
  int flips = 0;
  for (size_t i = 0; i < layout.size(); i++) {
    const Placed& p = layout[i];
    for (uint64_t offset = p.begin.offset(); offset < p.end.offset(); offset++) {
      const uint8_t mask = static_cast<uint8_t>(1 << (offset % 8));
      log.fs->FlipByte(log.Path(p.begin.segment), offset, mask);
      const bool padding = Layout(log).size() == layout.size();
      if (padding) {
        EXPECT_TRUE(IsPrefix(log.Replay(1), log.model, log.model.size()));
      } else {
        ExpectDamageTold(
            &log, layout, i,
            "byte " + std::to_string(offset) + " of segment " + std::to_string(p.begin.segment));
      }
      log.fs->FlipByte(log.Path(p.begin.segment), offset, mask);
      flips++;
    }
  }
  EXPECT_GT(flips, 1500);
  EXPECT_TRUE(IsPrefix(log.Replay(1), log.model, log.model.size()));
}

TEST_P(WalDamageTest, EveryTruncationIsCorruptionOrACut) {
  WalHarness log(4 << 10);
  ASSERT_NO_FATAL_FAILURE(WriteThreeSegments(&log, GetParam()));
  const std::vector<Placed> layout = Layout(log);
  for (uint32_t segment = 1; segment <= 4; segment++) {
    for (uint64_t size = 0; size < 1200; size += 3) {
      size_t damaged = layout.size();
      for (size_t i = layout.size(); i-- > 0;) {
        if (layout[i].begin.segment == segment && layout[i].end.offset() > size) damaged = i;
      }
      if (damaged == layout.size()) break;
      auto disk = log.fs->CleanClone();
      auto file = disk->NewPositionalFile(log.Path(segment), OpenMode::kKeep);
      ASSERT_TRUE(file.ok());
      ASSERT_TRUE((*file)->Truncate(size).ok());
      std::swap(log.fs, disk);
      log.options.fs = log.fs.get();
      // The rest of the segment is lost with it.
      std::vector<Placed> left = layout;
      left.erase(std::remove_if(left.begin() + static_cast<ptrdiff_t>(damaged) + 1, left.end(),
                                [&](const Placed& p) { return p.begin.segment == segment; }),
                 left.end());
      ExpectDamageTold(&log, left, damaged,
                       "segment " + std::to_string(segment) + " cut to " + std::to_string(size));
      std::swap(log.fs, disk);
      log.options.fs = log.fs.get();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Logs, WalDamageTest, testing::Bool(),
                         [](const auto& p) { return p.param ? "Closed" : "Killed"; });

TEST(WalReaderTest, MissingSegmentsAreCorruption) {
  for (uint32_t missing = 1; missing <= 3; missing++) {
    WalHarness log(4 << 10);
    ASSERT_TRUE(log.Open().ok());
    for (int i = 0; i < 4; i++) {  // Never synced: no record proves that the missing one existed.
      ASSERT_TRUE(log.Append({10}).ok());
      if (i < 3) {
        ASSERT_TRUE(log.wal->Rotate().ok());
      }
    }
    log.Kill();
    ASSERT_TRUE(log.fs->Delete(log.Path(missing)).ok());
    EXPECT_EQ(log.Replay(1).status.ToString(),
              DamageAt(log, WalPosition::At(missing, 0), "the segment is missing"));
    if (missing > 1) continue;
    EXPECT_EQ(log.Replay(0).status.ToString(),
              DamageAt(log, WalPosition::At(2, 0), "the log's first segment is missing"));
    EXPECT_TRUE(log.Replay(2).status.ok());
  }
  WalHarness log;
  EXPECT_EQ(log.Replay(1).status.code(), Code::kCorruption);
  EXPECT_TRUE(log.Replay(0).status.ok());
}

TEST(WalReaderTest, HoleInWhatWasNotSyncedIsCut) {
  WalHarness log(4 << 10);
  ASSERT_TRUE(log.Open().ok());
  for (int i = 0; i < 30; i++) ASSERT_TRUE(log.Append({300}).ok());
  log.Kill();
  const std::vector<Placed> layout = Layout(log);
  ASSERT_EQ(layout.back().begin.segment, 3u);
  const Placed hole = layout[4];
  Overwrite(&log, hole.begin.segment, hole.begin.offset(), std::string(512, '\0'));
  const Replayed replayed = log.Replay(1);
  EXPECT_TRUE(IsPrefix(replayed, log.model, 3));
  EXPECT_EQ(replayed.payloads.size(), 3u);
  EXPECT_EQ(replayed.end.position, hole.begin);
  EXPECT_EQ(replayed.end.leftovers.size(), 2u);
  EXPECT_NE(
      replayed.end.cut.find(log.Path(1) + " at offset " + std::to_string(hole.begin.offset())),
      std::string::npos);
  EXPECT_TRUE(log.sink.Contains("WARN " + replayed.end.cut));
}

// Records after a cut are complete on the disk and must not come back, however often the log is
// opened.
TEST(WalReaderTest, WhatWasCutOffNeverComesBack) {
  WalHarness log(4 << 10);
  ASSERT_TRUE(log.Open().ok());
  for (int i = 0; i < 30; i++) ASSERT_TRUE(log.Append({300}).ok());
  log.Kill();
  const Placed hole = Layout(log)[4];
  auto before = log.fs->NewRandomAccessFile(log.Path(1));
  ASSERT_TRUE(before.ok());
  std::string bytes(hole.end.offset() - hole.begin.offset(), '\0');
  ASSERT_TRUE((*before)->ReadAt(hole.begin.offset(), bytes.size(), bytes.data()).ok());
  log.fs->FlipByte(log.Path(1), hole.begin.offset() + 40);
  for (int round = 0; round < 3; round++) {
    ASSERT_TRUE(log.Open(1).ok());
    ASSERT_EQ(log.model.size(), 3u + static_cast<size_t>(round));
    EXPECT_EQ(log.next_sequence, 4u + static_cast<size_t>(round));
    ASSERT_TRUE(log.Append({300}).ok());
    log.Kill();
    // Even if the lost record reappears.
    if (round == 0) Overwrite(&log, 1, hole.begin.offset(), bytes);
    EXPECT_TRUE(IsPrefix(log.Replay(1), log.model, log.model.size()));
  }
}

// A crash anywhere in the opening after a cut: the next opening finds the same end.
TEST(WalReaderTest, CrashesWhileOpeningAfterACut) {
  WalHarness source(4 << 10);
  ASSERT_TRUE(source.Open().ok());
  for (int i = 0; i < 30; i++) ASSERT_TRUE(source.Append({300}).ok());
  source.Kill();
  source.fs->FlipByte(source.Path(1), Layout(source)[4].begin.offset() + 40);
  const std::vector<std::string> wanted(source.model.begin(), source.model.begin() + 3);
  for (uint64_t op = 1; op < 60; op++) {
    WalHarness log(4 << 10);
    log.UseDisk(source.fs->CleanClone());
    log.fs->AddFault({.op = IoOp::kAny, .kind = FaultRule::Kind::kPowerCut, .nth = op});
    const bool opened = log.Open(1).ok() && log.Append({10}).ok() && log.Sync().ok();
    log.PowerCut(op);
    std::vector<std::string> model = wanted;
    if (log.next_sequence > 4) model.push_back(WalHarness::Payload(4, 10));
    EXPECT_TRUE(IsPrefix(log.Replay(1), model, opened ? 4 : 3)) << "operation " << op;
    ASSERT_TRUE(log.Open(1).ok());
    log.Kill();
    EXPECT_TRUE(IsPrefix(log.Replay(1), model, opened ? 4 : 3)) << "operation " << op;
  }
}

TEST(WalReaderTest, TornTailIsCutWithAWarning) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  ASSERT_TRUE(log.Append({3000}).ok());
  log.Kill();
  const Placed last = Layout(log).back();
  Overwrite(&log, 1, last.begin.offset() + 1000, std::string(3000, '\0'));
  const Replayed replayed = log.Replay(1);
  EXPECT_TRUE(IsPrefix(replayed, log.model, 1));
  EXPECT_EQ(replayed.payloads.size(), 1u);
  EXPECT_NE(replayed.end.cut.find("torn record"), std::string::npos);
}

TEST(WalReaderTest, ManifestKnowsThatTheLogWasSynced) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100, 100, 100}).ok());
  ASSERT_TRUE(log.Sync().ok());
  log.Kill();
  EXPECT_TRUE(log.Replay(1, 3).status.ok());
  log.fs->FlipByte(log.Path(1), Layout(log).back().begin.offset() + 50);
  EXPECT_EQ(log.Replay(1, 2).payloads.size(), 2u);
  EXPECT_EQ(log.Replay(1, 3).status.ToString(),
            DamageAt(log, Layout(log).back().end,
                     "no complete record, but the log was synced up to sequence 3, and the last "
                     "one read is 2"));
}

TEST(WalReaderTest, SequencesGoOnWhenTheFirstSegmentWasNeverBegun) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({1}).ok());
  ASSERT_TRUE(log.wal->PrepareNext().ok());
  log.Kill();
  // The manifest names segment 2, which has no records, and 7 commits that are in table files.
  const Replayed replayed = log.Replay(2, 7);
  ASSERT_TRUE(replayed.status.ok());
  EXPECT_EQ(replayed.end.last_sequence, 7u);
  ASSERT_TRUE(WalSet::Open(log.options, replayed.end).status().ok());
  const Replayed again = log.Replay(2, 7);
  ASSERT_TRUE(again.status.ok()) << again.status.ToString();
  EXPECT_EQ(again.end.last_sequence, 7u);
}

void WriteRecord(WalHarness* log, WalPosition at, uint8_t version, Slice payload,
                 WalPosition synced = {}) {
  WalFrame frame;
  frame.payload_bytes = static_cast<uint32_t>(payload.size());
  frame.version = version;
  frame.position = at;
  frame.synced = synced;
  std::string bytes(kWalFrameBytes, '\0');
  EncodeWalFrame(frame, payload, bytes.data());
  bytes += payload;
  Overwrite(log, at.segment, at.offset(), bytes);
}

TEST(WalReaderTest, NewerVersionsAndKindsAreRefused) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.Kill();
  const WalPosition end = Layout(log).back().end;
  for (int kind = 8; kind <= 10; kind++) {
    std::string payload = WalHarness::Payload(2, 10);
    payload[0] = static_cast<char>(kind);
    WriteRecord(&log, end, kWalVersion, payload);
    const Status status = log.Replay(1).status;
    EXPECT_EQ(status.code(), Code::kNotSupported);
    EXPECT_TRUE(Names(status, log, end)) << status.ToString();
  }
  WriteRecord(&log, end, kWalVersion + 1, WalHarness::Payload(2, 10));
  EXPECT_EQ(log.Replay(1).status.code(), Code::kNotSupported);
  WriteRecord(&log, {1, 0}, kWalVersion + 1, WalHarness::Payload(2, 10));
  EXPECT_EQ(log.Replay(1).status.code(), Code::kNotSupported);
}

TEST(WalReaderTest, SequencesOutOfOrderAreCorruption) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100, 100}).ok());
  log.Kill();
  const WalPosition end = Layout(log).back().end;
  WriteRecord(&log, end, kWalVersion, WalHarness::Payload(2, 10));
  const Status status = log.Replay(1).status;
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_TRUE(Names(status, log, end)) << status.ToString();
}

// With valid checksums: only another program writes them, or a writer with a bug.
TEST(WalReaderTest, RecordsThatBreakARuleAreCorruption) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  ASSERT_TRUE(log.Sync().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.Kill();
  const Placed last = Layout(log).back();
  const WalPosition end = last.end;
  ASSERT_GT(last.synced, WalPosition());
  const auto replayed = [&](Slice payload, WalPosition synced) {
    WriteRecord(&log, end, kWalVersion, payload, synced);
    return log.Replay(1).status.ToString();
  };
  const std::string next = WalHarness::Payload(3, 10);
  EXPECT_EQ(replayed(next, end), "OK");
  EXPECT_EQ(replayed(next, last.synced), "OK");
  EXPECT_EQ(replayed(next, {end.segment, end.place + 1}),
            DamageAt(log, end, "the record claims that it is synced"));
  EXPECT_EQ(replayed(next, {last.synced.segment, last.synced.place - 1}),
            DamageAt(log, end, "its synced position goes back"));
  for (const SequenceNumber wrong : {SequenceNumber{1}, SequenceNumber{2}, kSequenceMax + 1}) {
    EXPECT_EQ(replayed(WalHarness::Payload(wrong, 10), end),
              DamageAt(log, end, "sequence " + std::to_string(wrong) + " follows 2"));
  }
  for (const WalKind kind : {WalKind::kPrepare, WalKind::kRollback}) {
    std::string payload = WalHarness::Payload(3, 10);
    payload[0] = static_cast<char>(kind);
    EXPECT_EQ(replayed(payload, end), DamageAt(log, end, "a prepare or rollback with sequence 3"));
    SetWalPayloadSequence(payload.data(), 0);
    EXPECT_EQ(replayed(payload, end), "OK");
  }
  std::string start;
  WalSegmentStart{.sequence = 2, .previous_end = {}}.EncodeTo(&start);
  EXPECT_EQ(replayed(start, end), DamageAt(log, end, "a segment's first record is misplaced"));
  const WalPosition first = WalPosition::At(1, 0);
  WriteRecord(&log, first, kWalVersion, WalHarness::Payload(1, 10));
  EXPECT_EQ(log.Replay(1).status.ToString(),
            DamageAt(log, first, "a segment's first record is misplaced"));
}

TEST(WalReaderTest, ASegmentThatFollowsAnotherSequenceIsCorruption) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100, 100}).ok());
  ASSERT_TRUE(log.wal->Rotate().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.Kill();
  const WalPosition end = Layout(log)[2].end;
  const WalPosition second = WalPosition::At(2, 0);
  for (const SequenceNumber sequence : {1, 2, 3}) {
    std::string start;
    WalSegmentStart{.sequence = sequence, .previous_end = end}.EncodeTo(&start);
    WriteRecord(&log, second, kWalVersion, start);
    const std::string wrong = DamageAt(log, second,
                                       "the segment follows sequence " + std::to_string(sequence) +
                                           ", but the one before ends with 2");
    EXPECT_EQ(log.Replay(1).status.ToString(), sequence == 2 ? "OK" : wrong);
    log.forgive = true;
    const Replayed replayed = log.Replay(1);
    log.forgive = false;
    ASSERT_TRUE(IsPrefix(replayed, log.model, 2));
    if (sequence == 2) continue;
    EXPECT_EQ(replayed.end.position, end);
    EXPECT_EQ(replayed.end.chain.size(), 1u);
    EXPECT_EQ(replayed.end.leftovers.size(), 1u);
    EXPECT_TRUE(replayed.end.cut.starts_with(wrong)) << replayed.end.cut;
  }
}

constexpr const char* kForgiven = "; the log ends here, because open_damaged_log is on";

// The log ends before the damage, for good.
TEST(WalReaderTest, ForgivenDamageIsTheEnd) {
  for (const size_t damaged : {2, 9, 10}) {
    WalHarness log(4 << 10);
    ASSERT_NO_FATAL_FAILURE(WriteThreeSegments(&log, false));
    const std::vector<Placed> layout = Layout(log);
    const WalPosition place = layout[damaged].begin;
    log.fs->FlipByte(log.Path(place.segment), place.offset() + 40);
    const Status refused = log.Replay(1).status;
    ASSERT_EQ(refused.code(), Code::kCorruption) << damaged;
    log.forgive = true;
    const Replayed replayed = log.Replay(1);
    // The manifest knows of a later commit, which is in a table file.
    EXPECT_EQ(log.Replay(1, 30).end.last_sequence, 30u);
    log.forgive = false;
    const auto left = static_cast<size_t>(
        std::count_if(layout.begin(), layout.begin() + static_cast<ptrdiff_t>(damaged),
                      [](const Placed& p) { return p.kind == WalKind::kBatch; }));
    ASSERT_TRUE(IsPrefix(replayed, log.model, left));
    EXPECT_EQ(replayed.payloads.size(), left);
    EXPECT_EQ(replayed.end.cut, refused.ToString() + kForgiven);
    EXPECT_TRUE(log.sink.Contains("ERROR " + replayed.end.cut));
    EXPECT_EQ(replayed.end.position, place);
    EXPECT_EQ(replayed.end.chain.back().end_offset, place.offset());
    EXPECT_EQ(replayed.end.last_sequence, left);
    EXPECT_EQ(replayed.end.number_max, 4u);
    EXPECT_EQ(replayed.end.chain.size() + replayed.end.leftovers.size(), 4u);
    ASSERT_TRUE(WalSet::Open(log.options, replayed.end).status().ok());
    const Replayed again = log.Replay(1);
    EXPECT_TRUE(IsPrefix(again, log.model, left));
    EXPECT_EQ(again.payloads.size(), left);
  }
}

// No segment is left: its numbers must not return, whoever knows the highest.
TEST(WalReaderTest, AForgivenLossDoesNotReuseNumbers) {
  struct Case {
    uint64_t first;
    bool use_mark;
    uint32_t number_max;
  };
  for (const Case& one : {Case{1, false, 1}, Case{9, false, 9}, Case{1, true, 4}, Case{9, true, 9},
                          Case{0, true, 4}}) {
    WalHarness log(4 << 10);
    ASSERT_NO_FATAL_FAILURE(WriteThreeSegments(&log, true));
    for (const uint64_t segment : {1, 2, 3, 4}) {
      ASSERT_TRUE(log.fs->Delete(log.Path(segment)).ok());
    }
    log.use_mark = one.use_mark;
    const Status refused = log.Replay(one.first, 5).status;
    ASSERT_EQ(refused.code(), Code::kCorruption);
    log.forgive = true;
    const Replayed replayed = log.Replay(one.first, 5);
    ASSERT_TRUE(replayed.status.ok()) << replayed.status.ToString();
    EXPECT_TRUE(replayed.payloads.empty());
    EXPECT_EQ(replayed.end.cut, refused.ToString() + kForgiven);
    EXPECT_TRUE(replayed.end.chain.empty());
    EXPECT_EQ(replayed.end.last_sequence, 5u);
    EXPECT_EQ(replayed.end.number_max, one.number_max);
  }
}

TEST(WalReaderTest, OnlyDamageIsForgiven) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.Kill();
  log.forgive = true;
  const WalPosition end = Layout(log).back().end;
  WriteRecord(&log, end, kWalVersion + 1, WalHarness::Payload(2, 10));
  EXPECT_EQ(log.Replay(1).status.code(), Code::kNotSupported);
  std::string unknown = WalHarness::Payload(2, 10);
  unknown[0] = 8;
  WriteRecord(&log, end, kWalVersion, unknown);
  EXPECT_EQ(log.Replay(1).status.code(), Code::kNotSupported);
  log.fs->AddFault({.op = IoOp::kRead, .path_part = ".wal", .times = UINT64_MAX});
  EXPECT_EQ(log.Replay(1).status.code(), Code::kIoError);
}

// A value that contains a piece of the log, after damage: it must not count as evidence.
TEST(WalReaderTest, LogBytesInAValueAreNotRecords) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  for (int i = 0; i < 4; i++) {
    ASSERT_TRUE(log.Append({100}).ok());
    ASSERT_TRUE(log.Sync().ok());
  }
  auto file = log.fs->NewRandomAccessFile(log.Path(1));
  ASSERT_TRUE(file.ok());
  std::string stolen(1024, '\0');
  ASSERT_TRUE((*file)->ReadAt(0, stolen.size(), stolen.data()).ok());
  std::string buffer;
  WalBatchEncoder encoder(&buffer);
  encoder.Begin();
  for (size_t shift = 0; shift < 8; shift++) encoder.Put(1, "k", std::string(shift, 'x') + stolen);
  encoder.Finish();
  SetWalPayloadSequence(buffer.data(), 5);
  const Slice payloads[] = {buffer};
  ASSERT_TRUE(log.wal->Append(payloads, 0, false).ok());
  log.Kill();
  EXPECT_EQ(log.Replay(1).payloads.size(), 5u);
  log.fs->FlipByte(log.Path(1), Layout(log).back().begin.offset() + 45);
  const Replayed replayed = log.Replay(1);
  EXPECT_TRUE(IsPrefix(replayed, log.model, 4));
}

TEST(WalReaderTest, ReadErrorsAreNoEnd) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100, 100}).ok());
  log.Kill();
  for (uint64_t nth = 1; nth <= 3; nth++) {
    log.fs->ClearFaults();
    log.fs->AddFault({.op = IoOp::kRead, .path_part = ".wal", .nth = nth});
    EXPECT_EQ(log.Replay(1).status.code(), Code::kIoError) << nth;
  }
}

// One bad read of a good file, at any place, loses nothing.
TEST(WalReaderTest, OneBadReadLosesNothing) {
  for (uint64_t nth = 1; nth <= 8; nth++) {
    for (uint64_t seed = 1; seed <= 100; seed++) {
      WalHarness log(4 << 10);
      log.UseDisk(std::make_unique<MemFs>(seed));
      CHECK_OK(log.fs->CreateDir(WalHarness::kDir));
      ASSERT_TRUE(log.Open().ok());
      ASSERT_TRUE(log.Append({100, 100, 100, 1000, 2000}).ok());
      ASSERT_TRUE(log.wal->Rotate().ok());
      ASSERT_TRUE(log.Append({100, 3000}).ok());
      log.Kill();
      const std::vector<std::string> model = log.model;
      log.fs->AddFault({.op = IoOp::kRead, .kind = FaultRule::Kind::kCorruptRead, .nth = nth});
      log.Open(1).IgnoreError();
      log.Kill();
      log.fs->ClearFaults();
      const Replayed replayed = log.Replay(1);
      EXPECT_TRUE(IsPrefix(replayed, model, model.size())) << nth << ", seed " << seed;
    }
  }
}

TEST(WalReaderTest, SegmentsThatAreNoSegments) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.Kill();
  for (const char* name :
       {"/db/abc.wal", "/db/000000.wal", "/db/99999999999.wal", "/db/000009.wal"}) {
    auto file = log.fs->NewWritableFile(name, OpenMode::kCreate);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Append("not a segment").ok());
  }
  EXPECT_TRUE(IsPrefix(log.Replay(1), log.model, 1));
  ASSERT_TRUE(log.Open(1).ok());
  EXPECT_EQ(log.wal->current_segment(), 10u);
}

// Wherever it begins after unwritten space: the search skips zeros.
TEST(WalSegmentReaderTest, FindsARecordBehindZeros) {
  constexpr uint32_t kSegment = 7;
  constexpr uint64_t kWindow = 256 << 10;
  const std::string payload = WalHarness::Payload(1, 20);
  std::vector<uint64_t> places = {kWindow + (300 << 10)};
  for (uint64_t at = 0; at < 200; at += kWalAlignment) places.push_back(at);
  for (uint64_t at = kWindow - 120; at < kWindow + 40; at += kWalAlignment) places.push_back(at);
  for (const uint64_t place : places) {
    MemFs fs;
    std::string bytes(kWindow + (400 << 10), '\0');
    WalFrame frame;
    frame.payload_bytes = static_cast<uint32_t>(payload.size());
    frame.position = WalPosition::At(kSegment, place);
    EncodeWalFrame(frame, payload, bytes.data() + place);
    payload.copy(bytes.data() + place + kWalFrameBytes, payload.size());
    auto file = fs.NewWritableFile("/segment", OpenMode::kCreate);
    ASSERT_TRUE(file.ok() && (*file)->Append(bytes).ok());
    auto reader = WalSegmentReader::Open(&fs, "/segment", kSegment);
    ASSERT_TRUE(reader.ok());
    WalRecordAt at;
    auto found = (*reader)->FindFrom(0, UINT64_MAX, &at);
    ASSERT_TRUE(found.ok() && *found) << place;
    EXPECT_EQ(at.frame.position, frame.position);
    EXPECT_EQ(at.payload, payload);
    found = (*reader)->FindFrom(place + kWalAlignment, UINT64_MAX, &at);
    EXPECT_TRUE(found.ok() && !*found) << place;
  }
}

}  // namespace
}  // namespace tidesdb
