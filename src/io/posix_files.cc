#include "io/posix_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "io/posix_error.h"

namespace tidesdb {
namespace {

IoCounters::PerKind* CountersOf(IoCounters* counters, const std::string& path) {
  return &counters->of(ParseFileName(BaseName(path)).kind);
}

void Count(std::atomic<uint64_t>* counter, uint64_t n) {
  counter->fetch_add(n, std::memory_order_relaxed);
}

// What both kinds of written files have in common. Append and WriteAt are WriteAll.
class PosixOutput {
 public:
  PosixOutput(PosixFd fd, std::string path, uint64_t size, IoCounters* counters)
      : fd_(std::move(fd)),
        path_(std::move(path)),
        counters_(CountersOf(counters, path_)),
        size_(size) {}

  Status WriteAll(uint64_t offset, Slice data) {
    while (!data.empty()) {
      const ssize_t n = ::pwrite(fd_.get(), data.data(), data.size(), static_cast<off_t>(offset));
      if (n < 0) {
        if (errno == EINTR) continue;
        return PosixError("write", path_, errno, offset);
      }
      Count(&counters_->writes, 1);
      Count(&counters_->write_bytes, static_cast<uint64_t>(n));
      data.remove_prefix(static_cast<size_t>(n));
      offset += static_cast<uint64_t>(n);
    }
    GrowTo(offset);
    return Status::Ok();
  }

  Status Sync() {
    const int result = ::fdatasync(fd_.get());
    const int error = errno;
    Count(&counters_->syncs, 1);
    return result == 0 ? Status::Ok() : PosixError("fdatasync", path_, error);
  }

  // keep_size: reserve only.
  Status Preallocate(uint64_t bytes, bool keep_size) {
    if (bytes == 0) return Status::Ok();
    const int mode = keep_size ? FALLOC_FL_KEEP_SIZE : 0;
    int result;
    do {
      result = ::fallocate(fd_.get(), mode, 0, static_cast<off_t>(bytes));
    } while (result != 0 && errno == EINTR);
    if (result == 0) {
      if (!keep_size) GrowTo(bytes);
      return Status::Ok();
    }
    if (errno != EOPNOTSUPP && errno != ENOSYS) return PosixError("fallocate", path_, errno);
    if (keep_size || bytes <= size()) return Status::Ok();
    // Without support a hole must do: the size at least does not change any more.
    if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
      return PosixError("truncate", path_, errno, bytes);
    }
    GrowTo(bytes);
    return Status::Ok();
  }

  Status Truncate(uint64_t size) {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
      return PosixError("truncate", path_, errno, size);
    }
    size_.store(size, std::memory_order_relaxed);
    return Status::Ok();
  }

  Status Close() {
    const int error = fd_.Close();
    return error == 0 ? Status::Ok() : PosixError("close", path_, error);
  }

  uint64_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  void GrowTo(uint64_t size) {
    uint64_t now = size_.load(std::memory_order_relaxed);
    while (now < size && !size_.compare_exchange_weak(now, size, std::memory_order_relaxed)) {
    }
  }

  PosixFd fd_;
  const std::string path_;
  IoCounters::PerKind* const counters_;
  std::atomic<uint64_t> size_;  // Relaxed: WriteAt may run on many threads; a figure.
};

class PosixWritableFile final : public WritableFile {
 public:
  template <typename... Args>
  explicit PosixWritableFile(Args&&... args) : out_(std::forward<Args>(args)...) {}

  Status Append(Slice data) override { return out_.WriteAll(out_.size(), data); }
  Status Sync() override { return out_.Sync(); }
  Status Preallocate(uint64_t bytes) override { return out_.Preallocate(bytes, true); }
  Status Truncate(uint64_t size) override {
    DCHECK(size <= out_.size());
    return out_.Truncate(size);
  }
  Status Close() override { return out_.Close(); }
  uint64_t size() const override { return out_.size(); }

 private:
  PosixOutput out_;
};

class PosixPositionalFile final : public PositionalFile {
 public:
  template <typename... Args>
  explicit PosixPositionalFile(Args&&... args) : out_(std::forward<Args>(args)...) {}

  Status WriteAt(uint64_t offset, Slice data) override { return out_.WriteAll(offset, data); }
  Status Sync() override { return out_.Sync(); }
  Status Preallocate(uint64_t bytes) override { return out_.Preallocate(bytes, false); }
  Status Truncate(uint64_t size) override { return out_.Truncate(size); }
  Status Close() override { return out_.Close(); }
  uint64_t size() const override { return out_.size(); }

 private:
  PosixOutput out_;
};

class PosixRandomAccessFile final : public RandomAccessFile {
 public:
  PosixRandomAccessFile(PosixFd fd, std::string path, uint64_t size, IoCounters* counters)
      : fd_(std::move(fd)),
        path_(std::move(path)),
        size_(size),
        counters_(CountersOf(counters, path_)) {
    Count(&counters_->readers, 1);
  }
  ~PosixRandomAccessFile() override { counters_->readers.fetch_sub(1, std::memory_order_relaxed); }

  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    size_t done = 0;
    while (done < n) {
      const ssize_t got =
          ::pread(fd_.get(), scratch + done, n - done, static_cast<off_t>(offset + done));
      if (got < 0) {
        if (errno == EINTR) continue;
        return PosixError("read", path_, errno, offset + done);
      }
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    Count(&counters_->reads, 1);
    Count(&counters_->read_bytes, done);
    return Slice(scratch, done);
  }

  // Hints: a refusal changes nothing, so it is not looked at.
  void Readahead(uint64_t offset, size_t n) const override {
    (void)::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                          POSIX_FADV_WILLNEED);
  }
  void AdviseRandom(bool random) const override {
    (void)::posix_fadvise(fd_.get(), 0, 0, random ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL);
  }

  uint64_t size() const override { return size_; }

 private:
  const PosixFd fd_;
  const std::string path_;
  const uint64_t size_;
  IoCounters::PerKind* const counters_;
};

}  // namespace

PosixFd& PosixFd::operator=(PosixFd&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

int PosixFd::Close() {
  if (fd_ < 0) return 0;
  // Never repeated: Linux frees the descriptor even when close reports an error.
  const int result = ::close(std::exchange(fd_, -1));
  return result == 0 || errno == EINTR ? 0 : errno;
}

std::unique_ptr<WritableFile> NewPosixWritableFile(PosixFd fd, std::string path, uint64_t size,
                                                   IoCounters* counters) {
  return std::make_unique<PosixWritableFile>(std::move(fd), std::move(path), size, counters);
}

std::unique_ptr<PositionalFile> NewPosixPositionalFile(PosixFd fd, std::string path, uint64_t size,
                                                       IoCounters* counters) {
  return std::make_unique<PosixPositionalFile>(std::move(fd), std::move(path), size, counters);
}

std::unique_ptr<RandomAccessFile> NewPosixRandomAccessFile(PosixFd fd, std::string path,
                                                           uint64_t size, IoCounters* counters) {
  return std::make_unique<PosixRandomAccessFile>(std::move(fd), std::move(path), size, counters);
}

}  // namespace tidesdb
