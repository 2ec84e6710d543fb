// Changes of families and catalog that are not in the manifest yet: each may be undone by a crash, as
// long as nothing after it was written.
//
// Threads: one at a time.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "format/manifest_format.h"

namespace tidesdb {

class DeferredEdit {
 public:
  // Whether a name is in the catalog, with what was deferred so far.
  using IsThere = std::function<bool(const std::string&)>;

  bool empty() const { return create_.empty() && drop_.empty() && erase_.empty() && put_.empty(); }
  // REQUIRES: the edit changes families and catalog only.
  void Add(const VersionEdit& edit, const IsThere& is_there);
  // One edit that does what was deferred, and then this one.
  VersionEdit Before(const VersionEdit& edit, const IsThere& is_there) const;

 private:
  void AddFamilies(const VersionEdit& edit);
  void AddCatalog(const VersionEdit& edit, const IsThere& is_there);

  // What made and unmade itself meanwhile is in none of them.
  std::vector<FamilyId> drop_;
  std::vector<VersionEdit::NewFamily> create_;
  std::set<std::string> erase_;
  std::map<std::string, std::string> put_;
};

}  // namespace tidesdb
