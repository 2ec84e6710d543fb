// A file system in memory that can lose power: what was not synced may be lost or torn.
//
// The fault model is in docs/design/0002-simulation.md. In a Simulation every call is a scheduling
// point. Faults are armed with FaultRule; Threads: safe from many.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "io/file_system.h"

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
  kSyncDir,
  kLock,
};

// "The nth and the times - 1 following operations of a kind on matching files do this."
struct FaultRule {
  enum class Kind : uint8_t {
    kIoError,     // EIO; nothing is done. A failed sync may lose what it covered for good.
    kNoSpace,     // ENOSPC; nothing is done.
    kShortWrite,  // Half of the bytes are written, then EIO.
    kCorruptRead, // One bit of what is read is flipped.
    kPowerCut,    // As PowerCut(), before the operation.
  };
  IoOp op = IoOp::kAny;
  std::string path_part;  // Matches paths that contain it; empty matches all.
  uint64_t nth = 1;       // 1: the next matching operation.
  uint64_t times = 1;     // UINT64_MAX: from then on.
  Kind kind = Kind::kIoError;
};

inline constexpr Slice kPowerCutMessage = "simulated power cut";

class MemFs final : public FileSystem {
 public:
  // seed: decides what a failed sync loses, and which bit a corrupt read flips.
  explicit MemFs(uint64_t seed = 1);
  ~MemFs() override;

  // --- Faults ---
  void AddFault(const FaultRule& rule);
  void ClearFaults();
  // Total bytes of all files; writes and preallocations beyond it fail with kNoSpace.
  void SetCapacity(uint64_t bytes);
  // From now on every call fails with an IoError that says kPowerCutMessage, and nothing changes.
  void PowerCut();
  bool power_is_cut() const;
  // Operations so far: pick one below it to cut the power at.
  uint64_t op_count() const;

  // A disk as it may be after a power cut now (this one is left as it is): synced data is there;
  // of the rest, the seed decides what is kept, dropped or torn. Locks are free, faults gone.
  // Everything in the clone counts as synced.
  std::unique_ptr<MemFs> CrashClone(uint64_t seed) const;
  // A disk after an orderly power-off: nothing is lost.
  std::unique_ptr<MemFs> CleanClone() const;

  // Flips bits in place, behind everybody's back: damage on the medium. REQUIRES: offset in file.
  void FlipByte(const std::string& path, uint64_t offset, uint8_t mask = 0x40);

  // --- FileSystem ---
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        OpenMode mode) override;
  Result<std::unique_ptr<PositionalFile>> NewPositionalFile(const std::string& path,
                                                            OpenMode mode) override;
  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Link(const std::string& from, const std::string& to) override;
  Status Delete(const std::string& path) override;
  Status CreateDir(const std::string& path) override;
  Status RemoveDir(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& dir) override;
  Result<bool> Exists(const std::string& path) override;
  Result<bool> IsDir(const std::string& path) override;
  Result<uint64_t> FileSize(const std::string& path) override;
  Status SyncDir(const std::string& dir) override;
  Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) override;
  Result<uint64_t> FreeSpaceBytes(const std::string& path) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidesdb
