#include "io/mem_fs.h"

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "io/mem_world.h"
#include "io/posix_error.h"

namespace tidesdb {
namespace {

// Finds or creates the file according to mode.
Result<std::shared_ptr<MemInode>> OpenForWriting(MemWorld* world, const std::string& path,
                                                 OpenMode mode) REQUIRES(world->mu) {
  TIDESDB_TRY(world->Enter(IoOp::kOpen, "open", path));
  const MemWorld::Place place = world->Locate(path);
  if (place.dir == nullptr) return PosixError("open", path, ENOENT);
  MemNode node = world->Find(path);
  if (node.dir != nullptr) return PosixError("open", path, EISDIR);
  if (node.file != nullptr) {
    if (mode == OpenMode::kCreate) return PosixError("open", path, EEXIST);
    if (mode == OpenMode::kTruncate) node.file->Resize(0);
    return node.file;
  }
  if (mode == OpenMode::kKeep) return PosixError("open", path, ENOENT);
  node.file = std::make_shared<MemInode>();
  place.dir->Set(place.name, node);
  return node.file;
}

class MemLock final : public FileLock {
 public:
  MemLock(MemWorld* world, std::string path) : world_(world), path_(std::move(path)) {}
  ~MemLock() override {
    MutexLock lock(world_->mu);
    world_->locked.erase(path_);
  }

 private:
  MemWorld* const world_;
  const std::string path_;
};

}  // namespace

MemFs::MemFs(uint64_t seed)
    : world_(std::make_unique<MemWorld>(seed, std::make_shared<MemDir>())) {}
MemFs::~MemFs() = default;

void MemFs::AddFault(const FaultRule& rule) {
  MutexLock lock(world_->mu);
  world_->faults.Add(rule);
}

void MemFs::ClearFaults() {
  MutexLock lock(world_->mu);
  world_->faults.Clear();
}

void MemFs::SetCapacity(uint64_t bytes) {
  MutexLock lock(world_->mu);
  world_->capacity_bytes = bytes;
}

void MemFs::PowerCut() {
  MutexLock lock(world_->mu);
  world_->power_is_cut = true;
}

bool MemFs::power_is_cut() const {
  MutexLock lock(world_->mu);
  return world_->power_is_cut;
}

uint64_t MemFs::op_count() const {
  MutexLock lock(world_->mu);
  return world_->op_count;
}

std::unique_ptr<MemFs> MemFs::CrashClone(uint64_t seed) const {
  Random random(seed);
  auto clone = std::make_unique<MemFs>(seed);
  MutexLock lock(world_->mu);
  clone->world_ = std::make_unique<MemWorld>(seed, world_->root->AfterPowerCut(&random));
  return clone;
}

std::unique_ptr<MemFs> MemFs::CleanClone() const {
  auto clone = std::make_unique<MemFs>();
  MutexLock lock(world_->mu);
  clone->world_ = std::make_unique<MemWorld>(1, world_->root->Copy());
  return clone;
}

void MemFs::FlipByte(const std::string& path, uint64_t offset, uint8_t mask) {
  MutexLock lock(world_->mu);
  const MemNode node = world_->Find(path);
  CHECK_MSG(node.file != nullptr, path);
  node.file->Flip(offset, mask);
}

Result<std::unique_ptr<WritableFile>> MemFs::NewWritableFile(const std::string& path,
                                                             OpenMode mode) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_ASSIGN(std::shared_ptr<MemInode> inode, OpenForWriting(world_.get(), path, mode));
  return NewMemWritableFile(world_.get(), std::move(inode), path, &counters_);
}

Result<std::unique_ptr<PositionalFile>> MemFs::NewPositionalFile(const std::string& path,
                                                                 OpenMode mode) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_ASSIGN(std::shared_ptr<MemInode> inode, OpenForWriting(world_.get(), path, mode));
  return NewMemPositionalFile(world_.get(), std::move(inode), path, &counters_);
}

Result<std::unique_ptr<RandomAccessFile>> MemFs::NewRandomAccessFile(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kOpen, "open", path));
  const MemNode node = world_->Find(path);
  if (node.file == nullptr) return PosixError("open", path, node.exists() ? EISDIR : ENOENT);
  return NewMemRandomAccessFile(world_.get(), node.file, path, &counters_);
}

Status MemFs::Rename(const std::string& from, const std::string& to) {
  SimulateIoCall();
  const std::string both = from + " to " + to;
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kRename, "rename", both));
  const MemNode node = world_->Find(from);
  const MemWorld::Place target = world_->Locate(to);
  if (!node.exists() || target.dir == nullptr) return PosixError("rename", both, ENOENT);
  const MemNode replaced = world_->Find(to);
  if (replaced.id() == node.id()) return Status::Ok();  // Both are names of one file.
  if (replaced.dir != nullptr) {
    if (node.dir == nullptr) return PosixError("rename", both, EISDIR);
    if (!replaced.dir->entries().empty()) return PosixError("rename", both, ENOTEMPTY);
  }
  if (replaced.file != nullptr && node.dir != nullptr) return PosixError("rename", both, ENOTDIR);
  const MemWorld::Place source = world_->Locate(from);
  target.dir->MoveHere(source.dir.get(), source.name, target.name);
  return Status::Ok();
}

