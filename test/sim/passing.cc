#include "sim/passing.h"

#include <algorithm>
#include <utility>

namespace tidesdb::simtest {
namespace {

constexpr const char* kPrefix = "passing/";

std::string EntryOf(uint32_t id) { return kPrefix + std::to_string(id); }

// Each row says which family it was written to, by more than its id.
std::string CheckRows(Db* db, ColumnFamily* family, const std::string& generation) {
  const auto txn = db->Begin({});
  const auto rows = txn->NewIterator(family, {});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    if (!rows->value().starts_with(generation)) {
      return "a passing family has rows of another that had its id";
    }
  }
  return rows->status().ok() ? "" : rows->status().ToString();
}

}  // namespace

std::string PassingFamilies::Recovered(Db* db, Random* random) {
  families_.clear();
  size_t unnamed = 0;
  CatalogEdit drop;
  for (ColumnFamily* family : db->ListFamilies()) {
    if (!family->options().name.empty()) continue;
    ++unnamed;
    const auto generation = db->GetCatalog(EntryOf(family->id()));
    if (!generation) return "a passing family has no catalog entry";
    if (std::string wrong = CheckRows(db, family, *generation); !wrong.empty()) return wrong;
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
  const uint32_t id = db->NewFamilyId();
  ColumnFamilyOptions options;
  options.target_file_bytes = 8 << 10;
  edit.create.push_back({id, options});
  const std::string generation = "generation " + std::to_string(++generations_) + " ";
  edit.put.emplace_back(EntryOf(id), generation);
  TIDESDB_TRY(db->ApplyCatalog(edit));
  ColumnFamily* const family = db->FindFamily(id);
  if (family == nullptr) {
    *wrong = "a new passing family is not there";
    return Status::Ok();
  }
  *wrong = CheckRows(db, family, generation);
  families_.push_back(family);
  return Status::Ok();
}

Status PassingFamilies::Write(Db* db, Transaction* txn, Random* random) {
  if (families_.empty()) return Status::Ok();
  ColumnFamily* const family = families_[random->Uniform(families_.size())];
  const std::string key = "key" + std::to_string(random->Uniform(100));
  const auto generation = db->GetCatalog(EntryOf(family->id()));
  if (!generation) return Status::Ok();  // Dropped meanwhile.
  const Status put = txn->Put(family, key, *generation + std::string(random->Uniform(300), 'p'));
  // It may have been dropped meanwhile.
  return put.code() == Code::kInvalidArgument ? Status::Ok() : put;
}

}  // namespace tidesdb::simtest
