// Open files of a MemFs.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "io/mem_world.h"
#include "io/posix_error.h"

namespace tidesdb {
namespace {

void Count(std::atomic<uint64_t>* counter, uint64_t n) {
  counter->fetch_add(n, std::memory_order_relaxed);
}

IoCounters::PerKind* CountersOf(IoCounters* counters, const std::string& path) {
  return &counters->of(ParseFileName(BaseName(path)).kind);
}

// The common part of both kinds of written files.
class MemOutput {
 public:
  MemOutput(MemWorld* world, std::shared_ptr<MemInode> inode, std::string path,
            IoCounters* counters)
      : world_(world),
        inode_(std::move(inode)),
        path_(std::move(path)),
        counters_(CountersOf(counters, path_)) {}

  Status Append(Slice data) {
    SimulateIoCall();
    MutexLock lock(world_->mu);
    return WriteLocked(inode_->size(), data);
  }

  Status WriteAt(uint64_t offset, Slice data) {
    SimulateIoCall();
    MutexLock lock(world_->mu);
    return WriteLocked(offset, data);
  }

  Status Sync() {
    SimulateIoCall();
    uint64_t begun;
    {
      MutexLock lock(world_->mu);
      begun = inode_->BeginSync();
      const Status status = world_->Enter(IoOp::kSync, "fdatasync", path_);
      Count(&counters_->syncs, 1);
      if (!status.ok()) {
        if (!world_->power_is_cut) inode_->FailSync(begun, &world_->random);
        return status;
      }
    }
    SimulateSyncTime();
    MutexLock lock(world_->mu);
    TIDESDB_TRY(world_->PowerStatus("fdatasync", path_));
    inode_->EndSync(begun);
    return Status::Ok();
  }

  // keep_size: reserve only.
  Status Preallocate(uint64_t bytes, bool keep_size) {
    SimulateIoCall();
    MutexLock lock(world_->mu);
    TIDESDB_TRY(world_->Enter(IoOp::kPreallocate, "fallocate", path_));
    const uint64_t have = inode_->disk_bytes();
    if (bytes > have && bytes - have > world_->FreeBytes()) {
      return PosixError("fallocate", path_, ENOSPC);
    }
    inode_->Reserve(bytes);
    if (!keep_size && bytes > inode_->size()) inode_->Resize(bytes);
    return Status::Ok();
  }

  Status Truncate(uint64_t size) {
    SimulateIoCall();
    MutexLock lock(world_->mu);
    TIDESDB_TRY(world_->Enter(IoOp::kTruncate, "truncate", path_, nullptr, size));
    inode_->Resize(size);
    return Status::Ok();
  }

  // Closing cannot fail, even without power: it promises nothing about the disk.
  static Status Close() { return Status::Ok(); }

  uint64_t size() const {
    MutexLock lock(world_->mu);
    return inode_->size();
  }

 private:
  Status WriteLocked(uint64_t offset, Slice data) REQUIRES(world_->mu) {
    std::optional<FaultRule::Kind> fault;
    TIDESDB_TRY(world_->Enter(IoOp::kWrite, "write", path_, &fault, offset));
    Status status;
    if (fault == FaultRule::Kind::kShortWrite) {
      data = data.substr(0, world_->random.Uniform(data.size() + 1));
      status = PosixError("write", path_, EIO, offset + data.size());
    }
    const uint64_t end = offset + data.size();
    if (end > inode_->disk_bytes()) {
      const uint64_t growth = end - inode_->disk_bytes();
      const uint64_t free = world_->FreeBytes();
      if (growth > free) {
        data.remove_suffix(std::min<uint64_t>(growth - free, data.size()));
        status = PosixError("write", path_, ENOSPC, offset + data.size());
      }
    }
    inode_->Write(offset, data);
    Count(&counters_->writes, 1);
    Count(&counters_->write_bytes, data.size());
    return status;
  }

