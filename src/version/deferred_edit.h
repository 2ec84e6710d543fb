// Changes of families and catalog that are not in the manifest yet. A crash may undo them as long as no later edit
// was written.
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
  // Whether a name is in the catalog, including deferred edits.
  using IsThere = std::function<bool(const std::string&)>;

  bool empty() const { return create_.empty() && drop_.empty() && erase_.empty() && put_.empty(); }
  // REQUIRES: the edit changes families and catalog only.
  void Add(const VersionEdit& edit, const IsThere& is_there);
  // One edit that contains the deferred changes, then this one.
  VersionEdit Before(const VersionEdit& edit, const IsThere& is_there) const;

 private:
  void AddFamilies(const VersionEdit& edit);
  void AddCatalog(const VersionEdit& edit, const IsThere& is_there);

  // They contain nothing that was created and dropped meanwhile.
  std::vector<FamilyId> drop_;
  std::vector<VersionEdit::NewFamily> create_;
  std::set<std::string> erase_;
  std::map<std::string, std::string> put_;
};

}  // namespace tidesdb
