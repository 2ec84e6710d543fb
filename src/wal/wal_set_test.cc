#include "wal/wal_set.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/failpoint.h"
#include "io/file_util.h"
#include "io/posix_fs.h"
#include "wal/wal_test_util.h"

namespace tidesdb {
namespace {

TEST(WalSetTest, EmptyLogOpensAndReplays) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  EXPECT_EQ(log.wal->current_segment(), 1u);
  EXPECT_EQ(log.wal->last_sequence(), 0u);
  log.Kill();
  const Replayed replayed = log.Replay(1);
  ASSERT_TRUE(replayed.status.ok());
  EXPECT_TRUE(replayed.payloads.empty());
  EXPECT_TRUE(replayed.end.cut.empty());
}

TEST(WalSetTest, WhatIsAppendedSurvivesAKilledProcess) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({10, 0, 300}).ok());
  ASSERT_TRUE(log.Append({5000}).ok());
  EXPECT_EQ(log.wal->last_sequence(), 4u);
  EXPECT_EQ(log.wal->synced_sequence(), 0u);
  log.Kill();
  const Replayed replayed = log.Replay();
  EXPECT_TRUE(IsPrefix(replayed, log.model, 4));
  EXPECT_EQ(replayed.end.last_sequence, 4u);
  EXPECT_TRUE(replayed.end.cut.empty());
  EXPECT_TRUE(log.sink.Messages().empty());
}

TEST(WalSetTest, GoesOnInANewSegmentAfterOpening) {
  WalHarness log;
  for (int round = 0; round < 5; round++) {
    ASSERT_TRUE(log.Open().ok());
    EXPECT_EQ(log.model.size(), static_cast<size_t>(round) * 2);
    ASSERT_TRUE(log.Append({10, 20}).ok());
    log.Kill();
  }
  const Replayed replayed = log.Replay(1);
  EXPECT_TRUE(IsPrefix(replayed, log.model, 10));
  EXPECT_EQ(replayed.end.chain.size(), 5u);
}

TEST(WalSetTest, StartsThatWriteNothingDoNotPileUpSegments) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({10}).ok());
  log.Kill();
  for (int round = 0; round < 10; round++) {
    ASSERT_TRUE(log.Open().ok());
    log.Kill();
  }
  ASSERT_TRUE(log.Open(1).ok());
  EXPECT_EQ(log.model.size(), 1u);
  EXPECT_EQ(log.wal->stats().segments, 2u);
  auto names = log.fs->List(WalHarness::kDir);
  ASSERT_TRUE(names.ok());
  EXPECT_LE(names->size(), 5u);  // Two valid ones, two spares, SYNCED.
}

TEST(WalSetTest, ChangesSegmentsWhenTheyAreFull) {
  WalHarness log(8 << 10);
  ASSERT_TRUE(log.Open().ok());
  for (int i = 0; i < 50; i++) ASSERT_TRUE(log.Append({1000, 100}).ok());
  EXPECT_GE(log.wal->current_segment(), 7u);
  EXPECT_EQ(log.wal->stats().segments, log.wal->current_segment());
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 100));
}

TEST(WalSetTest, RecordsLargerThanASegment) {
  WalHarness log(8 << 10);
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100000}).ok());  // Extends an empty segment.
  ASSERT_TRUE(
      log.Append({10, 1 << 20, 10}).ok());  // Goes to its own segment, without the copy buffer.
  ASSERT_TRUE(log.Append({300 << 10, 300 << 10}).ok());
  ASSERT_TRUE(log.Append({5 << 20}).ok());
  ASSERT_TRUE(log.Append({7}).ok());
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 8));
  ASSERT_TRUE(log.Open().ok());
  EXPECT_EQ(log.model.size(), 8u);
}

TEST(WalSetTest, FillsASegmentToTheLastByte) {
  WalHarness log(4 << 10);
  ASSERT_TRUE(log.Open().ok());
  const uint64_t start = log.metrics.Get(Counter::kWalBytesWritten);
  const size_t overhead = WalHarness::Payload(1, 0).size();
  const size_t room = 4096 - start - kWalFrameBytes - overhead;
  // The length of a value of this size takes one more byte.
  ASSERT_TRUE(log.Append({room - 1}).ok());
  EXPECT_EQ(log.metrics.Get(Counter::kWalBytesWritten), 4096u);
  EXPECT_EQ(log.wal->current_segment(), 1u);
  ASSERT_TRUE(log.Append({0}).ok());
  EXPECT_EQ(log.wal->current_segment(), 2u);
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 2));
}

