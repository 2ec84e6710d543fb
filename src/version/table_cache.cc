#include "version/table_cache.h"

#include "base/check.h"

namespace tidesdb {
namespace {

constexpr uint32_t kFindsOfLasting = 1000;

// Spins while another thread copies a pointer. No operation that can wait is done under it.
class SlotLock {
 public:
  explicit SlotLock(std::atomic<bool>* busy) : busy_(busy) {
    while (busy_->exchange(true, std::memory_order_acquire)) {
      while (busy_->load(std::memory_order_relaxed)) SpinPause();
    }
  }
  ~SlotLock() { busy_->store(false, std::memory_order_release); }
  SlotLock(const SlotLock&) = delete;
  SlotLock& operator=(const SlotLock&) = delete;

 private:
  std::atomic<bool>* const busy_;
};

}  // namespace

TableCache::TableCache(FileSystem* fs, std::string directory, BlockCache* block_cache,
                       size_t open_files_max, bool bypass_page_cache)
    : fs_(fs),
      directory_(std::move(directory)),
      block_cache_(block_cache),
      open_files_max_(open_files_max < 1 ? 1 : open_files_max),
      bypass_page_cache_(bypass_page_cache) {}

TableCache::~TableCache() {
  MutexLock lock(mutex_);
  CHECK(places_.empty());
}

Result<TableRef> TableCache::Open(const FileMeta& file) {
  return OpenReader(file, bypass_page_cache_);
}

Result<TableRef> TableCache::OpenTemporary(const FileMeta& file) { return OpenReader(file, false); }

Result<TableRef> TableCache::OpenReader(const FileMeta& file, bool bypass_page_cache) {
  std::string path = TableFileName(directory_, file.number());
  TIDESDB_ASSIGN(std::unique_ptr<RandomAccessFile> handle, fs_->NewRandomAccessFile(path));
  if (bypass_page_cache) handle->BypassPageCache();
  return TableReader::Open(std::move(handle), std::move(path), file.number(),
                           file.record().global_sequence, block_cache_);
}

Result<TableRef> TableCache::Find(const FileMeta& file) {
  if (TableReader* lasting = file.lasting_reader_.load(std::memory_order_acquire)) {
    return TableRef(TableRef(), lasting);  // Owns nothing: no reference count is touched.
  }
  TableRef reader;
  bool often = false;
  {
    SlotLock slot(&file.slot_busy_);
    if (file.reader_ != nullptr) {
      // Only the first use after the clock's hand has passed writes the shared line.
      if (!file.recently_used_.load(std::memory_order_relaxed)) {
        file.recently_used_.store(true, std::memory_order_relaxed);
      }
      reader = file.reader_;
      often = ++file.finds_ % kFindsOfLasting == 0;
    }
  }
  if (reader == nullptr) return OpenAndKeep(file);
  if (often) LetLast(file);
  return reader;
}

Result<TableRef> TableCache::FindUncached(const FileMeta& file) {
  {
    SlotLock slot(&file.slot_busy_);
    if (file.reader_ != nullptr) return file.reader_;
  }
  return Open(file);
}

Result<TableRef> TableCache::OpenAndKeep(const FileMeta& file) {
  TIDESDB_ASSIGN(TableRef reader, Open(file));
  std::vector<TableRef> closed;  // Destroyed, and so closed, after the lock is released.
  MutexLock lock(mutex_);
  {
    SlotLock slot(&file.slot_busy_);
    if (file.reader_ != nullptr) {  // Another thread was first.
      closed.push_back(std::move(reader));
      return file.reader_;
    }
  }
  MakeRoom(&closed);
  const uint64_t memory_bytes = reader->MemoryBytes();
  open_.push_back({&file, memory_bytes, false});
  places_[&file] = std::prev(open_.end());
  memory_bytes_ += memory_bytes;
  file.cache_.store(this, std::memory_order_release);
  SlotLock slot(&file.slot_busy_);
  file.reader_ = reader;
  file.finds_ = 0;
  file.recently_used_.store(true, std::memory_order_relaxed);
  return reader;
}

void TableCache::LetLast(const FileMeta& file) {
  MutexLock lock(mutex_);
  const auto place = places_.find(&file);
  // It may have been closed meanwhile, or another thread was first.
  if (place == places_.end() || place->second->lasting) return;
  if (lasting_.size() >= open_files_max_ / 2) return;
  lasting_.splice(lasting_.end(), open_, place->second);
  place->second->lasting = true;
  SlotLock slot(&file.slot_busy_);
  file.lasting_reader_.store(file.reader_.get(), std::memory_order_release);
}

void TableCache::MakeRoom(std::vector<TableRef>* closed) {
  size_t second_chances = open_.size();
  while (lasting_.size() + open_.size() >= open_files_max_) {
    const OpenFile front = open_.front();
    if (second_chances > 0 &&
        front.file->recently_used_.exchange(false, std::memory_order_relaxed)) {
      --second_chances;
      open_.splice(open_.end(), open_, open_.begin());
      continue;
    }
    {
      SlotLock slot(&front.file->slot_busy_);
      closed->push_back(std::move(front.file->reader_));
      front.file->reader_ = nullptr;
    }
    memory_bytes_ -= front.memory_bytes;
    places_.erase(front.file);
    open_.pop_front();
  }
}

void TableCache::Forget(const FileMeta& file) {
  MutexLock lock(mutex_);
  const auto place = places_.find(&file);
  if (place == places_.end()) return;
  memory_bytes_ -= place->second->memory_bytes;
  (place->second->lasting ? lasting_ : open_).erase(place->second);
  places_.erase(place);
}

uint64_t TableCache::OpenFiles() const {
  MutexLock lock(mutex_);
  return lasting_.size() + open_.size();
}

uint64_t TableCache::MemoryBytes() const {
  MutexLock lock(mutex_);
  return memory_bytes_;
}

}  // namespace tidesdb
