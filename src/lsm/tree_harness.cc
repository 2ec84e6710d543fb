#include "lsm/tree_harness.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compaction/load_sorter.h"
#include "compaction/table_output.h"

namespace tidesdb {
namespace {

constexpr char kDirectory[] = "/db";

// The user's view of an iterator over versions: the newest put of each key that the snapshot sees.
std::map<std::string, std::string> Visible(const std::vector<TestEntry>& entries,
                                           SequenceNumber snapshot) {
  std::map<std::string, std::string> seen;
  const std::string* decided = nullptr;
  for (const TestEntry& entry : entries) {
    if (TrailerSequence(entry.trailer) > snapshot) continue;
    if (decided != nullptr && *decided == entry.key) continue;
    decided = &entry.key;
    if (TrailerType(entry.trailer) == ValueType::kPut) seen[entry.key] = entry.value;
  }
  return seen;
}

}  // namespace

TreeHarness::TreeHarness(uint64_t seed)
    : fs(std::make_unique<MemFs>(seed)), random_(seed), logger_(&log_sink, LogLevel::kWarn) {
  // Small enough for several levels with little data.
  family_options.block_bytes = 1 << 10;
  family_options.target_file_bytes = 4 << 10;
  family_options.level0_file_trigger = 3;
  family_options.level_size_ratio = 3;
  family_options.compression = Compression::kNone;
  CHECK_OK(fs->CreateDir(kDirectory));
  CHECK_OK(fs->SyncDir("/"));
}

TreeHarness::~TreeHarness() { Close(); }

Status TreeHarness::SyncWalTo(SequenceNumber sequence) {
  ++wal_syncs;
  wal_synced = std::max(wal_synced, sequence);
  return Status::Ok();
}

Status TreeHarness::Pace(uint64_t bytes) {
  paced_bytes += bytes;
  return pace_status;
}

LsmOptions TreeHarness::MakeOptions() {
  LsmOptions options;
  options.env = this;
  options.fs = fs.get();
  options.directory = kDirectory;
  options.log = &logger_;
  options.metrics = &metrics_;
  options.block_cache = cache.get();
  options.open_files_max = open_files_max;
  options.manifest_rewrite_bytes = 2 << 10;
  return options;
}

Status TreeHarness::Open() {
  cache = NewClockCache(1 << 20, 1 << 10);
  TIDESDB_ASSIGN(tree, LsmTree::Open(MakeOptions(), true));
  DecideLoads();
  TIDESDB_TRY(Replay());
  return tree->FinishRecovery({});
}

void TreeHarness::Close() {
  loads_.clear();
  tree = nullptr;
  cache = nullptr;
}

SequenceNumber TreeHarness::Crash(uint64_t seed) {
  Close();
  fs = fs->CrashClone(seed);
  Random random(seed);
  last_ = random.Between(wal_synced, last_);
  wal.erase(std::find_if(wal.begin(), wal.end(),
                         [this](const Record& record) { return record.sequence > last_; }),
            wal.end());
  wal_synced = last_;
  snapshots.clear();
  return last_;
}

Status TreeHarness::Replay() {
  const SequenceNumber flushed = tree->flushed_sequence();
  const uint64_t segment_min = tree->wal_segment_min();
  EXPECT_LE(flushed, last_) << "files carry a later commit than the WAL";
  tree->SetWalSegment(std::max<uint64_t>(segment_min, 1));
  for (const Record& record : wal) {
    if (record.sequence <= flushed || record.loaded) continue;
    // A dropped family needs no log.
    EXPECT_TRUE(record.segment >= segment_min || tree->Family(record.family) == nullptr)
        << "commit " << record.sequence << " is in no table file, but its segment may be gone";
    TIDESDB_TRY(ReplayRecord(record));
    if (random_.OneIn(50)) tree->Rotate(record.segment, record.sequence);
  }
  // A new segment after recovery, as the WAL does.
  ++wal_segment;
  return Status::Ok();
}

Status TreeHarness::ReplayRecord(const Record& record) {
  if (record.ingested.empty()) {
    if (tree->Family(record.family) == nullptr) return Status::Ok();
    tree->active()->Add(record.family, record.key, record.type, record.sequence, record.value);
    return Status::Ok();
  }
  if (tree->Family(record.family) == nullptr) return Status::Ok();
  TIDESDB_TRY(tree->CheckIngestFiles(record.ingested));
  tree->Ingest(record.ingested, record.sequence, record.segment);
  return Status::Ok();
}

SequenceNumber TreeHarness::Write(FamilyId family, const std::string& key, ValueType type,
                                  const std::string& value) {
  const SequenceNumber sequence = last_ + 1;
  wal.push_back({wal_segment, sequence, family, key, type, value, {}, {}, false});
  tree->active()->Add(family, key, type, sequence, value);
  last_ = sequence;
  return sequence;
}

Status TreeHarness::Ingest(FamilyId family, std::vector<TestEntry> entries) {
  const SequenceNumber sequence = last_ + 1;
  std::vector<FileRecord> files;
  for (TestEntry& entry : entries) entry.trailer = PackTrailer(0, TrailerType(entry.trailer));
  SortEntries(&entries);
  JobContext context;
  context.fs = fs.get();
  context.directory = kDirectory;
  context.new_file_number = [this] { return tree->versions().NewFileNumber(); };
  TableOutput output(&context, TableOptionsOf(family, family_options), CachePriority::kData);
  for (size_t i = 0; i < entries.size(); ++i) {
    TIDESDB_TRY(output.Add(entries[i].key, entries[i].trailer, entries[i].value));
    if (i % 7 == 6) TIDESDB_TRY(output.FinishFile());
  }
  TIDESDB_TRY(output.FinishFile());
  TIDESDB_TRY(output.SyncDirectory());
  files = output.Release();
  for (TestEntry& entry : entries)
    entry.trailer = PackTrailer(sequence, TrailerType(entry.trailer));
  wal.push_back({wal_segment, sequence, family, {}, {}, {}, files, entries, false});
  tree->Ingest(files, sequence, wal_segment);
  last_ = sequence;
  return Status::Ok();
}

Status TreeHarness::BeginLoad(FamilyId family) {
  TIDESDB_TRY(tree->BeginLoad(family));
  loads_[family] = last_;
  return Status::Ok();
}

Status TreeHarness::EndLoad(FamilyId family, std::vector<TestEntry> entries) {
  Record record;
  record.sequence = loads_.at(family);
  record.family = family;
  record.loaded = true;
  loads_.erase(family);
  LoadSorterOptions options;
  options.table = TableOptionsOf(family, family_options);
  options.target_file_bytes = family_options.target_file_bytes;
  LoadSorter sorter(&tree->job_context(), options);
  const auto load = [&]() -> Status {
    for (size_t i = entries.size(); i-- > 0;) {
      TIDESDB_TRY(sorter.Add(entries[i].key, entries[i].value));
    }
    TIDESDB_TRY(sorter.Finish());
    for (FileRecord& file : record.ingested = sorter.Release()) {
      file.global_sequence = record.sequence;
      file.properties.sequence_min = file.properties.sequence_max = record.sequence;
    }
    const auto held = tree->HoldCompactions(family);
    return tree->InstallLoad(family, record.ingested, last_);
  };
  for (TestEntry& entry : entries) entry.trailer = PackTrailer(record.sequence, ValueType::kPut);
  record.ingested_entries = entries;
  Status status = load();
  if (status.ok()) {
    AddLoad(std::move(record));
    return status;
  }
  tree->versions().DiscardFiles(record.ingested);
  tree->GiveUpLoad(family);
  doubtful_loads_.push_back(std::move(record));
  return status;
}

void TreeHarness::AddLoad(Record record) {
  const auto after = std::find_if(wal.begin(), wal.end(), [&](const Record& other) {
    return other.sequence > record.sequence;
  });
  wal.insert(after, std::move(record));
}

void TreeHarness::DecideLoads() {
  const std::set<uint64_t> live = tree->versions().LiveTables();
  for (Record& load : doubtful_loads_) {
    const auto there =
        std::count_if(load.ingested.begin(), load.ingested.end(),
                      [&](const FileRecord& file) { return live.contains(file.number); });
    EXPECT_TRUE(there == 0 || static_cast<size_t>(there) == load.ingested.size());
    if (there != 0) AddLoad(std::move(load));
  }
  doubtful_loads_.clear();
}

void TreeHarness::Rotate() {
  if (random_.OneIn(2)) ++wal_segment;  // Segments and memtables need not rotate together.
  tree->Rotate(wal_segment, last_);
}

Status TreeHarness::CreateFamily(const std::string& name, FamilyId* id) {
  *id = tree->versions().NewFamilyId();
  ColumnFamilyOptions options = family_options;
  options.name = name;
  CatalogEdit edit;
  edit.create.push_back({*id, options});
  edit.put.emplace_back("table/" + name, std::to_string(*id));
  return tree->ApplyCatalog(edit, last_);
}

Status TreeHarness::DropFamily(FamilyId family) {
  CatalogEdit edit;
  edit.drop.push_back(family);
  return tree->ApplyCatalog(edit, last_);
}

Status TreeHarness::FlushAll() {
  for (;;) {
    TIDESDB_ASSIGN(const bool did_work, tree->FlushOne(nullptr));
    if (!did_work) return Status::Ok();
  }
}

Status TreeHarness::CompactAll(int jobs_max) {
  for (int i = 0; i < jobs_max; ++i) {
    auto task = tree->PickCompaction();
    if (task == nullptr) break;
    TIDESDB_TRY(tree->RunCompaction(std::move(task), nullptr));
  }
  tree->DeleteObsolete(1000);
  return Status::Ok();
}

std::vector<FamilyId> TreeHarness::FamilyIds() const {
  std::vector<FamilyId> ids;
  for (const VersionRef& version : tree->Families()) ids.push_back(version->family());
  return ids;
}

std::string TreeHarness::LevelsOf(FamilyId family) const {
  const VersionRef version = tree->Family(family);
  std::string out;
  for (int level = 0; level < kLevels; ++level) {
    if (version->files(level).empty()) continue;
    out += (out.empty() ? "L" : " L") + std::to_string(level) + ":" +
           std::to_string(version->files(level).size());
  }
  return out;
}

std::optional<std::string> TreeHarness::ModelGet(FamilyId family, const std::string& key,
                                                 SequenceNumber snapshot) const {
  std::optional<std::string> value;
  for (const Record& record : wal) {
    if (record.sequence > snapshot) break;
    if (record.family != family) continue;
    const auto apply = [&](const std::string& at, ValueType type, const std::string& bytes) {
      if (at != key) return;
      value = type == ValueType::kPut ? std::optional(bytes) : std::nullopt;
    };
    if (record.ingested.empty() && !record.loaded) apply(record.key, record.type, record.value);
    for (const TestEntry& entry : record.ingested_entries) {
      apply(entry.key, TrailerType(entry.trailer), entry.value);
    }
  }
  return value;
}

std::map<std::string, std::string> TreeHarness::ModelScan(FamilyId family,
                                                          SequenceNumber snapshot) const {
  std::map<std::string, std::string> rows;
  for (const Record& record : wal) {
    if (record.sequence > snapshot) break;
    if (record.family != family) continue;
    const auto apply = [&](const std::string& key, ValueType type, const std::string& value) {
      if (type == ValueType::kPut) {
        rows[key] = value;
      } else {
        rows.erase(key);
      }
    };
    if (record.ingested.empty() && !record.loaded) apply(record.key, record.type, record.value);
    for (const TestEntry& entry : record.ingested_entries) {
      apply(entry.key, TrailerType(entry.trailer), entry.value);
    }
  }
  return rows;
}

void TreeHarness::CheckKey(FamilyId family, const std::string& key, SequenceNumber snapshot) {
  const ReadStateRef state = tree->Acquire();
  VersionHit hit;
  const Result<bool> found = state->Get(family, key, snapshot, &hit);
  ASSERT_TRUE(found.status().ok()) << found.status().ToString();
  std::optional<std::string> value;
  if (*found && hit.type == ValueType::kPut) value = std::string(hit.value);
  if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
  ASSERT_EQ(value, ModelGet(family, key, snapshot))
      << "family " << family << ", key " << key << ", snapshot " << snapshot << ", "
      << LevelsOf(family);
}

void TreeHarness::CheckScan(FamilyId family, SequenceNumber snapshot) {
  const ReadStateRef state = tree->Acquire();
  auto iter = state->NewIterator(family, {});
  ASSERT_TRUE(iter.status().ok());
  std::vector<TestEntry> forward;
  for ((*iter)->SeekToFirst(); (*iter)->Valid(); (*iter)->Next()) {
    forward.push_back(
        {std::string((*iter)->user_key()), (*iter)->trailer(), std::string((*iter)->value())});
  }
  ASSERT_TRUE((*iter)->status().ok()) << (*iter)->status().ToString();
  ASSERT_EQ(Visible(forward, snapshot), ModelScan(family, snapshot))
      << "family " << family << ", snapshot " << snapshot << ", " << LevelsOf(family);
  std::vector<TestEntry> backward;
  for ((*iter)->SeekToLast(); (*iter)->Valid(); (*iter)->Prev()) {
    backward.push_back(
        {std::string((*iter)->user_key()), (*iter)->trailer(), std::string((*iter)->value())});
  }
  ASSERT_TRUE((*iter)->status().ok()) << (*iter)->status().ToString();
  std::reverse(backward.begin(), backward.end());
  ASSERT_EQ(forward.size(), backward.size());
  ASSERT_TRUE(forward == backward);
}

void TreeHarness::CheckEverything() {
  std::set<SequenceNumber> readers(snapshots.begin(), snapshots.end());
  readers.insert(last_);
  for (const FamilyId family : FamilyIds()) {
    for (const SequenceNumber reader : readers) {
      CheckScan(family, reader);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

uint64_t TreeHarness::CountEntries(FamilyId family) {
  auto iter = tree->Acquire()->NewIterator(family, {});
  CHECK_OK(iter.status());
  uint64_t count = 0;
  for ((*iter)->SeekToFirst(); (*iter)->Valid(); (*iter)->Next()) ++count;
  CHECK_OK((*iter)->status());
  return count;
}

}  // namespace tidesdb
