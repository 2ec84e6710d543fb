#include "txn/test_env.h"

#include <algorithm>

#include "base/check.h"
#include "format/wal_format.h"
#include "table/table_reader.h"

namespace tidesdb {
namespace {

struct Entry {
  std::string key;
  Trailer trailer;
  std::string value;
};

bool EntryLess(const Entry& a, const Entry& b) {
  return CompareVersions(a.key, a.trailer, b.key, b.trailer) < 0;
}

void Collect(std::unique_ptr<InternalIterator> it, std::vector<Entry>* versions) {
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    versions->push_back({std::string(it->user_key()), it->trailer(), std::string(it->value())});
  }
  CHECK_OK(it->status());
}

std::vector<Entry> EntriesOf(const TestEnv::Source& source, FamilyId family) {
  std::vector<Entry> versions;
  if (source.memtable != nullptr) Collect(source.memtable->NewIterator(family), &versions);
  for (const auto& file : source.files) {
    if (file->properties().family == family) Collect(file->NewIterator({}), &versions);
  }
  return versions;
}

// Over a sorted copy of the versions.
class CopyIterator final : public InternalIterator {
 public:
  explicit CopyIterator(std::vector<Entry> versions) : versions_(std::move(versions)) {}
  bool Valid() const override { return at_ < versions_.size(); }
  void SeekToFirst() override { at_ = 0; }
  void SeekToLast() override { at_ = versions_.size() - 1; }
  void Seek(Slice key, Trailer trailer) override {
    const Entry wanted = {std::string(key), trailer, ""};
    auto it = std::lower_bound(versions_.begin(), versions_.end(), wanted, EntryLess);
    at_ = static_cast<size_t>(it - versions_.begin());
  }
  void SeekForPrev(Slice key, Trailer trailer) override {
    const Entry wanted = {std::string(key), trailer, ""};
    auto it = std::upper_bound(versions_.begin(), versions_.end(), wanted, EntryLess);
    at_ = static_cast<size_t>(it - versions_.begin()) - 1;
  }
  void Next() override { ++at_; }
  void Prev() override { --at_; }  // Before the first is far beyond the last.
  Slice user_key() const override { return versions_[at_].key; }
  Trailer trailer() const override { return versions_[at_].trailer; }
  Slice value() const override { return versions_[at_].value; }
  Status status() const override { return Status::Ok(); }

 private:
  const std::vector<Entry> versions_;
  size_t at_ = SIZE_MAX;
};

using Sources = std::vector<std::shared_ptr<const TestEnv::Source>>;

class TestReadState final : public ReadState {
 public:
  explicit TestReadState(Sources sources) : sources_(std::move(sources)) {}

  Result<bool> Get(FamilyId family, Slice key, SequenceNumber snapshot,
                   VersionHit* hit) const override {
    SchedulingPoint();
    for (const auto& source : sources_) {
      if (source->memtable != nullptr && source->memtable->Get(family, key, snapshot, hit)) {
        return true;
      }
      for (const auto& file : source->files) {
        if (file->properties().family != family) continue;
        TIDESDB_ASSIGN(const bool found, file->Get({}, key, snapshot, hit));
        if (found) return true;
      }
    }
    return false;
  }

  Result<bool> ChangedSince(FamilyId family, Slice key, SequenceNumber floor) const override {
    VersionHit hit;
    TIDESDB_ASSIGN(const bool found, Get(family, key, kSequenceMax, &hit));
    if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
    return found && hit.sequence > floor;
  }

  Result<std::unique_ptr<InternalIterator>> NewIterator(FamilyId family,
                                                        const ReadOptions&) const override {
    std::vector<Entry> versions;
    for (const auto& source : sources_) {
      for (Entry& version : EntriesOf(*source, family)) versions.push_back(std::move(version));
    }
    std::sort(versions.begin(), versions.end(), EntryLess);
    return std::unique_ptr<InternalIterator>(std::make_unique<CopyIterator>(std::move(versions)));
  }

  DeadRanges* FindDeadRanges(FamilyId family) const override {
    return sources_.front()->memtable->FindDeadRanges(family);
  }

