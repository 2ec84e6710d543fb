#include "version/obsolete_files.h"

#include <algorithm>

#include "base/failpoint.h"
#include "io/file_names.h"

namespace tidesdb {

void ObsoleteFiles::Add(uint64_t file_number) {
  {
    MutexLock lock(mutex_);
    queue_.push_back(file_number);
  }
  if (env_ != nullptr) env_->ObsoleteAdded();
}

bool ObsoleteFiles::Pending() const {
  MutexLock lock(mutex_);
  return !queue_.empty();
}

size_t ObsoleteFiles::DeleteSome(size_t files_max) {
  std::vector<uint64_t> taken;
  {
    MutexLock lock(mutex_);
    const size_t count = std::min(files_max, queue_.size());
    taken.assign(queue_.end() - static_cast<ptrdiff_t>(count), queue_.end());
    queue_.resize(queue_.size() - count);
  }
  if (block_cache_ != nullptr) block_cache_->EraseFiles(taken);
  for (const uint64_t number : taken) {
    TIDESDB_FAILPOINT("obsolete_before_delete");
    const std::string path = TableFileName(directory_, number);
    if (const Status status = fs_->Delete(path); !status.ok()) {
      LogF(log_, LogLevel::kWarn, "Cannot delete the obsolete %s, the next open will: %s",
           path.c_str(), status.ToString().c_str());
    }
  }
  return taken.size();
}

std::vector<std::string> CollectOrphans(const std::vector<std::string>& names,
                                        const std::set<uint64_t>& live_tables,
                                        uint64_t manifest_number) {
  std::vector<std::string> orphans;
  for (const std::string& name : names) {
    const ParsedFileName parsed = ParseFileName(name);
    bool orphan = false;
    switch (parsed.kind) {
      case FileKind::kTable:
        orphan = !live_tables.contains(parsed.number);
        break;
      case FileKind::kManifest:
        orphan = parsed.number != manifest_number;
        break;
      case FileKind::kSpill:
      case FileKind::kTemp:
        orphan = true;
        break;
      case FileKind::kOther:
      case FileKind::kLock:
      case FileKind::kCurrent:
      case FileKind::kWal:
      case FileKind::kVlog:
      case FileKind::kLog:
      case FileKind::kSynced:
      case FileKind::kWarm:
        break;
    }
    if (orphan) orphans.push_back(name);
  }
  return orphans;
}

uint64_t MaxFileNumber(const std::vector<std::string>& names) {
  uint64_t number_max = 0;
  for (const std::string& name : names) {
    number_max = std::max(number_max, ParseFileName(name).number);
  }
  return number_max;
}

}  // namespace tidesdb
