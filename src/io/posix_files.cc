#include "io/posix_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "io/aligned_bytes.h"
#include "io/posix_error.h"

namespace tidesdb {
namespace {

IoCounters::PerKind* CountersOf(IoCounters* counters, const std::string& path) {
  return &counters->of(ParseFileName(BaseName(path)).kind);
}

void Count(std::atomic<uint64_t>* counter, uint64_t n) {
  counter->fetch_add(n, std::memory_order_relaxed);
}

// What is not written directly is written back at once, and dropped from the page cache one step
// later, when the disk has it.
constexpr uint64_t kDropStepBytes = 1 << 20;

// The pages of the range.
void DropPages(int fd, uint64_t offset, uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  const uint64_t from = offset / kPage * kPage;
  const uint64_t end = (offset + bytes + kPage - 1) / kPage * kPage;
  (void)::posix_fadvise(fd, static_cast<off_t>(from), static_cast<off_t>(end - from),
                        POSIX_FADV_DONTNEED);
}

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The whole blocks of the first hole in [begin, end): a reserved block is one until its first write,
// also to the page cache. Empty if the file system cannot say.
Range ReservedIn(int fd, uint64_t begin, uint64_t end) {
  const off_t hole = ::lseek(fd, static_cast<off_t>(begin), SEEK_HOLE);
  if (hole < 0) return {};
  const off_t data = ::lseek(fd, hole, SEEK_DATA);
  if (data < 0 && errno != ENXIO) return {};
  constexpr uint64_t kBlock = kDirectAlignmentMax;
  if (data >= 0) end = std::min(end, static_cast<uint64_t>(data));
  return {(static_cast<uint64_t>(hole) + kBlock - 1) / kBlock * kBlock, end / kBlock * kBlock};
}

// For a descriptor with O_DIRECT. Returns the number of bytes; fewer after an error.
uint64_t WriteZeros(int fd, Range range) {
  alignas(kDirectAlignmentMax) static constexpr std::array<char, 16 << 10> kZeros = {};
  uint64_t at = range.begin;
  while (at < range.end) {
    std::array<iovec, 64> pieces;
    size_t count = 0;
    for (uint64_t left = range.end - at; left > 0 && count < pieces.size(); ++count) {
      const auto bytes = static_cast<size_t>(std::min<uint64_t>(left, kZeros.size()));
      pieces[count] = {const_cast<char*>(kZeros.data()), bytes};
      left -= bytes;
    }
    const ssize_t n = ::pwritev(fd, pieces.data(), static_cast<int>(count), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += static_cast<uint64_t>(n);
  }
  return at - range.begin;
}

// The common part of both kinds of written files. Append and WriteAt are WriteAll.
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
        // Some file systems take O_DIRECT and refuse the write, or the rest of a short one.
        if (errno == EINVAL && direct_ && SetDirect(false)) continue;
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

  // Starts the write of [offset, offset + bytes), or waits for it and drops the pages.
  Status WriteBack(uint64_t offset, uint64_t bytes, bool wait) {
    const unsigned flags =
        wait ? SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER
             : SYNC_FILE_RANGE_WRITE;
    const int result =
        ::sync_file_range(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes), flags);
    // fdatasync will not repeat an error that is reported here.
    if (result != 0 && errno != ENOSYS && errno != EINVAL && errno != EOPNOTSUPP) {
      return PosixError("sync_file_range", path_, errno, offset);
    }
    if (wait) DropPages(fd_.get(), offset, bytes);
    return Status::Ok();
  }

  // Whether writes go past the page cache; then memory, offsets and sizes must be aligned. Returns
  // whether that is so now.
  bool SetDirect(bool direct) {
    const int flags = ::fcntl(fd_.get(), F_GETFL);
    const int wanted = direct ? flags | O_DIRECT : flags & ~O_DIRECT;
    if (flags < 0 || ::fcntl(fd_.get(), F_SETFL, wanted) != 0) return false;
    direct_ = direct;
    return true;
  }
  bool direct() const { return direct_; }