  RangeEstimate EstimateRange(FamilyId, Slice, Slice, EstimateBy) const override { return {}; }

 private:
  const Sources sources_;
};

// Of one key's versions, newest first, keeps those that one of the snapshots (ascending) can see.
// At the bottom it also drops a tombstone that hides nothing.
void KeepVisible(const std::vector<SequenceNumber>& snapshots, std::vector<Entry>* versions) {
  std::vector<Entry> kept;
  auto stripe_of = [&](const Entry& version) {
    return std::lower_bound(snapshots.begin(), snapshots.end(), TrailerSequence(version.trailer));
  };
  for (Entry& version : *versions) {
    const bool hidden = !kept.empty() && stripe_of(kept.back()) == stripe_of(version) &&
                        stripe_of(version) != snapshots.end();
    if (!hidden) kept.push_back(std::move(version));
  }
  while (!kept.empty() && IsTombstone(TrailerType(kept.back().trailer)) &&
         stripe_of(kept.back()) == snapshots.begin()) {
    kept.pop_back();
  }
  *versions = std::move(kept);
}

}  // namespace

TestEnv::TestEnv(const Options& options)
    : options_(options),
      cache_(NewClockCache(1 << 20, 4096)),
      tables_(&fs_, "db", cache_.get(), 100) {
  CHECK_OK(fs_.CreateDir("db"));
  load_context_.fs = &fs_;
  load_context_.directory = "db";
  load_context_.tables = &tables_;
  load_context_.new_file_number = [this] { return NewFileNumber(); };
  for (uint32_t id = 1; id <= options.families; ++id) {
    families_.push_back(std::make_unique<TestFamily>(id));
  }
  {
    MutexLock lock(mu_);
    RotateLocked();
  }
  TxnManagerOptions manager;
  manager.env = this;
  manager.fs = &fs_;
  manager.clock = options.clock;
  manager.metrics = &metrics_;
  manager.cache = cache_.get();
  manager.lock_wait_timeout_us = options.lock_wait_timeout_us;
  manager.transaction_memory_bytes = options.transaction_memory_bytes;
  manager.spill_files_open_max = options.spill_files_open_max;
  txns_ = TxnManager::New(manager);
}

TestEnv::~TestEnv() = default;

std::unique_ptr<Transaction> TestEnv::Begin(Concurrency concurrency, bool conflict_on_changed) {
  TransactionOptions options;
  options.concurrency = concurrency;
  options.conflict_on_changed = conflict_on_changed;
  return txns_->Begin(options);
}

void TestEnv::PublishState() {
  state_ = std::make_shared<TestReadState>(sources_);
  state_number_.fetch_add(1, std::memory_order_release);
}

void TestEnv::RotateLocked() {
  auto source = std::make_shared<Source>();
  source->memtable = NewMemTable();
  sources_.insert(sources_.begin(), std::move(source));
  PublishState();
}

void TestEnv::Rotate() {
  CHECK_OK(txns_->RunBetweenGroups([this](SequenceNumber last) {
    CHECK(last == txns_->VisibleSequence());
    MutexLock lock(mu_);
    RotateLocked();
    return Status::Ok();
  }));
}

void TestEnv::Compact() {
  const std::vector<SequenceNumber> snapshots = txns_->Snapshots();
  Sources inputs;
  {
    MutexLock lock(mu_);
    inputs.assign(sources_.begin() + 1, sources_.end());
  }
  auto output = std::make_shared<Source>();
  output->memtable = NewMemTable();
  for (const auto& family : families_) {
    std::map<std::string, std::vector<Entry>> keys;
    for (const auto& source : inputs) {
      for (Entry& version : EntriesOf(*source, family->id())) {
        keys[version.key].push_back(std::move(version));
      }
    }
    for (auto& [key, versions] : keys) {
      std::sort(versions.begin(), versions.end(), EntryLess);
      KeepVisible(snapshots, &versions);
      for (size_t i = versions.size(); i-- > 0;) {
        const Trailer trailer = versions[i].trailer;
        output->memtable->Add(family->id(), key, TrailerType(trailer), TrailerSequence(trailer),
                              versions[i].value);
      }
    }
    SchedulingPoint();
  }
  MutexLock lock(mu_);
  sources_.resize(sources_.size() - inputs.size());
  sources_.push_back(std::move(output));
  PublishState();
}

