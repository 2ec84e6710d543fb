#include "io/posix_fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "io/posix_error.h"
#include "io/posix_files.h"

namespace tidesdb {
namespace {

constexpr mode_t kFileMode = 0640;  // The owner has access; the group may read (backup).
constexpr mode_t kDirMode = 0750;

Result<PosixFd> Open(const std::string& path, int flags) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, kFileMode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return PosixError("open", path, errno);
  return PosixFd(fd);
}

int FlagsOf(OpenMode mode) {
  switch (mode) {
    case OpenMode::kCreate:
      return O_WRONLY | O_CREAT | O_EXCL;
    case OpenMode::kTruncate:
      return O_WRONLY | O_CREAT | O_TRUNC;
    case OpenMode::kKeep:
      break;
  }
  return O_WRONLY;
}

Result<struct stat> Stat(const std::string& path, const PosixFd* fd = nullptr) {
  struct stat info = {};
  const int result = fd != nullptr ? ::fstat(fd->get(), &info) : ::stat(path.c_str(), &info);
  if (result != 0) return PosixError("stat", path, errno);
  return info;
}

Result<std::pair<PosixFd, uint64_t>> OpenSized(const std::string& path, int flags) {
  TIDESDB_ASSIGN(PosixFd fd, Open(path, flags));
  TIDESDB_ASSIGN(const struct stat info, Stat(path, &fd));
  if (S_ISDIR(info.st_mode)) return PosixError("open", path, EISDIR);
  return std::make_pair(std::move(fd), static_cast<uint64_t>(info.st_size));
}

// An open-file-description lock. Unlike POSIX process locks, it conflicts with a second open in the
// same process, and closing another descriptor of the file does not release it.
class PosixLock final : public FileLock {
 public:
  explicit PosixLock(PosixFd fd) : fd_(std::move(fd)) {}

 private:
  const PosixFd fd_;  // Closing it releases the lock.
};

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        OpenMode mode) override {
    TIDESDB_ASSIGN(auto opened, OpenSized(path, FlagsOf(mode)));
    return NewPosixWritableFile(std::move(opened.first), path, opened.second, &counters_);
  }

  Result<std::unique_ptr<PositionalFile>> NewPositionalFile(const std::string& path,
                                                            OpenMode mode) override {
    TIDESDB_ASSIGN(auto opened, OpenSized(path, FlagsOf(mode)));
    return NewPosixPositionalFile(std::move(opened.first), path, opened.second, &counters_);
  }

  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override {
    TIDESDB_ASSIGN(auto opened, OpenSized(path, O_RDONLY));
    return NewPosixRandomAccessFile(std::move(opened.first), path, opened.second, &counters_);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    return Checked(std::rename(from.c_str(), to.c_str()), "rename", from + " to " + to);
  }
  Status Link(const std::string& from, const std::string& to) override {
    return Checked(::link(from.c_str(), to.c_str()), "link", from + " to " + to);
  }
  Status Delete(const std::string& path) override {
    return Checked(::unlink(path.c_str()), "delete", path);
  }
  Status CreateDir(const std::string& path) override {
    return Checked(::mkdir(path.c_str(), kDirMode), "create directory", path);
  }
  Status RemoveDir(const std::string& path) override {
    return Checked(::rmdir(path.c_str()), "remove directory", path);
  }

  Result<std::vector<std::string>> List(const std::string& dir) override {
    DIR* stream = ::opendir(dir.c_str());
    if (stream == nullptr) return PosixError("list", dir, errno);
    std::vector<std::string> names;
    errno = 0;  // Only this distinguishes the end from an error.
    while (const dirent* entry = ::readdir(stream)) {
      const Slice name(entry->d_name);
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int error = errno;
    ::closedir(stream);
    if (error != 0) return PosixError("list", dir, error);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<bool> Exists(const std::string& path) override {
    if (::access(path.c_str(), F_OK) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return PosixError("look for", path, errno);
  }

  Result<bool> IsDir(const std::string& path) override {
    TIDESDB_ASSIGN(const struct stat info, Stat(path));
    return static_cast<bool>(S_ISDIR(info.st_mode));
  }

  Result<uint64_t> FileSize(const std::string& path) override {
    TIDESDB_ASSIGN(const struct stat info, Stat(path));
    return static_cast<uint64_t>(info.st_size);
  }

  Status SyncDir(const std::string& dir) override {
    TIDESDB_ASSIGN(const PosixFd fd, Open(dir, O_RDONLY | O_DIRECTORY));
    const int result = ::fsync(fd.get());
    const int error = errno;
    counters_.dir_syncs.fetch_add(1, std::memory_order_relaxed);
    return result == 0 ? Status::Ok() : PosixError("fsync directory", dir, error);
  }

  Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) override {
    TIDESDB_ASSIGN(PosixFd fd, Open(path, O_RDWR | O_CREAT));
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno == EAGAIN || errno == EACCES) {
        return Status::Busy("lock " + path + ": held by another process or database handle");
      }
      return PosixError("lock", path, errno);
    }
    return std::unique_ptr<FileLock>(std::make_unique<PosixLock>(std::move(fd)));
  }

  Result<uint64_t> FreeSpaceBytes(const std::string& path) override {
    struct statvfs info = {};
    if (::statvfs(path.c_str(), &info) != 0) return PosixError("statvfs", path, errno);
    return uint64_t{info.f_bavail} * info.f_frsize;
  }

 private:
  static Status Checked(int result, Slice operation, const std::string& what) {
    return result == 0 ? Status::Ok() : PosixError(operation, what, errno);
  }
};

}  // namespace

std::unique_ptr<FileSystem> NewPosixFileSystem() { return std::make_unique<PosixFileSystem>(); }

}  // namespace tidesdb