TEST(WalSetTest, SyncsAreCounted) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  uint64_t syncs = log.Syncs();
  ASSERT_TRUE(log.Sync().ok());
  EXPECT_EQ(log.Syncs(), syncs);  // Nothing to sync.
  ASSERT_TRUE(log.Append({10, 10, 10}).ok());
  EXPECT_EQ(log.Syncs(), syncs);  // Appending does not sync.
  ASSERT_TRUE(log.Sync().ok());
  EXPECT_EQ(log.Syncs(), ++syncs);
  EXPECT_EQ(log.wal->synced_sequence(), 3u);
  ASSERT_TRUE(log.Sync().ok());
  EXPECT_EQ(log.Syncs(), syncs);
  ASSERT_TRUE(log.Append({10}).ok());
  ASSERT_TRUE(log.wal->Rotate().ok());
  ASSERT_TRUE(log.Append({10}).ok());
  EXPECT_EQ(log.Syncs(), syncs);  // A change of segment does not sync.
  ASSERT_TRUE(log.Sync().ok());
  syncs += 2;  // The old one, then the new one.
  EXPECT_EQ(log.Syncs(), syncs);
  ASSERT_TRUE(log.wal->Rotate().ok());
  ASSERT_TRUE(log.Sync().ok());
  EXPECT_EQ(log.Syncs(), syncs);  // The new segment has no record.
  ASSERT_TRUE(log.Append({10}).ok());
  ASSERT_TRUE(log.Sync().ok());
  EXPECT_EQ(log.Syncs(), ++syncs);  // The old one was already durable.
  EXPECT_EQ(log.metrics.Get(Counter::kWalSyncs), log.Syncs());
}

TEST(WalSetTest, RotateKeepsAnEmptySegment) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  EXPECT_EQ(*log.wal->Rotate(), 1u);
  ASSERT_TRUE(log.Append({10}).ok());
  EXPECT_EQ(*log.wal->Rotate(), 2u);
  EXPECT_EQ(*log.wal->Rotate(), 2u);
}

TEST(WalSetTest, RetiredSegmentsAreRecycled) {
  WalHarness log(4 << 10);
  ASSERT_TRUE(log.Open().ok());
  for (int i = 0; i < 200; i++) {
    ASSERT_TRUE(log.Append({500, 500}).ok());
    ASSERT_TRUE(log.wal->RetireBelow(log.wal->current_segment()).ok());
    auto names = log.fs->List(WalHarness::kDir);
    ASSERT_TRUE(names.ok());
    ASSERT_LE(names->size(), 3u);
  }
  // The file is full of old records with the same layout; none may count as new.
  const uint64_t current = log.wal->current_segment();
  EXPECT_GT(current, 60u);
  log.Kill();
  const Replayed replayed = log.Replay(current);
  ASSERT_TRUE(replayed.status.ok()) << replayed.status.ToString();
  const std::vector<std::string> tail(
      log.model.end() - static_cast<ptrdiff_t>(replayed.payloads.size()), log.model.end());
  EXPECT_TRUE(IsPrefix(replayed, tail, 1));
  EXPECT_TRUE(replayed.end.cut.empty());
  ASSERT_TRUE(log.Open(current).ok());
  EXPECT_LE(log.fs->List(WalHarness::kDir)->size(), 4u);
}

