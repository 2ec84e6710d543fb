// A tree over a file system in memory, with a WAL that is a list and a model that is every write
// ever made; for tests.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/logger.h"
#include "base/random.h"
#include "io/mem_fs.h"
#include "lsm/lsm_tree.h"
#include "version/version_test_util.h"

namespace tidesdb {

class TreeHarness : public LsmEnv {
 public:
  // What a WAL record holds: one write, or the files of a spilled transaction.
  struct Record {
    uint64_t segment = 0;
    SequenceNumber sequence = 0;
    FamilyId family = 0;
    std::string key;
    ValueType type = ValueType::kPut;
    std::string value;
    std::vector<FileRecord> ingested;
    std::vector<TestEntry> ingested_entries;  // What is in the files, for the model.
    bool loaded = false;                      // Of a load: in no WAL.
  };

  explicit TreeHarness(uint64_t seed);
  ~TreeHarness() override;

  // --- LsmEnv ---
  Status SyncWalTo(SequenceNumber sequence) override;
  SnapshotView Snapshots() override { return {{snapshots.begin(), snapshots.end()}, last_}; }
  std::unique_ptr<MemTable> NewMemTable() override { return tidesdb::NewMemTable(4 << 10); }
  Status Pace(uint64_t bytes) override;

  // --- Life ---
  Status Open();  // Creates or recovers, and replays the WAL.
  void Close();
  // Cuts the power: what was not synced is lost or torn as the seed says; of the WAL at least what
  // was synced is left. Open() comes next. Returns the last commit that survived in the WAL.
  SequenceNumber Crash(uint64_t seed);

  // --- Writing; the last commit is visible at once ---
  SequenceNumber Write(FamilyId family, const std::string& key, ValueType type,
                       const std::string& value);
  // A spilled transaction: the entries' sequences do not matter.
  Status Ingest(FamilyId family, std::vector<TestEntry> entries);
  // A load begins at the last commit; EndLoad sorts the entries and puts them below.
  Status BeginLoad(FamilyId family);
  Status EndLoad(FamilyId family, std::vector<TestEntry> entries);
  bool IsLoading(FamilyId family) const { return loads_.contains(family); }
  void Rotate();
  Status CreateFamily(const std::string& name, FamilyId* id);
  Status DropFamily(FamilyId family);

  // --- Background work, called as threads would ---
  Status FlushAll();
  // Until nothing is left to do, or `jobs_max` were done.
  Status CompactAll(int jobs_max = 1000);

  // --- Reading and comparing with the model; errors fail the test ---
  void CheckKey(FamilyId family, const std::string& key, SequenceNumber snapshot);
  void CheckScan(FamilyId family, SequenceNumber snapshot);
  void CheckEverything();  // All live snapshots and the newest commit.
  // Number of entries in all sources.
  uint64_t CountEntries(FamilyId family);

  SequenceNumber last() const { return last_; }
  std::vector<FamilyId> FamilyIds() const;
  std::string LevelsOf(FamilyId family) const;  // "L0:2 L6:1".

  // For a family's options, before CreateFamily.
  ColumnFamilyOptions family_options;
  // Live snapshots.
  std::multiset<SequenceNumber> snapshots;

  std::unique_ptr<MemFs> fs;
  std::unique_ptr<BlockCache> cache;
  std::unique_ptr<LsmTree> tree;
  CapturingLogSink log_sink;
  std::vector<Record> wal;  // Everything since the beginning; the model too.
  SequenceNumber wal_synced = 0;
  uint64_t wal_segment = 1;
  uint64_t wal_syncs = 0;
  uint64_t paced_bytes = 0;
  Status pace_status;  // What Pace returns.

 private:
  LsmOptions MakeOptions();
  Status Replay();
  // A load whose edit failed is there after a crash, or it is not.
  void DecideLoads();
  void AddLoad(Record record);
  Status ReplayRecord(const Record& record);
  // What a reader at `snapshot` sees of a key.
  std::optional<std::string> ModelGet(FamilyId family, const std::string& key,
                                      SequenceNumber snapshot) const;
  std::map<std::string, std::string> ModelScan(FamilyId family, SequenceNumber snapshot) const;

  Random random_;
  Logger logger_;
  Metrics metrics_;
  SequenceNumber last_ = 0;
  std::map<FamilyId, SequenceNumber> loads_;  // That have begun.
  std::vector<Record> doubtful_loads_;
};

}  // namespace tidesdb