  // For pages that are synced.
  void Drop() { DropPages(fd_.get(), 0, size()); }

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
    // Without support use a hole: at least the size will not change any more.
    if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
      return PosixError("truncate", path_, errno, bytes);
    }
    GrowTo(bytes);
    return Status::Ok();
  }

  // Past the page cache, which has no use for zeros. A failure changes no contents and is ignored.
  void WriteReserved(uint64_t offset, uint64_t bytes) {
    const Range range = ReservedIn(fd_.get(), offset, std::min(offset + bytes, size()));
    if (range.begin >= range.end) return;
    if (!SetDirect(true)) return;
    const uint64_t written = WriteZeros(fd_.get(), range);
    SetDirect(false);
    Count(&counters_->writes, 1);
    Count(&counters_->write_bytes, written);
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
  bool direct_ = false;
  std::atomic<uint64_t> size_;  // Relaxed: WriteAt may run on many threads; just a figure.
};

class PosixWritableFile final : public WritableFile {
 public:
  template <typename... Args>
  explicit PosixWritableFile(Args&&... args) : out_(std::forward<Args>(args)...) {}

  Status Append(Slice data) override {
    if (out_.direct()) {
      const Slice aligned = data.substr(0, DirectPart(data));
      TIDESDB_TRY(out_.WriteAll(out_.size(), aligned));
      data.remove_prefix(aligned.size());
      if (data.empty()) return Status::Ok();
      // The end of the file.
      out_.SetDirect(false);
      started_ = out_.size();
    }
    TIDESDB_TRY(out_.WriteAll(out_.size(), data));
    return bypass_ ? DropBehind() : Status::Ok();
  }
  Status Sync() override {
    TIDESDB_TRY(out_.Sync());
    if (bypass_) out_.Drop();
    return Status::Ok();
  }
  Status Preallocate(uint64_t bytes) override { return out_.Preallocate(bytes, true); }
  Status Truncate(uint64_t size) override {
    DCHECK(size <= out_.size());
    started_ = std::min(started_, size);
    return out_.Truncate(size);
  }
  Status Close() override { return out_.Close(); }
  uint64_t size() const override { return out_.size(); }
  void BypassPageCache() override {
    bypass_ = true;
    out_.SetDirect(true);
  }

 private:
  // How many bytes from the start can be appended directly.
  size_t DirectPart(Slice data) const {
    const uint64_t place = reinterpret_cast<uintptr_t>(data.data()) | out_.size();
    return place % kDirectAlignmentMax == 0
               ? data.size() / kDirectAlignmentMax * kDirectAlignmentMax
               : 0;
  }
  Status DropBehind() {
    while (out_.size() - started_ >= kDropStepBytes) {
      TIDESDB_TRY(out_.WriteBack(started_, kDropStepBytes, false));
      if (started_ >= kDropStepBytes) {
        TIDESDB_TRY(out_.WriteBack(started_ - kDropStepBytes, kDropStepBytes, true));
      }
      started_ += kDropStepBytes;
    }
    return Status::Ok();
  }

  PosixOutput out_;
  bool bypass_ = false;
  uint64_t started_ = 0;  // The disk has been told to write up to here.
};

class PosixPositionalFile final : public PositionalFile {
 public:
  template <typename... Args>
  explicit PosixPositionalFile(Args&&... args) : out_(std::forward<Args>(args)...) {}

  Status WriteAt(uint64_t offset, Slice data) override { return out_.WriteAll(offset, data); }
  Status Sync() override { return out_.Sync(); }
  Status Preallocate(uint64_t bytes) override { return out_.Preallocate(bytes, false); }
  void WriteReserved(uint64_t offset, uint64_t bytes) override {
    out_.WriteReserved(offset, bytes);
  }
  Status Truncate(uint64_t size) override { return out_.Truncate(size); }
  Status Close() override { return out_.Close(); }
  uint64_t size() const override { return out_.size(); }

 private:
  PosixOutput out_;
};

// The alignment that direct reads of this file need.
size_t DirectAlignment(int fd) {
#ifdef STATX_DIOALIGN
  struct statx info = {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 &&
      (info.stx_mask & STATX_DIOALIGN) != 0) {
    const size_t align = std::max(info.stx_dio_offset_align, info.stx_dio_mem_align);
    if (std::has_single_bit(align) && align <= kDirectAlignmentMax) return align;
  }
#else
  (void)fd;
#endif
  return kDirectAlignmentMax;
}

