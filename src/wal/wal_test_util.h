// A log on an in-memory disk, and a model of the written data; for tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/test_seed.h"
#include "format/wal_format.h"
#include "io/mem_fs.h"
#include "wal/wal_reader.h"
#include "wal/wal_set.h"

namespace tidesdb {

// The result of a replay, or its error.
struct Replayed {
  Status status;
  std::vector<std::string> payloads;
  WalEnd end;
};

class WalHarness {
 public:
  explicit WalHarness(uint64_t segment_bytes = 16 << 10) {
    CHECK_OK(fs->CreateDir(kDir));
    CHECK_OK(fs->SyncDir("/"));
    options.dir = kDir;
    options.segment_bytes = segment_bytes;
    options.clock = &clock;
    options.logger = &logger;
    options.metrics = &metrics;
    options.fs = fs.get();
  }

  static std::string Payload(SequenceNumber sequence, size_t value_bytes) {
    std::string buffer;
    WalBatchEncoder encoder(&buffer);
    encoder.Begin();
    encoder.Put(1, "key" + std::to_string(sequence),
                std::string(value_bytes, static_cast<char>('a' + sequence % 26)));
    encoder.Finish();
    SetWalPayloadSequence(buffer.data(), sequence);
    return buffer;
  }

  Replayed Replay(uint64_t first = 0, SequenceNumber synced_sequence = 0) const {
    Replayed replayed;
    WalClaims claims;
    claims.sequence = synced_sequence;
    claims.forgive = forgive;
    const Result<WalPosition> mark = WalMark::Read(options.fs, options.dir);
    replayed.status = mark.status();
    if (!replayed.status.ok()) return replayed;
    if (use_mark) claims.place = *mark;
    auto reader = WalReader::Open(options, first, claims);
    replayed.status = reader.status();
    if (!replayed.status.ok()) return replayed;
    for (;;) {
      WalRecord record;
      auto more = (*reader)->Next(&record);
      replayed.status = more.status();
      if (!replayed.status.ok()) return replayed;
      if (!*more) break;
      replayed.payloads.emplace_back(record.payload);
    }
    replayed.end = (*reader)->end();
    return replayed;
  }

  // Replays and opens; the replayed data becomes the model.
  Status Open(uint64_t first = 0) {
    Replayed replayed = Replay(first);
    TIDESDB_TRY(replayed.status);
    auto opened = WalSet::Open(options, replayed.end);
    TIDESDB_TRY(opened.status());
    wal = std::move(opened).value();
    model = std::move(replayed.payloads);
    synced = model.size();
    next_sequence = replayed.end.last_sequence + 1;
    return Status::Ok();
  }

  // Appends a group of records with values of these sizes.
  Status Append(const std::vector<size_t>& value_bytes, uint64_t reserved_bytes = 0,
                bool sync_follows = false) {
    std::vector<std::string> payloads;
    for (const size_t bytes : value_bytes) payloads.push_back(Payload(next_sequence++, bytes));
    const std::vector<Slice> slices(payloads.begin(), payloads.end());
    TIDESDB_TRY(wal->Append(slices, reserved_bytes, sync_follows));
    model.insert(model.end(), payloads.begin(), payloads.end());
    return Status::Ok();
  }

  Status Sync() {
    TIDESDB_TRY(wal->Sync());
    synced = model.size();
    return Status::Ok();
  }

  // The machine loses power and restarts.
  void PowerCut(uint64_t seed) { UseDisk(fs->CrashClone(seed)); }
  // The process dies; the machine continues.
  void Kill() { wal.reset(); }
  void UseDisk(std::unique_ptr<MemFs> disk) {
    wal.reset();
    fs = std::move(disk);
    options.fs = fs.get();
  }

  uint64_t Syncs() const { return fs->counters().of(FileKind::kWal).syncs.load(); }
  std::string Path(uint64_t segment) const { return WalFileName(kDir, segment); }

  static constexpr const char* kDir = "/db";

  FakeClock clock;
  CapturingLogSink sink;
  Logger logger{&sink, LogLevel::kDebug};
  Metrics metrics;
  std::unique_ptr<MemFs> fs = std::make_unique<MemFs>();
  WalOptions options;
  std::unique_ptr<WalSet> wal;
  std::vector<std::string> model;  // All payloads in order.
  size_t synced = 0;               // The number of them acknowledged as durable.
  SequenceNumber next_sequence = 1;
  bool use_mark = false;  // Replays get the claim of SYNCED, as in a database.
  bool forgive = false;   // Replays end at damage.
};

// The replay is an exact prefix of the model and holds at least `synced` records.
inline testing::AssertionResult IsPrefix(const Replayed& replayed,
                                         const std::vector<std::string>& model, size_t synced) {
  if (!replayed.status.ok()) {
    return testing::AssertionFailure() << replayed.status.ToString();
  }
  if (replayed.payloads.size() < synced || replayed.payloads.size() > model.size()) {
    return testing::AssertionFailure() << replayed.payloads.size() << " records replayed, "
                                       << synced << " were synced, " << model.size() << " written";
  }
  for (size_t i = 0; i < replayed.payloads.size(); i++) {
    if (replayed.payloads[i] != model[i]) {
      return testing::AssertionFailure() << "record " << i << "differs";
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace tidesdb
