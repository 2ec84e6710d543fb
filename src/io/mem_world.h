// The state that all calls and open files of a MemFs share: the disk, its lock, its faults. Private
// to src/io.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/random.h"
#include "io/fault_rules.h"
#include "io/file_system.h"
#include "io/mem_disk.h"

namespace tidesdb {

// Threads: mu guards everything.
class MemWorld {
 public:
  MemWorld(uint64_t seed, std::shared_ptr<MemDir> root_in)
      : root(std::move(root_in)), random(seed) {}

  // A place in the tree: the directory that holds (or would hold) a name.
  struct Place {
    std::shared_ptr<MemDir> dir;  // Null: a directory on the way is missing or is a file.
    std::string name;             // Empty: the root itself.
  };

  // Every operation begins with this. OK: continue; *fault has a fault that lets the operation
  // begin (a short write or a corrupt read). Otherwise returns the operation's error.
  Status Enter(IoOp op, Slice verb, const std::string& path,
               std::optional<FaultRule::Kind>* fault = nullptr,
               std::optional<uint64_t> offset = std::nullopt) REQUIRES(mu);
  Status PowerStatus(Slice verb, const std::string& path) const REQUIRES(mu);

  Place Locate(Slice path) const REQUIRES(mu);
  MemNode Find(Slice path) const REQUIRES(mu);
  // The free space for files.
  uint64_t FreeBytes() const REQUIRES(mu);

  mutable Mutex mu;
  const std::shared_ptr<MemDir> root;  // The tree below is guarded by mu.
  Random random GUARDED_BY(mu);
  FaultRules faults GUARDED_BY(mu);
  std::set<std::string> locked GUARDED_BY(mu);
  uint64_t capacity_bytes GUARDED_BY(mu) = std::numeric_limits<uint64_t>::max();
  uint64_t op_count GUARDED_BY(mu) = 0;
  bool power_is_cut GUARDED_BY(mu) = false;
};

// In a simulation: a scheduling point before an operation, and the time of a sync.
void SimulateIoCall();
void SimulateSyncTime();

// Open files. world and counters outlive them.
std::unique_ptr<WritableFile> NewMemWritableFile(MemWorld* world, std::shared_ptr<MemInode> inode,
                                                 std::string path, IoCounters* counters);
std::unique_ptr<PositionalFile> NewMemPositionalFile(MemWorld* world,
                                                     std::shared_ptr<MemInode> inode,
                                                     std::string path, IoCounters* counters);
std::unique_ptr<RandomAccessFile> NewMemRandomAccessFile(MemWorld* world,
                                                         std::shared_ptr<MemInode> inode,
                                                         std::string path, IoCounters* counters);

}  // namespace tidesdb
