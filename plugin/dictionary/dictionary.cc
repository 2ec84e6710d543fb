#include "dictionary/dictionary.h"

#include <algorithm>
#include <cstring>

#include "codec/bytes.h"
#include "codec/key_codec.h"

namespace tidesdb::plugin {
namespace {

constexpr char kSystemFamily[] = "#tidesdb_system";
// First bytes of keys in the system family. Stored on disk; never renumber.
constexpr char kAutoIncrementTag = 1;
constexpr char kStatsTag = 2;
constexpr char kValueIdsTag = 3;
// The bits of a value's id that count within one run of the server; the bits above count the runs.
constexpr int kValueIdBits = 40;

std::string AutoIncrementPrefix(const TableDef& def) {
  std::string key(1, kAutoIncrementTag);
  PutBig32(&key, def.primary_family);
  PutBig32(&key, def.auto_increment_generation);
  return key;
}

// The values that commits have recorded for a table's counter: key and value of each slot.
Result<std::vector<std::pair<std::string, uint64_t>>> RecordedAutoIncrements(
    Transaction* transaction, ColumnFamily* system, const TableDef& def) {
  const std::string prefix = AutoIncrementPrefix(def);
  std::string after;
  KeyAfterPrefix(prefix, &after);
  ScanOptions range;
  range.lower = prefix;
  range.upper = after;
  std::vector<std::pair<std::string, uint64_t>> records;
  const auto counters = transaction->NewIterator(system, range);
  for (counters->SeekToFirst(); counters->Valid(); counters->Next()) {
    if (counters->value().size() != sizeof(uint64_t)) continue;
    records.emplace_back(counters->key(), LoadFixed64(counters->value().data()));
  }
  TIDESDB_TRY(counters->status());
  return records;
}

// The catalog entries of index builds: the ids of their families, 4 bytes each.
constexpr char kBuildPrefix[] = "b/";

// ALTER TABLE fills a table with such a name before it renames it.
bool IsIntermediate(const std::string& name) {
  return name.find("#sql") != std::string::npos || name.find("#TMP#") != std::string::npos;
}

void RaiseTo(std::atomic<uint64_t>* counter, uint64_t value) {
  uint64_t now = counter->load(std::memory_order_relaxed);
  while (now < value && !counter->compare_exchange_weak(now, value)) {
  }
}

// The first unused hidden key. Transactions that the last run left prepared have used some for rows
// that no read sees.
Result<uint64_t> FindNextHiddenKey(Transaction* transaction, ColumnFamily* rows) {
  const auto all = transaction->NewIterator(rows, {});
  all->SeekToLast();
  TIDESDB_TRY(all->status());
  uint64_t taken = 0;
  if (all->Valid() && all->key().size() == sizeof taken) taken = LoadBig64(all->key().data());
  const auto is_free_from = [&](uint64_t number) -> Result<bool> {
    std::string from;
    PutBig64(&from, number);
    // Counts deletions too: they would remove a new row.
    const Status locked =
        transaction->LockRange(rows, from, {}, RangeHold::kWrites, LockWait::kNoWait);
    if (locked.ok()) return true;
    if (locked.code() == Code::kTimedOut) return false;
    return locked;
  };
  TIDESDB_ASSIGN(const bool none_prepared, is_free_from(taken + 1));
  if (none_prepared) return taken + 1;
  for (uint64_t free = UINT64_MAX; taken + 1 < free;) {
    const uint64_t middle = taken + (free - taken) / 2;
    TIDESDB_ASSIGN(const bool is_free, is_free_from(middle));
    (is_free ? free : taken) = middle;
  }
  return taken + 1;
}

}  // namespace

std::string TableName(const char* path) {
  return path[0] == '.' && path[1] == '/' ? path + 2 : path;
}

std::string FrmPath(const std::string& name) {
  return "./" + name.substr(0, name.find("#P#")) + reg_ext;
}

std::string AutoIncrementKey(const TableDef& def, uint16_t slot) {
  std::string key = AutoIncrementPrefix(def);
  key.push_back(static_cast<char>(slot >> 8));
  key.push_back(static_cast<char>(slot));
  return key;
}

std::string NumbersKey(const TableDef& def) { return AutoIncrementPrefix(def); }

std::string StatsKey(const TableDef& def) {
  std::string key(1, kStatsTag);
  PutBig32(&key, def.primary_family);
  return key;
}

std::shared_ptr<const TableStats> TableState::stats() const {
  LatchGuard guard(latch_);
  return stats_;
}

void TableState::set_stats(std::shared_ptr<const TableStats> stats) {
  LatchGuard guard(latch_);
  stats_ = std::move(stats);
  stats_version_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const KeyShapes> TableState::key_shapes() const {
  LatchGuard guard(latch_);
  return key_shapes_;
}

void TableState::set_key_shapes(std::shared_ptr<const KeyShapes> shapes) {
  LatchGuard guard(latch_);
  key_shapes_ = std::move(shapes);
}

void TableState::RaiseAutoIncrement(uint64_t next) { RaiseTo(&next_auto_increment, next); }

void TableState::RaiseRecordedAutoIncrement(uint64_t recorded) {
  RaiseTo(&recorded_auto_increment, recorded);
}

void TableState::EndWrite(uint64_t committed) {
  RaiseTo(&version, committed);
  if (committed != 0) updated_s.store(time(nullptr), std::memory_order_relaxed);
  writers.fetch_sub(1, std::memory_order_release);
}

ColumnFamily* TableState::FindIndex(const char* name) const {
  for (size_t i = 0; i < def.indexes.size(); i++) {
    if (def.indexes[i].name == name) return indexes[i];
  }
  return nullptr;
}

std::vector<ColumnFamily*> TableState::families() const {
  std::vector<ColumnFamily*> all = {primary};
  all.insert(all.end(), indexes.begin(), indexes.end());
  if (values != nullptr) all.push_back(values);
  return all;
}

uint64_t TableState::MadeOf(const ColumnFamily* index) const {
  const auto found = std::find(indexes.begin(), indexes.end(), index);
  return found == indexes.end() ? 0 : indexes_made[found - indexes.begin()];
}

Status Dictionary::Open(Db* db) {
  db_ = db;
  system_ = db->FindFamily(Slice(kSystemFamily));
  if (system_ == nullptr) {
    ColumnFamilyOptions options;
    options.name = kSystemFamily;
    TIDESDB_ASSIGN(system_, db->CreateFamily(options));
  }
  TIDESDB_TRY(DropUnfinishedBuilds());
  for (const auto& [name, def] : List()) {
    if (!def.temporary) continue;
    TIDESDB_ASSIGN([[maybe_unused]] const bool found, Drop(name));
  }
  return Status::Ok();
}

std::vector<std::pair<std::string, TableDef>> Dictionary::List() const {
  std::vector<std::pair<std::string, TableDef>> tables;
  for (const auto& [entry, bytes] : db_->ListCatalog(kTableEntryPrefix)) {
    auto def = DecodeTableDef(bytes);
    if (!def.ok()) continue;
    tables.emplace_back(entry.substr(strlen(kTableEntryPrefix)), std::move(def).value());
  }
  return tables;
}

std::vector<std::shared_ptr<const KeyShapes>> Dictionary::AllKeyShapes() {
  std::vector<std::shared_ptr<const KeyShapes>> all;
  LatchGuard guard(latch_);
  for (const auto& [name, table] : tables_) {
    if (auto shapes = table->key_shapes(); shapes != nullptr) all.push_back(std::move(shapes));
  }
  return all;
}

Status Dictionary::LoadCounters(TableState* table) {
  const auto transaction = db_->Begin({});
  transaction->SetSnapshot();
  table->version = transaction->SnapshotSequence();
  PinnedValue value;
  const auto estimate = static_cast<int64_t>(db_->EstimateRange(table->primary, {}, {}).keys);
  TIDESDB_ASSIGN(const bool has_stats, transaction->Get(system_, StatsKey(table->def), &value));
  if (has_stats) {
    auto stats = DecodeTableStats(value.slice());
    if (stats.ok()) {
      table->rows = static_cast<int64_t>(stats->rows);
      table->set_stats(std::make_shared<const TableStats>(std::move(stats).value()));
    }
    // The counter is saved only with the statistics: rows added later were not counted, so the
    // statistics are measured again when needed.
    if (estimate > table->rows * 5 / 4 || estimate < table->rows * 3 / 4)
      table->changes = TableState::kUncounted;
  } else {
    table->rows = estimate;
  }

  uint64_t next = table->def.auto_increment_base;
  TIDESDB_ASSIGN(const auto records,
                 RecordedAutoIncrements(transaction.get(), system_, table->def));
  for (const auto& [key, recorded] : records) next = std::max(next, recorded);
  table->next_auto_increment = next;
  table->recorded_auto_increment = next;

  if (table->def.hidden_key) {
    TIDESDB_ASSIGN(table->next_hidden_key, FindNextHiddenKey(transaction.get(), table->primary));
  }
  return Status::Ok();
}

Result<std::shared_ptr<TableState>> Dictionary::Load(TableDef def) {
  auto table = std::make_shared<TableState>();
  table->def = std::move(def);
  table->primary = db_->FindFamily(table->def.primary_family);
  bool complete = table->primary != nullptr;
  for (const IndexDef& index : table->def.indexes) {
    table->indexes.push_back(db_->FindFamily(index.family));
    complete &= table->indexes.back() != nullptr;
  }
  if (table->def.values_family != 0) {
    table->values = db_->FindFamily(table->def.values_family);
    complete &= table->values != nullptr;
  }
  if (!complete) return Status::Corruption("dictionary: a column family of a table is missing");
  table->indexes_made.resize(table->indexes.size());
  TIDESDB_TRY(LoadCounters(table.get()));
  return table;
}

Result<std::shared_ptr<TableState>> Dictionary::Find(const std::string& name) {
  {
    LatchGuard guard(latch_);
    const auto found = tables_.find(name);
    if (found != tables_.end()) return found->second;
  }
  const auto entry = db_->GetCatalog(TableEntryName(name));
  if (!entry) return std::shared_ptr<TableState>();
  TIDESDB_ASSIGN(TableDef def, DecodeTableDef(*entry));
  TIDESDB_ASSIGN(std::shared_ptr<TableState> table, Load(std::move(def)));
  LatchGuard guard(latch_);
  // Another thread may have loaded it meanwhile; the first one stays.
  return tables_.emplace(name, std::move(table)).first->second;
}

void Dictionary::Forget(const std::string& name) {
  LatchGuard guard(latch_);
  const auto found = tables_.find(name);
  if (found == tables_.end()) return;
  found->second->outdated = true;
  tables_.erase(found);
}

// REQUIRES: no other connection has the table open.
Status Dictionary::CountAsMade(const std::string& name) {
  TIDESDB_ASSIGN(const std::shared_ptr<TableState> table, Find(name));
  if (table != nullptr) table->made = ++tables_made_;
  return Status::Ok();
}

Status Dictionary::Create(NewTable table) {
  const std::string entry = TableEntryName(table.name);
  if (db_->GetCatalog(entry)) {
    return Status::AlreadyExists("the table " + table.name +
                                 " is already in the engine's dictionary");
  }
  CatalogEdit edit;
  edit.lazy = table.def.temporary;
  table.def.primary_family = db_->NewFamilyId();
  edit.create.push_back({table.def.primary_family, table.options});
  for (IndexDef& index : table.def.indexes) {
    index.family = db_->NewFamilyId();
    edit.create.push_back({index.family, table.options});
  }
  if (table.long_values) {
    table.def.values_family = db_->NewFamilyId();
    edit.create.push_back({table.def.values_family, table.options});
  }
  std::string bytes;
  EncodeTableDef(table.def, &bytes);
  edit.put.emplace_back(entry, std::move(bytes));
  TIDESDB_TRY(db_->ApplyCatalog(edit));
  return CountAsMade(table.name);
}

Result<bool> Dictionary::Drop(const std::string& name) {
  const std::string entry = TableEntryName(name);
  const auto bytes = db_->GetCatalog(entry);
  if (!bytes) return false;
  TIDESDB_ASSIGN(const TableDef def, DecodeTableDef(*bytes));
  CatalogEdit edit;
  edit.lazy = def.temporary;
  edit.drop.push_back(def.primary_family);
  for (const IndexDef& index : def.indexes) edit.drop.push_back(index.family);
  if (def.values_family != 0) edit.drop.push_back(def.values_family);
  edit.erase.push_back(entry);
  Forget(name);
  TIDESDB_TRY(db_->ApplyCatalog(edit));
  return true;
}

Result<bool> Dictionary::Rename(const std::string& from, const std::string& to) {
  const auto bytes = db_->GetCatalog(TableEntryName(from));
  if (!bytes) return false;
  if (db_->GetCatalog(TableEntryName(to))) {
    return Status::AlreadyExists("the table " + to + " is already in the engine's dictionary");
  }
  CatalogEdit edit;
  edit.erase.push_back(TableEntryName(from));
  edit.put.emplace_back(TableEntryName(to), *bytes);
  TIDESDB_TRY(db_->ApplyCatalog(edit));
  {
    LatchGuard guard(latch_);
    auto node = tables_.extract(from);
    if (!node.empty()) {
      node.key() = to;
      tables_.insert(std::move(node));
    }
  }
  if (IsIntermediate(from)) TIDESDB_TRY(CountAsMade(to));
  return true;
}

Status Dictionary::Truncate(const std::string& name) {
  TIDESDB_ASSIGN(const std::shared_ptr<TableState> old, Find(name));
  if (old == nullptr) return Status::InvalidArgument("no table " + name + " in the dictionary");
  CatalogEdit edit;
  TableDef def = old->def;
  edit.lazy = def.temporary;
  edit.drop.push_back(def.primary_family);
  def.primary_family = db_->NewFamilyId();
  edit.create.push_back({def.primary_family, old->primary->options()});
  for (size_t i = 0; i < def.indexes.size(); i++) {
    edit.drop.push_back(def.indexes[i].family);
    def.indexes[i].family = db_->NewFamilyId();
    edit.create.push_back({def.indexes[i].family, old->indexes[i]->options()});
  }
  if (def.values_family != 0) {
    edit.drop.push_back(def.values_family);
    def.values_family = db_->NewFamilyId();
    edit.create.push_back({def.values_family, old->values->options()});
  }
  def.auto_increment_base = 1;
  def.auto_increment_generation = 0;
  def.history = {};
  std::string bytes;
  EncodeTableDef(def, &bytes);
  edit.put.emplace_back(TableEntryName(name), std::move(bytes));
  TIDESDB_TRY(db_->ApplyCatalog(edit));
  Forget(name);
  return CountAsMade(name);
}

Status Dictionary::Change(std::vector<TableChange> changes) {
  CatalogEdit edit;
  std::vector<std::shared_ptr<TableState>> before;
  for (TableChange& change : changes) {
    TIDESDB_ASSIGN(const std::shared_ptr<TableState> old, Find(change.name));
    if (old == nullptr) {
      return Status::InvalidArgument("no table " + change.name + " in the dictionary");
    }
    before.push_back(old);
    std::vector<uint32_t> kept;
    for (const IndexDef& index : change.def.indexes) kept.push_back(index.family);
    std::vector<uint32_t> had;
    for (const IndexDef& index : old->def.indexes) {
      had.push_back(index.family);
      if (std::count(kept.begin(), kept.end(), index.family) == 0)
        edit.drop.push_back(index.family);
    }
    // Statistics use the key's number. They are hints: if a crash loses them before the next step,
    // they are measured again.
    if (kept != had) TIDESDB_TRY(ForgetStats(old->def));
    if (change.build != nullptr) {
      edit.erase.push_back(change.build->catalog_name);
      for (const auto& index : change.build->indexes) {
        if (index.claims != nullptr) edit.drop.push_back(index.claims->id());
      }
    }
    if (change.long_values && change.def.values_family == 0) {
      change.def.values_family = db_->NewFamilyId();
      edit.create.push_back({change.def.values_family, old->primary->options()});
    }
    std::string bytes;
    EncodeTableDef(change.def, &bytes);
    edit.put.emplace_back(TableEntryName(change.name), std::move(bytes));
  }
  TIDESDB_TRY(db_->ApplyCatalog(edit));
  for (size_t i = 0; i < changes.size(); i++) {
    TIDESDB_TRY(TakeOver(*before[i], changes[i].name, changes[i].def, nullptr));
  }
  return Status::Ok();
}

Status Dictionary::BeginBuild(const std::string& name, const std::shared_ptr<IndexBuild>& build) {
  TIDESDB_ASSIGN(const std::shared_ptr<TableState> table, Find(name));
  if (table == nullptr) return Status::InvalidArgument("no table " + name + " in the dictionary");
  CatalogEdit edit;
  std::string ids;
  const auto new_family = [&] {
    edit.create.push_back({db_->NewFamilyId(), table->primary->options()});
    PutFixed32(&ids, edit.create.back().id);
  };
  for (const IndexBuild::Index& index : build->indexes) {
    new_family();
    if (build->codec->is_unique(index.key_number)) new_family();
  }
  build->catalog_name = kBuildPrefix + name;
  edit.put.emplace_back(build->catalog_name, std::move(ids));
  TIDESDB_TRY(db_->ApplyCatalog(edit));
  auto made = edit.create.begin();
  for (IndexBuild::Index& index : build->indexes) {
    index.entries = db_->FindFamily((made++)->id);
    if (build->codec->is_unique(index.key_number)) index.claims = db_->FindFamily((made++)->id);
  }
  return TakeOver(*table, name, table->def, build);
}

Status Dictionary::GiveUpBuild(IndexBuild* build) {
  if (build->given_up.exchange(true)) return Status::Ok();
  CatalogEdit edit;
  edit.erase.push_back(build->catalog_name);
  for (const IndexBuild::Index& index : build->indexes) {
    edit.drop.push_back(index.entries->id());
    if (index.claims != nullptr) edit.drop.push_back(index.claims->id());
  }
  return db_->ApplyCatalog(edit);
}

// Removes builds that a crash interrupted.
Status Dictionary::DropUnfinishedBuilds() {
  for (const auto& [name, ids] : db_->ListCatalog(kBuildPrefix)) {
    CatalogEdit edit;
    edit.erase.push_back(name);
    Slice rest(ids);
    for (uint32_t id; TakeFixed32(&rest, &id);) edit.drop.push_back(id);
    TIDESDB_TRY(db_->ApplyCatalog(edit));
  }
  return Status::Ok();
}

// The next state of a table, with the counts of the previous one.
Status Dictionary::TakeOver(const TableState& old, const std::string& name, const TableDef& def,
                            std::shared_ptr<IndexBuild> build) {
  TIDESDB_ASSIGN(const std::shared_ptr<TableState> changed, Load(def));
  changed->build = std::move(build);
  changed->made = old.made.load();
  for (size_t i = 0; i < def.indexes.size(); i++) {
    const auto same = [&](const IndexDef& had) { return had.family == def.indexes[i].family; };
    const auto had = std::find_if(old.def.indexes.begin(), old.def.indexes.end(), same);
    // Older snapshots contain no entries of a new index.
    changed->indexes_made[i] = had == old.def.indexes.end()
                                   ? ++tables_made_
                                   : old.indexes_made[had - old.def.indexes.begin()];
  }
  changed->rows = old.rows.load();
  changed->changes = old.changes.load();
  changed->next_hidden_key = old.next_hidden_key.load();
  if (def.auto_increment_generation == old.def.auto_increment_generation) {
    // Not the recorded value, which may be ahead.
    changed->next_auto_increment = old.next_auto_increment.load();
  }
  LatchGuard guard(latch_);
  std::shared_ptr<TableState>& state = tables_[name];
  if (state != nullptr) state->outdated = true;
  state = changed;
  return Status::Ok();
}

bool Dictionary::IsOfFrm(const std::string& name, Slice frm_version) const {
  const auto is_of = [&](Slice bytes) {
    const auto def = DecodeTableDef(bytes);
    return def.ok() && Slice(def->frm_version) == frm_version;
  };
  const std::string entry = TableEntryName(name);
  if (const auto bytes = db_->GetCatalog(entry)) return is_of(*bytes);
  const auto partitions = db_->ListCatalog(entry + "#P#");
  return !partitions.empty() && is_of(partitions.front().second);
}

Status Dictionary::ForgetStats(const TableDef& def) {
  const auto transaction = db_->Begin({});
  TIDESDB_TRY(transaction->Delete(system_, StatsKey(def)));
  return transaction->Commit();
}

// Counts the runs of the server that used such ids. A power loss removes this record only together
// with all later commits, including those that used its ids.
Status Dictionary::BeginValueIds() {
  const std::string key(1, kValueIdsTag);
  const auto transaction = db_->Begin({});
  PinnedValue value;
  TIDESDB_ASSIGN(const bool found, transaction->Get(system_, key, &value));
  if (found && value.slice().size() != sizeof(uint64_t)) {
    return Status::Corruption("dictionary: the record of values' ids is damaged");
  }
  const uint64_t run = (found ? LoadFixed64(value.slice().data()) : 0) + 1;
  std::string bytes;
  PutFixed64(&bytes, run);
  TIDESDB_TRY(transaction->Put(system_, key, bytes));
  TIDESDB_TRY(transaction->Commit());
  next_value_id_ = run << kValueIdBits;
  return Status::Ok();
}

Result<uint64_t> Dictionary::NewValueId() {
  LatchGuard guard(value_ids_latch_);
  if (next_value_id_ == 0) TIDESDB_TRY(BeginValueIds());
  return next_value_id_++;
}

Status Dictionary::SaveAutoIncrements() {
  LatchGuard guard(latch_);
  const auto transaction = db_->Begin({});
  for (const auto& [name, table] : tables_) {
    const uint64_t next = table->next_auto_increment;
    if (table->recorded_auto_increment <= next) continue;
    TIDESDB_ASSIGN(const auto records,
                   RecordedAutoIncrements(transaction.get(), system_, table->def));
    for (const auto& [key, recorded] : records) TIDESDB_TRY(transaction->Delete(system_, key));
    std::string value;
    PutFixed64(&value, next);
    TIDESDB_TRY(transaction->Put(system_, AutoIncrementKey(table->def, 0), value));
  }
  return transaction->Commit();
}

Status Dictionary::SaveStats(const TableState& table, const TableStats& stats) {
  if (table.def.temporary) return Status::Ok();
  std::string bytes;
  EncodeTableStats(stats, &bytes);
  const auto transaction = db_->Begin({});
  TIDESDB_TRY(transaction->Put(system_, StatsKey(table.def), bytes));
  return transaction->Commit();
}

}  // namespace tidesdb::plugin