// A thread's buffer for direct reads into unaligned memory. Longer reads allocate their own.
constexpr size_t kBounceBytes = 64 << 10;

class Bounce {
 public:
  explicit Bounce(size_t bytes) {
    if (bytes > kBounceBytes) {
      own_ = NewAlignedBytes(bytes);
      return;
    }
    thread_local const AlignedBytes of_thread = NewAlignedBytes(kBounceBytes);
    shared_ = of_thread.get();
  }
  char* data() { return own_ != nullptr ? own_.get() : shared_; }

 private:
  AlignedBytes own_;
  char* shared_ = nullptr;
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
    const size_t align = alignment();
    if (align > 1) return ReadDirect(offset, n, scratch, align);
    TIDESDB_ASSIGN(const size_t got, ReadAll(offset, n, scratch, 1));
    if (drop_.load(std::memory_order_relaxed)) DropPages(fd_.get(), offset, got);
    return Slice(scratch, got);
  }

  // A hint: a failure changes nothing and is ignored.
  void Readahead(uint64_t offset, size_t n) const override {
    (void)::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                          POSIX_FADV_WILLNEED);
  }
  void AdviseRandom(bool random) const override {
    (void)::posix_fadvise(fd_.get(), 0, 0, random ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL);
  }

  void BypassPageCache() override {
    drop_.store(true, std::memory_order_relaxed);
    const int flags = ::fcntl(fd_.get(), F_GETFL);
    if (flags < 0 || ::fcntl(fd_.get(), F_SETFL, flags | O_DIRECT) != 0) return;
    alignment_.store(DirectAlignment(fd_.get()), std::memory_order_relaxed);
  }
  size_t alignment() const override { return alignment_.load(std::memory_order_relaxed); }

  uint64_t size() const override { return size_; }

 private:
  // Reads the device blocks that contain the range.
  Result<Slice> ReadDirect(uint64_t offset, size_t n, char* scratch, size_t align) const {
    const uint64_t from = offset & ~uint64_t{align - 1};
    const auto span = static_cast<size_t>(((offset + n + align - 1) & ~uint64_t{align - 1}) - from);
    const size_t skip = static_cast<size_t>(offset - from);
    if (span == n && skip == 0 && reinterpret_cast<uintptr_t>(scratch) % align == 0) {
      TIDESDB_ASSIGN(const size_t got, ReadAll(from, span, scratch, align));
      return Slice(scratch, got);
    }
    Bounce bounce(span);
    TIDESDB_ASSIGN(const size_t got, ReadAll(from, span, bounce.data(), align));
    const size_t have = std::min(n, got - std::min(got, skip));
    std::memcpy(scratch, bounce.data() + skip, have);
    return Slice(scratch, have);
  }

  // Returns the number of bytes read.
  Result<size_t> ReadAll(uint64_t offset, size_t n, char* to, size_t align) const {
    size_t done = 0;
    bool direct = align > 1;
    while (done < n) {
      const ssize_t got =
          ::pread(fd_.get(), to + done, n - done, static_cast<off_t>(offset + done));
      if (got < 0) {
        if (errno == EINTR) continue;
        if (errno == EINVAL && direct) {
          direct = false;
          if (LeaveDirect()) continue;
        }
        return PosixError("read", path_, errno, offset + done);
      }
      if (got == 0) break;
      done += static_cast<size_t>(got);
      if (done % align != 0) break;  // The end of the file.
    }
    Count(&counters_->reads, 1);
    Count(&counters_->read_bytes, done);
    return done;
  }

  // The file system accepted the flag but not the read; another thread may have noticed it already.
  bool LeaveDirect() const {
    alignment_.store(1, std::memory_order_relaxed);
    const int flags = ::fcntl(fd_.get(), F_GETFL);
    return flags >= 0 && ::fcntl(fd_.get(), F_SETFL, flags & ~O_DIRECT) == 0;
  }

  const PosixFd fd_;
  const std::string path_;
  const uint64_t size_;
  IoCounters::PerKind* const counters_;
  // Relaxed: they only select how to read the same bytes.
  mutable std::atomic<size_t> alignment_ = 1;
  std::atomic<bool> drop_ = false;
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
  // Never repeated: Linux frees the descriptor even if close reports an error.
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
