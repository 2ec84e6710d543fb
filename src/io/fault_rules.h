// Rules of tests for which I/O operations fail, and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

enum class IoOp : uint8_t {
  kAny,  // In a rule: all operations.
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

// "The nth matching operation, and the times - 1 after it, fail like this."
struct FaultRule {
  enum class Kind : uint8_t {
    kIoError,      // EIO; nothing is done. A failed sync may lose its data for good.
    kNoSpace,      // ENOSPC; nothing is done.
    kShortWrite,   // Part of the bytes are written, then EIO. For kWrite.
    kCorruptRead,  // One bit of the read data is flipped. For kRead.
    kPowerCut,     // The power fails before the operation.
  };

  IoOp op = IoOp::kAny;
  std::string path_part = {};  // Matches the paths that contain it; empty matches all.
  Kind kind = Kind::kIoError;
  uint64_t nth = 1;     // 1: the next matching operation.
  uint64_t times = 1;   // UINT64_MAX: all later ones.
  uint64_t one_in = 0;  // Not 0: instead, each matching operation fails once in this many times.
};

// Threads: one at a time.
class FaultRules {
 public:
  void Add(const FaultRule& rule) { rules_.push_back({rule, 0}); }
  void Clear() { rules_.clear(); }

  // Counts the operation for every rule; returns the first rule that makes it fail, or null. The
  // pointer is valid until the rules change.
  const FaultRule* Match(IoOp op, Slice path, Random* random);

 private:
  struct Armed {
    FaultRule rule;
    uint64_t seen;
  };
  std::vector<Armed> rules_;
};

}  // namespace tidesdb
