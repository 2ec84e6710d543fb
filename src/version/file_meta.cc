#include "version/file_meta.h"

#include "version/obsolete_files.h"
#include "version/table_cache.h"

namespace tidesdb {

FileMeta::~FileMeta() {
  if (TableCache* cache = cache_.load(std::memory_order_acquire); cache != nullptr) {
    cache->Forget(*this);
  }
  if (obsolete_.load(std::memory_order_relaxed) && obsolete_files_ != nullptr) {
    obsolete_files_->Add(record_.number);
  }
}

}  // namespace tidesdb