ReadStateRef TestEnv::PinReadState() const {
  MutexLock lock(mu_);
  return state_;
}

uint64_t TestEnv::ReadStateNumber() const {
  SchedulingPoint();
  return state_number_.load(std::memory_order_acquire);
}

Status TestEnv::CheckFamily(const ColumnFamily* family, bool for_write) const {
  if (family == nullptr) return Status::InvalidArgument("the column family handle is null");
  if (family->id() == dropped_family) return Status::InvalidArgument("the family was dropped");
  if (for_write && read_only) return Status::ReadOnly("the database is read-only");
  return Status::Ok();
}

bool TestEnv::GroupRotates(uint64_t) const {
  MutexLock lock(mu_);
  return sources_.front()->memtable->MemoryBytes() > options_.memtable_bytes;
}

Status TestEnv::PrepareForGroup(uint64_t bytes, size_t, size_t) {
  CHECK(bytes > 0);
  if (read_only) return Status::ReadOnly("the database is read-only");
  if (fail_prepare) return Status::NoSpace("the disk is full");
  const bool full = GroupRotates(bytes);
  MutexLock lock(mu_);
  if (full) RotateLocked();
  return Status::Ok();
}

Status TestEnv::AppendToWal(const std::vector<Slice>& records, size_t, LogSync sync) {
  SchedulingPoint();
  if (fail_wal) {
    read_only = true;
    return Status::IoError("write of 000001.wal failed");
  }
  MutexLock lock(mu_);
  for (const Slice record : records) log_.emplace_back(record);
  if (sync == LogSync::kAtOnce) {
    ++syncs_;
    durable_records_ = log_.size();
  }
  return Status::Ok();
}

uint64_t TestEnv::HoldWal() {
  ++held_wal_;
  return 1;
}

void TestEnv::ReleaseWal(uint64_t segment, bool) {
  CHECK(segment == 1);
  --held_wal_;
}

Status TestEnv::SyncWal() {
  ++syncs_;
  size_t records = 0;
  {
    MutexLock lock(mu_);
    records = log_.size();
  }
  SchedulingPoint();
  if (fail_sync) read_only = true;
  if (fail_wal || fail_sync) return Status::IoError("sync of 000001.wal failed");
  // One thread's sync may end after that of another that began later.
  size_t durable = durable_records_;
  while (durable < records && !durable_records_.compare_exchange_weak(durable, records)) {
  }
  return Status::Ok();
}

std::vector<std::string> TestEnv::Log() {
  MutexLock lock(mu_);
  return log_;
}

MemTable* TestEnv::ActiveMemTable() {
  MutexLock lock(mu_);
  return sources_.front()->memtable.get();
}

Status TestEnv::Ingest(const std::vector<IngestFile>& files, SequenceNumber sequence, uint64_t) {
  auto source = std::make_shared<Source>();
  std::map<FamilyId, std::string> last_key;
  for (const IngestFile& file : files) {
    TIDESDB_ASSIGN(auto access, fs_.NewRandomAccessFile(TablePath(file.number)));
    CHECK(access->size() == file.bytes);
    TIDESDB_ASSIGN(auto reader, TableReader::Open(std::move(access), TablePath(file.number),
                                                  file.number, sequence, cache_.get()));
    const TableProperties& properties = reader->properties();
    CHECK(properties.family == file.properties.family && properties.entries == properties.keys);
    auto [it, first] = last_key.emplace(properties.family, properties.key_max);
    CHECK(first || it->second < properties.key_min);
    it->second = properties.key_max;
    CHECK_OK(reader->Verify(VerifyDepth::kAll));
    source->files.push_back(std::move(reader));
  }
  MutexLock lock(mu_);
  for (const IngestFile& file : files) ingested_.push_back(file.number);
  sources_.insert(sources_.begin(), std::move(source));
  RotateLocked();
  return Status::Ok();
}

