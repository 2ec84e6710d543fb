// The files of spilled runs, open while they are read: however large transactions are, and however
// many families they write, only the files read last have a descriptor.
//
// Threads: any number at once; the mutex is taken next to a system call only, never around it.
// Owns: the descriptors, not what is on disk.
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

  // A finished file of so many bytes, opened when it is read, and again when it was closed
  // meanwhile. REQUIRES: it stays on disk for as long as the object that is returned.
  std::unique_ptr<RandomAccessFile> NewFile(std::string path, uint64_t bytes);

  // Readers may hold a few more, which are closed already for everybody else.
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
  // False: none is open.
  bool CloseOldest() EXCLUDES(mu_);
  // REQUIRES: one is open.
  Handle TakeOldest() REQUIRES(mu_);

  FileSystem* const fs_;
  const size_t open_max_;
  mutable Mutex mu_;
  std::list<OpenFile> open_ GUARDED_BY(mu_);  // The one that was read longest ago first.
  std::unordered_map<const File*, std::list<OpenFile>::iterator> places_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