Status MemFs::Link(const std::string& from, const std::string& to) {
  SimulateIoCall();
  const std::string both = from + " to " + to;
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kLink, "link", both));
  const MemNode node = world_->Find(from);
  const MemWorld::Place target = world_->Locate(to);
  if (!node.exists() || target.dir == nullptr) return PosixError("link", both, ENOENT);
  if (node.dir != nullptr) return PosixError("link", both, EPERM);
  if (world_->Find(to).exists()) return PosixError("link", both, EEXIST);
  target.dir->Set(target.name, node);
  return Status::Ok();
}

Status MemFs::Delete(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kDelete, "delete", path));
  const MemNode node = world_->Find(path);
  if (node.file == nullptr) return PosixError("delete", path, node.exists() ? EISDIR : ENOENT);
  const MemWorld::Place place = world_->Locate(path);
  place.dir->Erase(place.name);
  return Status::Ok();
}

Status MemFs::CreateDir(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kCreateDir, "create directory", path));
  const MemWorld::Place place = world_->Locate(path);
  if (place.dir == nullptr) return PosixError("create directory", path, ENOENT);
  if (world_->Find(path).exists()) return PosixError("create directory", path, EEXIST);
  place.dir->Set(place.name, {nullptr, std::make_shared<MemDir>()});
  return Status::Ok();
}

Status MemFs::RemoveDir(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kRemoveDir, "remove directory", path));
  const MemNode node = world_->Find(path);
  if (node.dir == nullptr) {
    return PosixError("remove directory", path, node.exists() ? ENOTDIR : ENOENT);
  }
  if (!node.dir->entries().empty()) return PosixError("remove directory", path, ENOTEMPTY);
  const MemWorld::Place place = world_->Locate(path);
  if (place.name.empty()) return PosixError("remove directory", path, EBUSY);
  place.dir->Erase(place.name);
  return Status::Ok();
}

Result<std::vector<std::string>> MemFs::List(const std::string& dir) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kList, "list", dir));
  const MemNode node = world_->Find(dir);
  if (node.dir == nullptr) return PosixError("list", dir, node.exists() ? ENOTDIR : ENOENT);
  std::vector<std::string> names;
  for (const auto& [name, entry] : node.dir->entries()) names.push_back(name);
  return names;
}

Result<bool> MemFs::Exists(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kStat, "look for", path));
  return world_->Find(path).exists();
}

Result<bool> MemFs::IsDir(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kStat, "stat", path));
  const MemNode node = world_->Find(path);
  if (!node.exists()) return PosixError("stat", path, ENOENT);
  return node.dir != nullptr;
}

Result<uint64_t> MemFs::FileSize(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kStat, "stat", path));
  const MemNode node = world_->Find(path);
  if (!node.exists()) return PosixError("stat", path, ENOENT);
  return node.file != nullptr ? node.file->size() : 0;
}

Status MemFs::SyncDir(const std::string& dir) {
  SimulateIoCall();
  std::shared_ptr<MemDir> target;
  uint64_t begun;
  {
    MutexLock lock(world_->mu);
    const Status status = world_->Enter(IoOp::kSyncDir, "fsync directory", dir);
    counters_.dir_syncs.fetch_add(1, std::memory_order_relaxed);
    if (!status.ok()) return status;
    const MemNode node = world_->Find(dir);
    if (node.dir == nullptr) {
      return PosixError("fsync directory", dir, node.exists() ? ENOTDIR : ENOENT);
    }
    target = node.dir;
    begun = target->BeginSync();
  }
  SimulateSyncTime();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->PowerStatus("fsync directory", dir));
  target->EndSync(begun);
  return Status::Ok();
}

Result<std::unique_ptr<FileLock>> MemFs::LockFile(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kLock, "lock", path));
  const MemWorld::Place place = world_->Locate(path);
  const MemNode node = world_->Find(path);
  if (place.dir == nullptr) return PosixError("lock", path, ENOENT);
  if (node.dir != nullptr) return PosixError("lock", path, EISDIR);
  if (!node.exists()) place.dir->Set(place.name, {std::make_shared<MemInode>(), nullptr});
  if (!world_->locked.insert(path).second) {
    return Status::Busy("lock " + path + ": held by another process or database handle");
  }
  return std::unique_ptr<FileLock>(std::make_unique<MemLock>(world_.get(), path));
}

Result<uint64_t> MemFs::FreeSpaceBytes(const std::string& path) {
  SimulateIoCall();
  MutexLock lock(world_->mu);
  TIDESDB_TRY(world_->Enter(IoOp::kStat, "statvfs", path));
  return world_->FreeBytes();
}

}  // namespace tidesdb
