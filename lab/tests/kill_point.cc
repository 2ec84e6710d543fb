// Preloaded into a server: kills it (SIGKILL) just before or after a chosen write or sync of a chosen file.
//
// A kill leaves what was written before it, so each state that a crash of the process can leave lies between two of
// these calls. The file in TIDESDB_KILL_POINT gives the point as three 32-bit numbers: the kind of call (Kind; 0:
// none), whether the call still runs before the kill, and how many such calls to wait for. kill_point.py has the
// same kinds.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#define SHOWN extern "C" __attribute__((visibility("default")))

namespace {

enum Kind : int32_t {
  kNone,
  kEngineWrite,
  kEngineSync,
  kBinlogWrite,
  kBinlogSync,
  kInnodbWrite,
  kInnodbSync,
  kTableWrite,
  kManifestWrite,
};

struct Point {
  std::atomic<int32_t> kind;
  std::atomic<int32_t> after;
  std::atomic<int32_t> calls;
};

Point no_point;
Point* point = &no_point;

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void OpenPoint() {
  const char* path = getenv("TIDESDB_KILL_POINT");
  const int fd = path == nullptr ? -1 : open(path, O_RDWR);
  if (fd < 0) return;
  void* mapped = mmap(nullptr, sizeof(Point), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) point = static_cast<Point*>(mapped);
  close(fd);
}

Kind KindOf(int fd, bool is_sync) {
  char link[32];
  char name[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, name, sizeof name);
  if (length <= 0) return kNone;
  std::string_view file(name, static_cast<size_t>(length));
  file.remove_prefix(file.rfind('/') + 1);
  if (file.ends_with(".wal")) return is_sync ? kEngineSync : kEngineWrite;
  if (file.starts_with("binlog.0")) return is_sync ? kBinlogSync : kBinlogWrite;
  if (file == "ib_logfile0") return is_sync ? kInnodbSync : kInnodbWrite;
  if (is_sync) return kNone;
  if (file.ends_with(".tdb")) return kTableWrite;
  return file.starts_with("MANIFEST-") ? kManifestWrite : kNone;
}

// Whether this is the chosen call; counts it.
bool IsIt(int fd, bool is_sync) {
  const int32_t kind = point->kind.load();
  return kind != kNone && KindOf(fd, is_sync) == kind && point->calls.fetch_sub(1) == 1;
}

void EndServer() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

template <typename Call>
auto AtPoint(int fd, bool is_sync, Call call) {
  const bool chosen = IsIt(fd, is_sync);
  if (chosen && point->after.load() == 0) EndServer();
  const auto result = call();
  if (chosen) EndServer();
  return result;
}

}  // namespace

SHOWN ssize_t write(int fd, const void* data, size_t size) {
  static auto* const next = Next<ssize_t(int, const void*, size_t)>("write");
  return AtPoint(fd, false, [&] { return next(fd, data, size); });
}

SHOWN ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  static auto* const next = Next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return AtPoint(fd, false, [&] { return next(fd, data, size, at); });
}

SHOWN ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return pwrite64(fd, data, size, at);
}

SHOWN int fdatasync(int fd) {
  static auto* const next = Next<int(int)>("fdatasync");
  return AtPoint(fd, true, [&] { return next(fd); });
}

SHOWN int fsync(int fd) {
  static auto* const next = Next<int(int)>("fsync");
  return AtPoint(fd, true, [&] { return next(fd); });
}
