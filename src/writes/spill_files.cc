#include "writes/spill_files.h"

#include <cstring>

#include "base/check.h"

namespace tidesdb {

class SpillFiles::File final : public RandomAccessFile {
 public:
  File(SpillFiles* files, std::string path, uint64_t bytes)
      : path_(std::move(path)), files_(files), bytes_(bytes) {}
  ~File() override { files_->Forget(*this); }

  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    TIDESDB_ASSIGN(const Handle handle, files_->Open(*this));
    TIDESDB_ASSIGN(const Slice bytes, handle->ReadAt(offset, n, scratch));
    // The handle's own memory may go with it.
    if (bytes.data() != scratch) std::memcpy(scratch, bytes.data(), bytes.size());
    return Slice(scratch, bytes.size());
  }
  uint64_t size() const override { return bytes_; }

 private:
  friend class SpillFiles;

  const std::string path_;
  SpillFiles* const files_;
  const uint64_t bytes_;
};

SpillFiles::~SpillFiles() {
  MutexLock lock(mu_);
  CHECK(open_.empty());
}

std::unique_ptr<RandomAccessFile> SpillFiles::NewFile(std::string path, uint64_t bytes) {
  return std::make_unique<File>(this, std::move(path), bytes);
}

size_t SpillFiles::OpenFiles() const {
  MutexLock lock(mu_);
  return open_.size();
}

Result<SpillFiles::Handle> SpillFiles::Open(const File& file) {
  {
    MutexLock lock(mu_);
    if (const auto place = places_.find(&file); place != places_.end()) {
      open_.splice(open_.end(), open_, place->second);
      return place->second->handle;
    }
  }
  auto opened = fs_->NewRandomAccessFile(file.path_);
  // Descriptors kept for later reads must not make this one fail.
  while (!opened.ok() && CloseOldest()) opened = fs_->NewRandomAccessFile(file.path_);
  TIDESDB_ASSIGN(const Handle handle, std::move(opened));
  handle->AdviseRandom(true);
  Handle closed;  // Closed once the mutex is free, as is `handle` if another reader was first.
  MutexLock lock(mu_);
  if (const auto place = places_.find(&file); place != places_.end()) return place->second->handle;
  if (open_.size() >= open_max_) closed = TakeOldest();
  places_[&file] = open_.insert(open_.end(), {&file, handle});
  return handle;
}

bool SpillFiles::CloseOldest() {
  Handle closed;  // Closed once the mutex is free.
  MutexLock lock(mu_);
  if (open_.empty()) return false;
  closed = TakeOldest();
  return true;
}

SpillFiles::Handle SpillFiles::TakeOldest() {
  Handle handle = std::move(open_.front().handle);
  places_.erase(open_.front().file);
  open_.pop_front();
  return handle;
}

void SpillFiles::Forget(const File& file) {
  Handle closed;
  MutexLock lock(mu_);
  const auto place = places_.find(&file);
  if (place == places_.end()) return;
  closed = std::move(place->second->handle);
  open_.erase(place->second);
  places_.erase(place);
}

}  // namespace tidesdb
