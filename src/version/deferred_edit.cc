#include "version/deferred_edit.h"

#include <algorithm>

namespace tidesdb {

void DeferredEdit::AddFamilies(const VersionEdit& edit) {
  for (const FamilyId family : edit.drop_families) {
    const auto is_it = [&](const VersionEdit::NewFamily& made) { return made.id == family; };
    const auto made = std::find_if(create_.begin(), create_.end(), is_it);
    if (made == create_.end()) {
      drop_.push_back(family);
    } else {
      create_.erase(made);
    }
  }
  create_.insert(create_.end(), edit.create_families.begin(), edit.create_families.end());
}

void DeferredEdit::AddCatalog(const VersionEdit& edit, const IsThere& is_there) {
  for (const std::string& name : edit.catalog_erase) {
    if (put_.erase(name) == 0) erase_.insert(name);
  }
  for (const auto& [name, value] : edit.catalog_put) {
    // A later erase must also erase what the manifest has.
    if (!put_.contains(name) && is_there(name)) erase_.insert(name);
    put_[name] = value;
  }
}

void DeferredEdit::Add(const VersionEdit& edit, const IsThere& is_there) {
  AddFamilies(edit);
  AddCatalog(edit, is_there);
}

VersionEdit DeferredEdit::Before(const VersionEdit& edit, const IsThere& is_there) const {
  VersionEdit both = edit;
  if (empty()) return both;
  DeferredEdit sum = *this;
  sum.Add(edit, is_there);
  both.drop_families = std::move(sum.drop_);
  both.create_families = std::move(sum.create_);
  both.catalog_erase.assign(sum.erase_.begin(), sum.erase_.end());
  both.catalog_put.assign(sum.put_.begin(), sum.put_.end());
  return both;
}

}  // namespace tidesdb
