#include "sim/passing.h"

#include <algorithm>
#include <utility>

namespace tidesdb::simtest {
namespace {

constexpr const char* kPrefix = "passing/";

std::string EntryOf(uint32_t id) { return kPrefix + std::to_string(id); }

// The prefix of a load's rows; other writers do not use it.
constexpr const char* kLoaded = "load";

}  // namespace

// Each row identifies the family it was written to, by more than its id.
Result<std::string> PassingFamilies::CheckRows(Db* db, ColumnFamily* family,
                                               const std::string& generation) const {
  const auto txn = db->Begin({});
  const auto rows = txn->NewIterator(family, {});
  uint64_t loaded = 0;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    if (!rows->value().starts_with(generation)) {
      return std::string("a passing family has rows of another that had its id");
    }
    if (rows->key().starts_with(kLoaded)) ++loaded;
  }
  TIDESDB_TRY(rows->status());
  const auto wanted = loaded_.find(generation);
  const uint64_t most = wanted == loaded_.end() ? 0 : wanted->second.rows;
  if (loaded == most || (loaded == 0 && !wanted->second.certain)) return std::string();
  return "a load's family has " + std::to_string(loaded) + " of its " + std::to_string(most) +
         " rows";
}

std::string PassingFamilies::Recovered(Db* db, Random* random) {
  families_.clear();
  size_t unnamed = 0;
  CatalogEdit drop;
  for (ColumnFamily* family : db->ListFamilies()) {
    if (!family->options().name.empty()) continue;
    ++unnamed;
    const auto generation = db->GetCatalog(EntryOf(family->id()));
    if (!generation) return "a passing family has no catalog entry";
    const Result<std::string> wrong = CheckRows(db, family, *generation);
    if (!wrong.ok()) return wrong.status().ToString();
    if (!wrong->empty()) return *wrong;
    drop.drop.push_back(family->id());
    drop.erase.push_back(EntryOf(family->id()));
  }
  if (db->ListCatalog(kPrefix).size() != unnamed) return "a catalog entry has no passing family";
  if (drop.drop.empty()) return "";
  drop.lazy = random->OneIn(2);
  const Status dropped = db->ApplyCatalog(drop);
  return dropped.ok() ? "" : "drop of passing families: " + dropped.ToString();
}

Status PassingFamilies::Change(Db* db, Random* random, std::string* wrong) {
  CatalogEdit edit;
  edit.lazy = !random->OneIn(5);
  if (!families_.empty() && random->OneIn(2)) {
    const size_t at = random->Uniform(families_.size());
    const uint32_t id = families_[at]->id();
    families_.erase(families_.begin() + static_cast<ptrdiff_t>(at));
    edit.drop.push_back(id);
    edit.erase.push_back(EntryOf(id));
    return db->ApplyCatalog(edit);
  }
  std::string generation;
  TIDESDB_ASSIGN(ColumnFamily* const family, Make(db, edit.lazy, &generation, wrong));
  if (family != nullptr) {
    TIDESDB_ASSIGN(*wrong, CheckRows(db, family, generation));
    families_.push_back(family);
  }
  return Status::Ok();
}

Result<ColumnFamily*> PassingFamilies::Make(Db* db, bool lazy, std::string* generation,
                                            std::string* wrong) {
  CatalogEdit edit;
  edit.lazy = lazy;
  const uint32_t id = db->NewFamilyId();
  ColumnFamilyOptions options;
  options.target_file_bytes = 8 << 10;
  edit.create.push_back({id, options});
  *generation = "generation " + std::to_string(++generations_) + " ";
  edit.put.emplace_back(EntryOf(id), *generation);
  TIDESDB_TRY(db->ApplyCatalog(edit));
  ColumnFamily* const family = db->FindFamily(id);
  if (family == nullptr) *wrong = "a new passing family is missing";
  return family;
}

Status PassingFamilies::Load(Db* db, Random* random, std::string* wrong) {
  std::string generation;
  TIDESDB_ASSIGN(ColumnFamily* const family, Make(db, false, &generation, wrong));
  if (family == nullptr) return Status::Ok();
  TIDESDB_ASSIGN(const auto load,
                 db->BeginLoad(family, {.memory_bytes = 64 << 10, .on_written = nullptr}));
  families_.push_back(family);
  const uint64_t rows = random->Between(1, 200);
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < rows; ++i) order.push_back(i);
  for (uint64_t i = rows; i > 1; --i) std::swap(order[i - 1], order[random->Uniform(i)]);
  for (const uint64_t i : order) {
    const Status added =
        load->Add(kLoaded + std::to_string(i), generation + std::string(random->Uniform(600), 'l'));
    // The family may be dropped meanwhile.
    if (added.code() == Code::kInvalidArgument) return Status::Ok();
    TIDESDB_TRY(added);
  }
  if (random->OneIn(8)) return Status::Ok();  // Given up.
  loaded_[generation] = {rows, false};
  const Status committed = load->Commit();
  if (committed.code() == Code::kInvalidArgument) return Status::Ok();
  TIDESDB_TRY(committed);
  loaded_[generation].certain = true;
  ++loads_;
  Result<std::string> found = CheckRows(db, family, generation);
  if (found.status().code() == Code::kInvalidArgument) return Status::Ok();
  TIDESDB_ASSIGN(*wrong, std::move(found));
  return Status::Ok();
}

Status PassingFamilies::Write(Db* db, Transaction* txn, Random* random) {
  if (families_.empty()) return Status::Ok();
  ColumnFamily* const family = families_[random->Uniform(families_.size())];
  const std::string key = "key" + std::to_string(random->Uniform(100));
  const auto generation = db->GetCatalog(EntryOf(family->id()));
  if (!generation) return Status::Ok();  // Dropped meanwhile.
  const Status put = txn->Put(family, key, *generation + std::string(random->Uniform(300), 'p'));
  // The family may have been dropped meanwhile.
  return put.code() == Code::kInvalidArgument ? Status::Ok() : put;
}

}  // namespace tidesdb::simtest
