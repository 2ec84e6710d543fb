#include "compat/contents.h"

#include <memory>
#include <utility>
#include <vector>

namespace tidesdb::compat {
namespace {

constexpr int kKeys = 120;

std::string Key(int number) {
  std::string key = "key";
  key.push_back('\0');
  return key + std::to_string(1000 + number);
}

// Repetitive, so that each compression has an effect; some are empty, one is large.
std::string Value(int number, const std::string& stage) {
  if (number % 17 == 0) return "";
  std::string value;
  const int count = number == 50 ? 400 : number % 9;
  for (int i = 0; i <= count; ++i) value += stage + std::to_string(number * 7919 + i % 5) + ";";
  return value;
}

const std::vector<std::pair<std::string, Compression>>& Families() {
  static const std::vector<std::pair<std::string, Compression>> families = {
      {"none", Compression::kNone},
      {"snappy", Compression::kSnappy},
      {"lz4", Compression::kLz4},
      {"zstd", Compression::kZstd}};
  return families;
}

// The changes of each stage to the keys of a family; an empty stage deletes.
struct Change {
  int number;
  std::string stage;
};

// Stage 0 goes to the last level, 1 to level 0, 2 is a separate transaction that spills, 3 stays in the log.
std::vector<Change> ChangesOf(int stage) {
  std::vector<Change> changes;
  for (int number = 0; number < kKeys; ++number) {
    if (number % 4 < stage || (stage == 2 && number % 3 != 0)) continue;
    const bool removes = stage > 0 && number % 5 == stage;
    changes.push_back({number, removes ? "" : "stage" + std::to_string(stage) + "."});
  }
  return changes;
}

constexpr int kStages = 4;
constexpr uint64_t kStagingBytes = 1024;

Status Apply(Db* db, int stage) {
  TransactionOptions options;
  options.staging_bytes = stage == 2 ? kStagingBytes : 0;
  auto transaction = db->Begin(options);
  for (const auto& [name, compression] : Families()) {
    ColumnFamily* family = db->FindFamily(name);
    for (const Change& change : ChangesOf(stage)) {
      const std::string key = Key(change.number);
      TIDESDB_TRY(change.stage.empty()
                      ? transaction->Delete(family, key)
                      : transaction->Put(family, key, Value(change.number, change.stage)));
    }
  }
  return transaction->Commit();
}

}  // namespace

Contents ContentsOfV1() {
  Contents contents;
  contents.catalog = {{"fixture", "its value"}, {"empty", ""}};
  for (const auto& [name, compression] : Families()) {
    std::map<std::string, std::string>& keys = contents.families[name];
    for (int stage = 0; stage < kStages; ++stage) {
      for (const Change& change : ChangesOf(stage)) {
        if (change.stage.empty()) {
          keys.erase(Key(change.number));
        } else {
          keys[Key(change.number)] = Value(change.number, change.stage);
        }
      }
    }
  }
  return contents;
}

Status WriteV2(Db* db) {
  CatalogEdit edit;
  for (const auto& [name, compression] : Families()) {
    ColumnFamilyOptions options;
    options.name = name;
    options.compression = compression;
    options.block_bytes = 1024;
    options.target_file_bytes = 8 << 10;
    options.tombstone_density_trigger = kTombstoneTriggerOfV2;
    options.tombstone_density_min_entries = kTombstoneEntriesOfV2;
    edit.create.push_back({db->NewFamilyId(), options});
  }
  edit.put = {{"fixture", "its value"}, {"empty", ""}, {"gone", "soon"}};
  TIDESDB_TRY(db->ApplyCatalog(edit));
  CatalogEdit second;
  second.erase = {"gone"};
  TIDESDB_TRY(db->ApplyCatalog(second));

  TIDESDB_TRY(Apply(db, 0));
  TIDESDB_TRY(db->Flush());
  for (const auto& [name, compression] : Families()) TIDESDB_TRY(db->Compact(db->FindFamily(name)));
  TIDESDB_TRY(Apply(db, 1));
  TIDESDB_TRY(db->Flush());
  TIDESDB_TRY(Apply(db, 2));
  return Apply(db, 3);
}

Result<Contents> Read(Db* db) {
  Contents contents;
  for (auto& [name, value] : db->ListCatalog("")) contents.catalog[name] = value;
  for (ColumnFamily* family : db->ListFamilies()) {
    TIDESDB_TRY(db->Verify(family, VerifyDepth::kAll));
    std::map<std::string, std::string>& keys = contents.families[family->options().name];
    auto transaction = db->Begin({});
    auto it = transaction->NewIterator(family, {});
    for (it->SeekToFirst(); it->Valid(); it->Next()) keys.emplace(it->key(), it->value());
    TIDESDB_TRY(it->status());
  }
  return contents;
}

Options SmallFiles() {
  Options options;
  options.memory_max_bytes = 16 << 20;
  options.block_cache_bytes = 1 << 20;
  options.memtable_bytes = 1 << 20;
  options.wal_segment_bytes = 16 << 10;
  return options;
}

}  // namespace tidesdb::compat
