// A tree on an in-memory file system, with a list as its WAL and all writes ever made as its model;
// for tests.
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
  // The content of a WAL record: one write, or the files of a spilled transaction.
  struct Record {
    uint64_t segment = 0;
    SequenceNumber sequence = 0;
    FamilyId family = 0;
    std::string key;
    ValueType type = ValueType::kPut;
    std::string value;
    std::vector<FileRecord> ingested;
    std::vector<TestEntry> ingested_entries;  // The files' entries, for the model.
    bool loaded = false;                      // Of a load: not in the WAL.
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
  // Cuts the power: unsynced data is lost or torn according to the seed; at least the synced part
  // of the WAL is left. Call Open() next. Returns the last commit that survived in the WAL.
  SequenceNumber Crash(uint64_t seed);

  // --- Writing; the last commit is visible at once ---
  SequenceNumber Write(FamilyId family, const std::string& key, ValueType type,
                       const std::string& value);
  // A spilled transaction: the entries' sequences do not matter.
  Status Ingest(FamilyId family, std::vector<TestEntry> entries);
  // A load begins at the last commit; EndLoad sorts the entries and puts them below all others.
  Status BeginLoad(FamilyId family);
  Status EndLoad(FamilyId family, std::vector<TestEntry> entries);
  bool IsLoading(FamilyId family) const { return loads_.contains(family); }
  void Rotate();
  Status CreateFamily(const std::string& name, FamilyId* id);
  Status DropFamily(FamilyId family);

  // --- Background work, called as by threads ---
  Status FlushAll();
  // Until no work is left, or `jobs_max` jobs are done.
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

  // For a family's options; set before CreateFamily.
  ColumnFamilyOptions family_options;
  size_t open_files_max = 8;  // Set before Open.
  // Live snapshots.
  std::multiset<SequenceNumber> snapshots;

  std::unique_ptr<MemFs> fs;
  std::unique_ptr<BlockCache> cache;
  std::unique_ptr<LsmTree> tree;
  CapturingLogSink log_sink;
  std::vector<Record> wal;  // Everything since the beginning; also the model.
  SequenceNumber wal_synced = 0;
  uint64_t wal_segment = 1;
  uint64_t wal_syncs = 0;
  uint64_t paced_bytes = 0;
  Status pace_status;  // The result of Pace.

 private:
  LsmOptions MakeOptions();
  Status Replay();
  // Finds out after a crash whether a load whose edit failed is there.
  void DecideLoads();
  void AddLoad(Record record);
  Status ReplayRecord(const Record& record);
  // The value of a key for a reader at `snapshot`.
  std::optional<std::string> ModelGet(FamilyId family, const std::string& key,
                                      SequenceNumber snapshot) const;
  std::map<std::string, std::string> ModelScan(FamilyId family, SequenceNumber snapshot) const;

  Random random_;
  Logger logger_;
  Metrics metrics_;
  SequenceNumber last_ = 0;
  std::map<FamilyId, SequenceNumber> loads_;  // Those that have begun.
  std::vector<Record> doubtful_loads_;
};

}  // namespace tidesdb