TEST(WalSetTest, GroupsOverwriteWholePagesOfARecycledSegment) {
  for (const bool synced : {false, true}) {
    WalHarness log(16 << 10);
    ASSERT_TRUE(log.Open().ok());
    for (int i = 0; i < 12; i++) {
      ASSERT_TRUE(log.Append({5000}).ok());
      ASSERT_TRUE(log.wal->RetireBelow(log.wal->current_segment()).ok());
    }
    const uint64_t first = log.wal->current_segment();
    ASSERT_TRUE(log.wal->Rotate().ok());
    const std::string path = log.Path(static_cast<uint32_t>(log.wal->current_segment()));
    const auto page = [&](size_t i) {
      return ReadWholeFile(*log.fs, path)->substr(i * 4096, 4096);
    };
    EXPECT_EQ(page(0).back(), '\0');
    ASSERT_NE(page(1).back(), '\0');  // Of the segment before.
    const uint64_t before = log.metrics.Get(Counter::kWalBytesWritten);
    ASSERT_TRUE(log.Append({1000}, 0, synced).ok());
    EXPECT_LT(log.metrics.Get(Counter::kWalBytesWritten) - before, 1100u);
    EXPECT_EQ(page(0).find_last_not_of('\0') / 1000, 1u);
    EXPECT_NE(page(1)[2000], '\0');
    // Within the page, into the next, and over several.
    ASSERT_TRUE(log.Append({1000}, 0, synced).ok());
    EXPECT_NE(page(1)[2000], '\0');
    ASSERT_TRUE(log.Append({3000}, 0, synced).ok());
    EXPECT_EQ(page(1)[2000], '\0');
    EXPECT_EQ(page(1).back(), '\0');
    EXPECT_NE(page(2)[4095], '\0');
    ASSERT_TRUE(log.Append({5000}, 0, synced).ok());
    EXPECT_EQ(page(2).back(), '\0');
    // Up to the last byte of the segment, which has no room for a whole page.
    for (int i = 0; i < 40; i++) {
      ASSERT_TRUE(log.Append({1000}, 0, synced).ok());
      if (synced) {
        ASSERT_TRUE(log.Sync().ok());
      }
    }
    log.Kill();
    const Replayed replayed = log.Replay(first);
    ASSERT_TRUE(replayed.status.ok()) << replayed.status.ToString();
    ASSERT_GE(replayed.payloads.size(), 41u);
    EXPECT_EQ(replayed.payloads.back(), log.model.back());
  }
}

// What the disk writes for a log of its own files.
TEST(WalSetTest, ReservedBlocksAreWrittenAheadOfSyncedGroups) {
  std::string dir = testing::TempDir() + "/tidesdb_wal_XXXXXX";
  ASSERT_NE(::mkdtemp(dir.data()), nullptr);
  WalHarness log;
  const auto disk = NewPosixFileSystem();
  const auto& written = disk->counters().of(FileKind::kWal).write_bytes;
  bool writes_ahead = false;  // Whether this file system has direct writes.
  {
    auto probe = disk->NewPositionalFile(WalFileName(dir, 999), OpenMode::kCreate);
    ASSERT_TRUE(probe.ok() && (*probe)->Preallocate(1 << 20).ok());
    (*probe)->WriteReserved(0, 1 << 20);
    writes_ahead = written > 0;
    ASSERT_TRUE(disk->Delete(WalFileName(dir, 999)).ok());
  }
  log.options.fs = disk.get();
  log.options.dir = dir;
  log.options.segment_bytes = 4 << 20;
  ASSERT_TRUE(log.Open().ok());
  const uint64_t opened = written;
  ASSERT_TRUE(log.Append({100}).ok());
  ASSERT_LT(written - opened, 1000u);
  ASSERT_TRUE(log.Append({100}, 0, true).ok() && log.Sync().ok());
  const uint64_t ahead = written;
  EXPECT_EQ(ahead - opened > (500u << 10), writes_ahead) << ahead - opened;
  for (int i = 0; i < 100; i++) ASSERT_TRUE(log.Append({100}, 0, true).ok() && log.Sync().ok());
  EXPECT_LT(written - ahead, 100 * 8192u);
  // Beyond the first MiB, which is the first reservation; one large group is not written twice.
  for (int i = 0; i < 20; i++) ASSERT_TRUE(log.Append({90'000}, 0, true).ok() && log.Sync().ok());
  const uint64_t small = written;
  ASSERT_TRUE(log.Append({1 << 20}, 0, true).ok() && log.Sync().ok());
  EXPECT_LT(written - small, (1u << 20) + 16'000);
  log.wal.reset();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, log.model.size()));
  EXPECT_TRUE(RemoveTree(*disk, dir).ok());
}

TEST(WalSetTest, RetiringNeverTakesTheCurrentSegment) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({10}).ok());
  ASSERT_TRUE(log.wal->RetireBelow(1000).ok());
  EXPECT_EQ(log.wal->stats().segments, 1u);
  ASSERT_TRUE(log.Append({10}).ok());
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 2));
}

