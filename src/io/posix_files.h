// Open files of the operating system. Private to src/io.
#pragma once

#include <memory>
#include <string>

#include "io/file_system.h"

namespace tidesdb {

// A file descriptor that its owner closes.
class PosixFd {
 public:
  explicit PosixFd(int fd = -1) : fd_(fd) {}
  ~PosixFd() { Close(); }
  PosixFd(PosixFd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  PosixFd& operator=(PosixFd&& other) noexcept;
  PosixFd(const PosixFd&) = delete;
  PosixFd& operator=(const PosixFd&) = delete;

  int get() const { return fd_; }
  // Returns 0 or an errno value.
  int Close();

 private:
  int fd_;
};

// size: of the existing file; appending starts there. counters: of the file system.
std::unique_ptr<WritableFile> NewPosixWritableFile(PosixFd fd, std::string path, uint64_t size,
                                                   IoCounters* counters);
std::unique_ptr<PositionalFile> NewPosixPositionalFile(PosixFd fd, std::string path, uint64_t size,
                                                       IoCounters* counters);
std::unique_ptr<RandomAccessFile> NewPosixRandomAccessFile(PosixFd fd, std::string path,
                                                           uint64_t size, IoCounters* counters);

}  // namespace tidesdb
