// The environment of spilling. A plain value; owns nothing.
#pragma once

#include "io/file_system.h"
#include "table/block_cache.h"
#include "writes/spill_files.h"
#include "writes/txn_env.h"

namespace tidesdb {

struct SpillContext {
  TxnEnv* env = nullptr;
  FileSystem* fs = nullptr;
  BlockCache* cache = nullptr;
  SpillFiles* files = nullptr;
};

}  // namespace tidesdb
