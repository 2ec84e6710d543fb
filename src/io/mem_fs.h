// An in-memory file system that can lose power: unsynced data may be lost or torn.
//
// The fault model is in docs/design/0002-simulation.md. In a Simulation every call is a scheduling
// point, and a sync takes (virtual) time in which other threads run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/fault_rules.h"
#include "io/file_system.h"

namespace tidesdb {

// Part of the message of every error after a power cut.
inline constexpr Slice kPowerCutMessage = "simulated power cut";

// Paths are absolute; "/" exists.
// Threads: safe from many.
class MemFs final : public FileSystem {
 public:
  // seed: decides what a failed sync loses, which bit a corrupt read flips, and rules with one_in.
  explicit MemFs(uint64_t seed = 1);
  ~MemFs() override;

  // --- Faults ---
  void AddFault(const FaultRule& rule);
  void ClearFaults();
  // The limit for all files together; a write beyond it writes what fits and fails with kNoSpace.
  void SetCapacity(uint64_t bytes);
  // From now on every call changes nothing and fails with an IoError that says kPowerCutMessage.
  void PowerCut();
  bool power_is_cut() const;
  // Operations so far; a rule with a lower nth cuts the power in the middle of a replay.
  uint64_t op_count() const;

  // A disk after a possible power cut now; this one is unchanged. It has all synced data; the seed
  // decides what is kept, dropped or torn of the rest. It has no locks and no faults, and all
  // contents are durable.
  std::unique_ptr<MemFs> CrashClone(uint64_t seed) const;
  // A disk after a killed process or an orderly shutdown: nothing is lost.
  std::unique_ptr<MemFs> CleanClone() const;

  // Flips bits in place, synced or not, like a bad medium. REQUIRES: offset < the file's size.
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
  std::unique_ptr<class MemWorld> world_;
};

}  // namespace tidesdb
