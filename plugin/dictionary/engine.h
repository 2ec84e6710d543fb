// The one open database and its companions, from the plugin's init to its deinit.
//
// Threads: see the members.
#pragma once

#include "base/server_port.h"

#include <memory>

#include "base/latch.h"
#include "dictionary/branches.h"
#include "dictionary/dictionary.h"
#include "dictionary/table_statistics.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

// Numbers for connections that use AUTO_INCREMENT; see AutoIncrementKey().
class Slots {
 public:
  int Take();
  void Give(int slot);

 private:
  Latch latch_{LatchOf::kSlots};
  std::vector<bool> taken_;  // Guarded by latch_.
};

struct Engine {
  std::unique_ptr<LogSink> log;
  std::unique_ptr<Db> db;
  Dictionary dictionary;
  Slots slots;
  Branches branches;
  TableStatistics statistics;
};

// Constant between the plugin's init and deinit.
extern Engine* engine;

}  // namespace tidesdb::plugin