uint64_t TestEnv::NewFileNumber() { return next_file_.fetch_add(1); }

std::string TestEnv::SpillPath(uint64_t file_number) const {
  return SpillFileName("db", file_number);
}

std::string TestEnv::TablePath(uint64_t file_number) const {
  return TableFileName("db", file_number);
}

TableWriteOptions TestEnv::TableOptionsOf(FamilyId family) const {
  TableWriteOptions table;
  table.family = family;
  table.block_bytes = 1 << 10;
  return table;
}

TestEnv::Contents TestEnv::NewestContents() {
  Contents contents;
  const ReadStateRef state = PinReadState();
  for (const auto& family : families_) {
    auto it = state->NewIterator(family->id(), {});
    std::string last_key;
    bool first = true;
    for ((*it)->SeekToFirst(); (*it)->Valid(); (*it)->Next()) {
      const std::string key((*it)->user_key());
      if (!first && key == last_key) continue;
      first = false;
      last_key = key;
      if (!IsTombstone(TrailerType((*it)->trailer()))) {
        contents[{family->id(), key}] = std::string((*it)->value());
      }
    }
  }
  return contents;
}

TestEnv::Contents TestEnv::LoggedContents() {
  Contents contents;
  MutexLock lock(mu_);
  SequenceNumber last = 0;
  auto apply = [&contents](FamilyId family, Slice key, ValueType type, Slice value) {
    if (type == ValueType::kPut) {
      contents[{family, std::string(key)}] = std::string(value);
    } else {
      contents.erase({family, std::string(key)});
    }
  };
  std::map<uint64_t, std::string> prepared;
  for (std::string record : log_) {
    const WalKind kind = WalPayloadKind(record);
    if (kind == WalKind::kPrepare) {
      auto prepare = WalPrepare::Decode(record, "log");
      CHECK_OK(prepare.status());
      prepared[prepare->id] = prepare->writes;
      continue;
    }
    if (kind == WalKind::kRollback) continue;
    CHECK(WalPayloadSequence(record) == ++last);
    if (kind == WalKind::kCommit) {
      auto outcome = WalOutcome::Decode(record, "log");
      CHECK_OK(outcome.status());
      record = prepared.at(outcome->id);
    }
    if (WalPayloadKind(record) == WalKind::kIngest) {
      auto ingest = WalIngest::Decode(record, "log");
      CHECK_OK(ingest.status());
      for (const WalIngestFile& file : ingest->files) {
        const std::string path = TablePath(file.number);
        auto access = fs_.NewRandomAccessFile(path);
        CHECK_OK(access.status());
        auto reader = TableReader::Open(std::move(*access), path, file.number, 0, cache_.get());
        CHECK_OK(reader.status());
        auto it = (*reader)->NewIterator({});
        for (it->SeekToFirst(); it->Valid(); it->Next()) {
          apply(file.properties.family, it->user_key(), TrailerType(it->trailer()), it->value());
        }
      }
      continue;
    }
    WalBatchDecoder decoder(record, "log");
    WalOperation op;
    while (decoder.Next(&op)) apply(op.family, op.key, op.type, op.value);
    CHECK_OK(decoder.status());
  }
  return contents;
}

size_t TestEnv::SpillFiles() {
  const auto names = fs_.List("db");
  return static_cast<size_t>(std::count_if(names->begin(), names->end(), [](const auto& name) {
    return ParseFileName(name).kind == FileKind::kSpill;
  }));
}

size_t TestEnv::TableFiles() {
  const auto names = fs_.List("db");
  return static_cast<size_t>(std::count_if(names->begin(), names->end(), [](const auto& name) {
    return ParseFileName(name).kind == FileKind::kTable;
  }));
}

size_t TestEnv::UnusedTableFiles() {
  const size_t files = TableFiles();
  MutexLock lock(mu_);
  return files - ingested_.size();
}

}  // namespace tidesdb
