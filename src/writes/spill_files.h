// The files of spilled runs, opened for reads. Only the most recently read files have a descriptor,
// however large the transactions and however many their families.
//
// Threads: any number at once; the mutex is never held during a system call.
// Owns: the descriptors, not the data on disk.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "io/file_system.h"

namespace tidesdb {

class SpillFiles {
 public:
  SpillFiles(FileSystem* fs, size_t open_max) : fs_(fs), open_max_(open_max) {}
  ~SpillFiles();  // REQUIRES: no file is left.
  SpillFiles(const SpillFiles&) = delete;
  SpillFiles& operator=(const SpillFiles&) = delete;

  // A finished file of this size, opened when it is read, and reopened if it was closed meanwhile.
  // REQUIRES: it stays on disk as long as the returned object.
  std::unique_ptr<RandomAccessFile> NewFile(std::string path, uint64_t bytes);

  // Readers may hold a few more, which are already closed for all others.
  size_t OpenFiles() const EXCLUDES(mu_);

 private:
  class File;
  using Handle = std::shared_ptr<const RandomAccessFile>;
  struct OpenFile {
    const File* file;
    Handle handle;
  };

  Result<Handle> Open(const File& file) EXCLUDES(mu_);
  void Forget(const File& file) EXCLUDES(mu_);
  // False if none is open.
  bool CloseOldest() EXCLUDES(mu_);
  // REQUIRES: one is open.
  Handle TakeOldest() REQUIRES(mu_);

  FileSystem* const fs_;
  const size_t open_max_;
  mutable Mutex mu_;
  std::list<OpenFile> open_ GUARDED_BY(mu_);  // The least recently read one first.
  std::unordered_map<const File*, std::list<OpenFile>::iterator> places_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
