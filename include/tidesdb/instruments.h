// What a host can watch of the engine: its threads, each system call for one of its files, and where callers'
// threads wait. Made for a server's own instruments, such as MariaDB's performance_schema.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidesdb {

// The kind of file a call is for. kSpill is a sorted run of a spilled write set; kManifest includes CURRENT.
enum class WatchedFile : uint8_t { kLog, kTable, kSpill, kManifest, kOther };
inline constexpr size_t kWatchedFileKinds = 5;

// What the call does.
enum class FileAction : uint8_t { kOpen, kClose, kRead, kWrite, kSync, kResize, kDelete };

// One call for a file. It exists during the call, on the stack of the calling thread.
struct FileCall {
  FileAction action = FileAction::kOpen;
  WatchedFile kind = WatchedFile::kOther;
  const char* path = "";  // The bytes live as long as the call.
  size_t bytes_max = 0;   // Of a read or write: the wanted number.
  size_t bytes = 0;       // At the end: the number read or written; 0 after a failure.
  bool ok = false;        // At the end.
  void* file = nullptr;   // The host's own, of an open file: it may set it when an open ends.
  void* place = nullptr;  // The host's own, from begin to end.
  alignas(std::max_align_t) unsigned char state[128] = {};  // The host's own.
};

// What a caller's thread sleeps for. A LockWaitListener is told of waits for locks.
enum class WatchedWait : uint8_t {
  kCommit,  // Another thread's commit group, which holds or precedes its commit, or whose data it has read.
  kStall,       // Writes are held up because flushes or compactions are behind.
  kBackground,  // A flush or compaction that it asked for or that blocks it.
};
inline constexpr size_t kWatchedWaitKinds = 3;

// One sleep. It exists during the sleep, on the stack of the sleeping thread.
struct WaitCall {
  WatchedWait what = WatchedWait::kCommit;
  void* place = nullptr;                                    // The host's own, from begin to end.
  alignas(std::max_align_t) unsigned char state[128] = {};  // The host's own.
};

// Threads: any, several at once; the thread that does the reported thing makes the call. Calls of one thread do not
//   overlap. Some callers hold mutexes of the engine: be short and do not call the engine.
// Lifetime: outlives the Db and its transactions.
class Instruments {
 public:
  virtual ~Instruments() = default;

  // The first and the last call of a background thread. name: "tdb-flush-0", "tdb-compact-1", "tdb-read-2",
  // "tdb-warm" or "tdb-ticker"; it lives as long as the thread.
  virtual void ThreadBegins(const char* name) noexcept = 0;
  virtual void ThreadEnds() noexcept = 0;

  // Just before the system call. `call` lives until CallEnds returns.
  virtual void CallBegins(FileCall* call) noexcept = 0;
  // With the same call, on the same thread.
  virtual void CallEnds(FileCall* call) noexcept = 0;

  // Just before the thread sleeps; not called if it need not sleep. `wait` lives until WaitEnds returns.
  virtual void WaitBegins(WaitCall* wait) noexcept = 0;
  // With the same wait, on the same thread.
  virtual void WaitEnds(WaitCall* wait) noexcept = 0;
};

}  // namespace tidesdb