  MemWorld* const world_;
  const std::shared_ptr<MemInode> inode_;  // Contents are guarded by world_->mu.
  const std::string path_;
  IoCounters::PerKind* const counters_;
};

class MemWritableFile final : public WritableFile {
 public:
  template <typename... Args>
  explicit MemWritableFile(Args&&... args) : out_(std::forward<Args>(args)...) {}

  Status Append(Slice data) override { return out_.Append(data); }
  Status Sync() override { return out_.Sync(); }
  Status Preallocate(uint64_t bytes) override { return out_.Preallocate(bytes, true); }
  Status Truncate(uint64_t size) override {
    DCHECK(size <= out_.size());
    return out_.Truncate(size);
  }
  Status Close() override { return MemOutput::Close(); }
  uint64_t size() const override { return out_.size(); }

 private:
  MemOutput out_;
};

class MemPositionalFile final : public PositionalFile {
 public:
  template <typename... Args>
  explicit MemPositionalFile(Args&&... args) : out_(std::forward<Args>(args)...) {}

  Status WriteAt(uint64_t offset, Slice data) override { return out_.WriteAt(offset, data); }
  Status Sync() override { return out_.Sync(); }
  Status Preallocate(uint64_t bytes) override { return out_.Preallocate(bytes, false); }
  Status Truncate(uint64_t size) override { return out_.Truncate(size); }
  Status Close() override { return MemOutput::Close(); }
  uint64_t size() const override { return out_.size(); }

 private:
  MemOutput out_;
};

class MemRandomAccessFile final : public RandomAccessFile {
 public:
  MemRandomAccessFile(MemWorld* world, std::shared_ptr<MemInode> inode, std::string path,
                      IoCounters* counters)
      : world_(world),
        inode_(std::move(inode)),
        path_(std::move(path)),
        size_(inode_->size()),
        counters_(CountersOf(counters, path_)) {
    Count(&counters_->readers, 1);
  }
  ~MemRandomAccessFile() override { counters_->readers.fetch_sub(1, std::memory_order_relaxed); }

  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    SimulateIoCall();
    MutexLock lock(world_->mu);
    std::optional<FaultRule::Kind> fault;
    TIDESDB_TRY(world_->Enter(IoOp::kRead, "read", path_, &fault, offset));
    const std::string& contents = inode_->current();
    const size_t start = std::min<uint64_t>(offset, contents.size());
    const size_t length = std::min(n, contents.size() - start);
    if (length > 0) std::memcpy(scratch, contents.data() + start, length);
    if (fault == FaultRule::Kind::kCorruptRead && length > 0) {
      char& byte = scratch[world_->random.Uniform(length)];
      byte = static_cast<char>(byte ^ (1 << world_->random.Uniform(8)));
    }
    Count(&counters_->reads, 1);
    Count(&counters_->read_bytes, length);
    return Slice(scratch, length);
  }

  uint64_t size() const override { return size_; }

 private:
  MemWorld* const world_;
  const std::shared_ptr<MemInode> inode_;  // Contents are guarded by world_->mu.
  const std::string path_;
  const uint64_t size_;
  IoCounters::PerKind* const counters_;
};

}  // namespace

std::unique_ptr<WritableFile> NewMemWritableFile(MemWorld* world, std::shared_ptr<MemInode> inode,
                                                 std::string path, IoCounters* counters) {
  return std::make_unique<MemWritableFile>(world, std::move(inode), std::move(path), counters);
}

std::unique_ptr<PositionalFile> NewMemPositionalFile(MemWorld* world,
                                                     std::shared_ptr<MemInode> inode,
                                                     std::string path, IoCounters* counters) {
  return std::make_unique<MemPositionalFile>(world, std::move(inode), std::move(path), counters);
}

std::unique_ptr<RandomAccessFile> NewMemRandomAccessFile(MemWorld* world,
                                                         std::shared_ptr<MemInode> inode,
                                                         std::string path, IoCounters* counters) {
  return std::make_unique<MemRandomAccessFile>(world, std::move(inode), std::move(path), counters);
}

}  // namespace tidesdb
