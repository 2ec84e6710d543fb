// Which I/O operations fail, and how: rules that a test arms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

enum class IoOp : uint8_t {
  kAny,  // In a rule: every operation.
  kOpen,
  kRead,
  kWrite,
  kSync,
  kPreallocate,
  kTruncate,
  kRename,
  kLink,
  kDelete,
  kCreateDir,
  kRemoveDir,
  kList,
  kStat,
  kSyncDir,
  kLock,
};

// "The nth matching operation, and the times - 1 after it, end like this."
struct FaultRule {
  enum class Kind : uint8_t {
    kIoError,      // EIO; nothing is done. A failed sync may lose what it covered for good.
    kNoSpace,      // ENOSPC; nothing is done.
    kShortWrite,   // Part of the bytes are written, then EIO. For kWrite.
    kCorruptRead,  // One bit of what is read is flipped. For kRead.
    kPowerCut,     // The power goes before the operation.
  };

  IoOp op = IoOp::kAny;
  std::string path_part = {};  // Matches the paths that contain it; empty matches all.
  Kind kind = Kind::kIoError;
  uint64_t nth = 1;     // 1: the next matching operation.
  uint64_t times = 1;   // UINT64_MAX: from then on.
  uint64_t one_in = 0;  // Not 0: each matching operation fails with this chance instead.
};

// Threads: one at a time.
class FaultRules {
 public:
  void Add(const FaultRule& rule) { rules_.push_back({rule, 0}); }
  void Clear() { rules_.clear(); }

  // Counts the operation against every rule; returns the first one that says it fails, or null.
  // The pointer is good until the rules change.
  const FaultRule* Match(IoOp op, Slice path, Random* random);

 private:
  struct Armed {
    FaultRule rule;
    uint64_t seen;
  };
  std::vector<Armed> rules_;
};

}  // namespace tidesdb
