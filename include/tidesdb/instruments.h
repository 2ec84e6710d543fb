// What a host can watch of the engine: its threads, each call to the system for one of its files,
// and where its callers' threads wait. For a server's own instruments, as MariaDB's performance_schema.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidesdb {

// Which file a call is for: of the write-ahead log, a table file, a run of a write set that has
// spilled, the manifest with CURRENT; all else.
enum class WatchedFile : uint8_t { kLog, kTable, kSpill, kManifest, kOther };
inline constexpr size_t kWatchedFileKinds = 5;

// What the call does.
enum class FileAction : uint8_t { kOpen, kClose, kRead, kWrite, kSync, kResize, kDelete };

// One call for a file, as long as it lasts; on the stack of the thread that makes it.
struct FileCall {
  FileAction action = FileAction::kOpen;
  WatchedFile kind = WatchedFile::kOther;
  const char* path = "";  // Bytes live as long as the call.
  size_t bytes_max = 0;   // Of a read or write: what is wanted.
  size_t bytes = 0;       // At its end: what was read or written. Of one that failed 0.
  bool ok = false;        // At its end.
  void* file = nullptr;   // The host's own, of an open file: it may set it when an open ends.
  void* place = nullptr;  // The host's own, from begin to end.
  alignas(std::max_align_t) unsigned char state[128] = {};  // The host's own, too.
};

// What a caller's thread sleeps for. Waits for locks are told to a LockWaitListener.
enum class WatchedWait : uint8_t {
  kCommit,  // Another's commit group: its own commit is in it, or behind it, or it has read from it.
  kStall,   // Writes that are held up: flushes or compactions are behind.
  kBackground,  // A flush or compaction that it asked for, or that is in its way.
};
inline constexpr size_t kWatchedWaitKinds = 3;

// One sleep, as long as it lasts; on the stack of the thread.
struct WaitCall {
  WatchedWait what = WatchedWait::kCommit;
  void* place = nullptr;                                    // The host's own, from begin to end.
  alignas(std::max_align_t) unsigned char state[128] = {};  // The host's own, too.
};

// Threads: called from any, several at once, by the thread that does what is told. Calls of one
// thread do not overlap. Some hold mutexes of the engine: must be short, must not call the engine.
// Lifetime: outlives the Db and its transactions.
class Instruments {
 public:
  virtual ~Instruments() = default;

  // A background thread, first and last thing it does. name: "tdb-flush-0", "tdb-compact-1",
  // "tdb-ticker"; lives as long as the thread.
  virtual void ThreadBegins(const char* name) noexcept = 0;
  virtual void ThreadEnds() noexcept = 0;

  // Just before the call to the system. `call` lives until CallEnds returns.
  virtual void CallBegins(FileCall* call) noexcept = 0;
  // With the same call, on the same thread.
  virtual void CallEnds(FileCall* call) noexcept = 0;

  // Just before the thread sleeps; not where it need not. `wait` lives until WaitEnds returns.
  virtual void WaitBegins(WaitCall* wait) noexcept = 0;
  // With the same wait, on the same thread.
  virtual void WaitEnds(WaitCall* wait) noexcept = 0;
};

}  // namespace tidesdb