TEST(WalSetTest, SegmentMadeAheadIsUsed) {
  WalHarness log(4 << 10);
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.wal->PrepareNext().ok());
  ASSERT_TRUE(log.wal->PrepareNext().ok());
  EXPECT_TRUE(*log.fs->Exists(log.Path(2)));
  EXPECT_FALSE(*log.fs->Exists(log.Path(3)));
  const uint64_t dir_syncs = log.fs->counters().dir_syncs.load();
  ASSERT_TRUE(log.Append({10}).ok());
  EXPECT_EQ(*log.wal->Rotate(), 2u);
  EXPECT_EQ(log.fs->counters().dir_syncs.load(), dir_syncs);
  ASSERT_TRUE(log.Append({10}).ok());
  // A segment that is too small is skipped.
  ASSERT_TRUE(log.wal->PrepareNext().ok());
  ASSERT_TRUE(log.Append({20000}).ok());
  EXPECT_EQ(log.wal->current_segment(), 4u);
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 3));
  // A segment that was never begun does not count at the next start.
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.wal->PrepareNext().ok());
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 3));
}

TEST(WalSetTest, NoSpaceLeavesTheLogUsable) {
  WalHarness log(16 << 10);
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({1000}).ok());
  log.fs->SetCapacity(20 << 10);
  EXPECT_EQ(log.Append({100000}).code(), Code::kNoSpace);
  EXPECT_EQ(log.wal->ReserveBytes(30 << 10).code(), Code::kNoSpace);
  EXPECT_TRUE(log.wal->status().ok());
  log.next_sequence = 2;
  ASSERT_TRUE(log.Append({1000}).ok());
  ASSERT_TRUE(log.Sync().ok());
  log.fs->SetCapacity(UINT64_MAX);
  ASSERT_TRUE(log.Append({100000}).ok());
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 3));
}

TEST(WalSetTest, ReservedSpaceIsThereOnAFullDisk) {
  WalHarness log(16 << 10);
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({2000}).ok());
  const uint64_t record = WalSet::RecordBytes(WalHarness::Payload(2, 12000).size());
  ASSERT_TRUE(log.wal->ReserveBytes(record).ok());
  ASSERT_TRUE(log.wal->ReserveBytes(record).ok());
  log.fs->SetCapacity(1);  // Full from now on.
  // Appends by others cannot use up reserved space.
  Status status;
  while ((status = log.Append({100})).ok()) {
  }
  EXPECT_EQ(status.code(), Code::kNoSpace);
  log.next_sequence--;
  ASSERT_TRUE(log.Append({12000}, record).ok());
  ASSERT_TRUE(log.Append({12000}, record).ok());
  EXPECT_EQ(log.Append({12000}).code(), Code::kNoSpace);
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, log.model.size()));
}

TEST(WalSetTest, ReservationsCanBeGivenBack) {
  WalHarness log(16 << 10);
  ASSERT_TRUE(log.Open().ok());
  log.fs->SetCapacity(16 << 10);
  ASSERT_TRUE(log.wal->ReserveBytes(10000).ok());
  EXPECT_EQ(log.wal->ReserveBytes(10000).code(), Code::kNoSpace);
  log.wal->UnreserveBytes(10000);
  EXPECT_TRUE(log.wal->ReserveBytes(10000).ok());
}

TEST(WalSetTest, OpensOnAFullDisk) {
  WalHarness log(1 << 20);
  log.fs->SetCapacity(100 << 10);
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({1000}).ok());
  EXPECT_EQ(log.Append({100 << 10}).code(), Code::kNoSpace);
}

TEST(WalSetTest, FailedWriteIsFinal) {
  for (const auto kind :
       {FaultRule::Kind::kIoError, FaultRule::Kind::kShortWrite, FaultRule::Kind::kNoSpace}) {
    WalHarness log;
    ASSERT_TRUE(log.Open().ok());
    ASSERT_TRUE(log.Append({100}).ok());
    log.fs->AddFault({.op = IoOp::kWrite, .path_part = ".wal", .kind = kind});
    const Status first = log.Append({2000});
    EXPECT_FALSE(first.ok());
    log.fs->ClearFaults();
    for (int i = 0; i < 2; i++) {
      const Status later = log.Append({100});
      EXPECT_EQ(later.code(), Code::kReadOnly);
      EXPECT_NE(later.message().find(first.message()), Slice::npos) << later.ToString();
    }
    EXPECT_EQ(log.wal->Sync().code(), Code::kReadOnly);
    EXPECT_EQ(log.wal->Rotate().status().code(), Code::kReadOnly);
    EXPECT_EQ(log.wal->ReserveBytes(1).code(), Code::kReadOnly);
    EXPECT_EQ(log.wal->PrepareNext().code(), Code::kReadOnly);
    EXPECT_EQ(log.wal->Close().code(), Code::kReadOnly);
    EXPECT_EQ(log.wal->status().message(), first.message());
    log.Kill();
    EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 1));
  }
}

TEST(WalSetTest, FailedSyncIsFinal) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.fs->AddFault({.op = IoOp::kSync, .path_part = ".wal"});
  EXPECT_EQ(log.Sync().code(), Code::kIoError);
  const uint64_t syncs = log.Syncs();
  EXPECT_EQ(log.Sync().code(), Code::kReadOnly);
  EXPECT_EQ(log.Syncs(), syncs);  // No second attempt.
  EXPECT_EQ(log.Append({100}).code(), Code::kReadOnly);
  EXPECT_EQ(log.wal->synced_sequence(), 0u);
}

TEST(WalSetTest, FailedDirectorySyncIsFinal) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.fs->AddFault({.op = IoOp::kSyncDir});
  EXPECT_EQ(log.wal->Rotate().status().code(), Code::kIoError);
  EXPECT_EQ(log.Append({100}).code(), Code::kReadOnly);
}

TEST(WalSetTest, FailedCreationLeavesTheLogUsable) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.fs->AddFault({.op = IoOp::kOpen});
  EXPECT_EQ(log.wal->Rotate().status().code(), Code::kIoError);
  ASSERT_TRUE(log.Append({100}).ok());
  ASSERT_TRUE(log.wal->Rotate().ok());
  ASSERT_TRUE(log.Append({100}).ok());
  log.Kill();
  EXPECT_TRUE(IsPrefix(log.Replay(), log.model, 3));
}

TEST(WalSetTest, TooLargeARecordIsRefused) {
  // Apart from the prefix, the bytes are not read before the size is checked.
  const std::string payload = WalHarness::Payload(1, 10);
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  const Slice huge[] = {Slice(payload.data(), kWalPayloadBytesMax + 1)};
  EXPECT_EQ(log.wal->Append(huge, 0, false).code(), Code::kInvalidArgument);
  EXPECT_TRUE(log.wal->status().ok());
  EXPECT_TRUE(log.Append({1}).ok());
}

TEST(WalSetTest, ClosedLogIsProvenToTheEnd) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({100, 100}).ok());
  ASSERT_TRUE(log.wal->Close().ok());
  EXPECT_EQ(log.Append({1}).code(), Code::kShuttingDown);
  log.Kill();
  const Replayed replayed = log.Replay();
  EXPECT_TRUE(IsPrefix(replayed, log.model, 2));
  ASSERT_EQ(replayed.end.chain.size(), 1u);
  // Everything except the mark itself.
  EXPECT_EQ(replayed.end.chain[0].end_offset - replayed.end.chain[0].unproven_offset,
            WalRecordBytes(kWalPrefixBytes));
}

using WalSetDeathTest = testing::Test;

TEST(WalSetDeathTest, SequencesMustAscend) {
  WalHarness log;
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({1, 1}).ok());
  log.next_sequence = 2;
  EXPECT_DEATH(log.Append({1}).IgnoreError(), "sequence > .last");
}

}  // namespace
}  // namespace tidesdb
