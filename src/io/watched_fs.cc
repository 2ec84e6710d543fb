#include "io/watched_fs.h"

#include <utility>

namespace tidesdb {
namespace {

WatchedFile KindOf(const std::string& path) {
  switch (ParseFileName(BaseName(path)).kind) {
    case FileKind::kWal:
      return WatchedFile::kLog;
    case FileKind::kTable:
      return WatchedFile::kTable;
    case FileKind::kSpill:
      return WatchedFile::kSpill;
    case FileKind::kManifest:
    case FileKind::kCurrent:
      return WatchedFile::kManifest;
    default:
      return WatchedFile::kOther;
  }
}

// A file that is open, or is being opened or deleted.
struct Watched {
  Watched(Instruments* who, std::string where)
      : instruments(who), path(std::move(where)), kind(KindOf(path)) {}

  Instruments* instruments;
  std::string path;
  WatchedFile kind;
  void* file = nullptr;  // The host's.
};

// Reports one call, from construction to End().
class Told {
 public:
  Told(const Watched& watched, FileAction action, size_t bytes_max = 0)
      : instruments_(watched.instruments) {
    call_.action = action;
    call_.kind = watched.kind;
    call_.path = watched.path.c_str();
    call_.bytes_max = bytes_max;
    call_.file = watched.file;
    instruments_->CallBegins(&call_);
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  // bytes: of a successful call.
  void End(bool ok, size_t bytes = 0) {
    call_.ok = ok;
    call_.bytes = ok ? bytes : 0;
    instruments_->CallEnds(&call_);
  }
  Status End(Status status) {
    End(status.ok(), call_.bytes_max);
    return status;
  }
  // After the end of an open.
  void* file() const { return call_.file; }

 private:
  Instruments* const instruments_;
  FileCall call_;
};

// An open file that reports its close.
template <typename File>
class WatchedHandle : public File {
 public:
  WatchedHandle(std::unique_ptr<File> file, Watched watched)
      : file_(std::move(file)), watched_(std::move(watched)) {}
  ~WatchedHandle() override {
    if (closed_) return;
    Told told(watched_, FileAction::kClose);
    file_ = nullptr;
    told.End(true);
  }

  uint64_t size() const override { return file_->size(); }

 protected:
  std::unique_ptr<File> file_;
  const Watched watched_;
  bool closed_ = false;
};

// The common part of both kinds of written files.
template <typename File>
class WatchedOutput : public WatchedHandle<File> {
 public:
  using WatchedHandle<File>::WatchedHandle;

  Status Sync() override {
    Told told(this->watched_, FileAction::kSync);
    return told.End(this->file_->Sync());
  }
  Status Preallocate(uint64_t bytes) override {
    Told told(this->watched_, FileAction::kResize);
    return told.End(this->file_->Preallocate(bytes));
  }
  Status Truncate(uint64_t size) override {
    Told told(this->watched_, FileAction::kResize);
    return told.End(this->file_->Truncate(size));
  }
  Status Close() override {
    Told told(this->watched_, FileAction::kClose);
    this->closed_ = true;
    return told.End(this->file_->Close());
  }
};

class WatchedWritable final : public WatchedOutput<WritableFile> {
 public:
  using WatchedOutput::WatchedOutput;

  Status Append(Slice data) override {
    Told told(watched_, FileAction::kWrite, data.size());
    return told.End(file_->Append(data));
  }
  void BypassPageCache() override { file_->BypassPageCache(); }
};

class WatchedPositional final : public WatchedOutput<PositionalFile> {
 public:
  using WatchedOutput::WatchedOutput;

  Status WriteAt(uint64_t offset, Slice data) override {
    Told told(watched_, FileAction::kWrite, data.size());
    return told.End(file_->WriteAt(offset, data));
  }
  void WriteReserved(uint64_t offset, uint64_t bytes) override {
    Told told(watched_, FileAction::kResize);
    file_->WriteReserved(offset, bytes);
    told.End(true);
  }
};

class WatchedReader final : public WatchedHandle<RandomAccessFile> {
 public:
  using WatchedHandle::WatchedHandle;

  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    Told told(watched_, FileAction::kRead, n);
    Result<Slice> read = file_->ReadAt(offset, n, scratch);
    told.End(read.ok(), read.ok() ? read->size() : 0);
    return read;
  }
  void Readahead(uint64_t offset, size_t n) const override { file_->Readahead(offset, n); }
  void AdviseRandom(bool random) const override { file_->AdviseRandom(random); }
  void BypassPageCache() override { file_->BypassPageCache(); }
  size_t alignment() const override { return file_->alignment(); }
};

class WatchedFs final : public FileSystem {
 public:
  WatchedFs(FileSystem* fs, Instruments* instruments) : fs_(fs), instruments_(instruments) {}

  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        OpenMode mode) override {
    return Open<WritableFile, WatchedWritable>(path,
                                               [&] { return fs_->NewWritableFile(path, mode); });
  }
  Result<std::unique_ptr<PositionalFile>> NewPositionalFile(const std::string& path,
                                                            OpenMode mode) override {
    return Open<PositionalFile, WatchedPositional>(
        path, [&] { return fs_->NewPositionalFile(path, mode); });
  }
  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override {
    return Open<RandomAccessFile, WatchedReader>(path,
                                                 [&] { return fs_->NewRandomAccessFile(path); });
  }
  Status Delete(const std::string& path) override {
    const Watched watched(instruments_, path);
    Told told(watched, FileAction::kDelete);
    return told.End(fs_->Delete(path));
  }

  Status Rename(const std::string& from, const std::string& to) override {
    return fs_->Rename(from, to);
  }
  Status Link(const std::string& from, const std::string& to) override {
    return fs_->Link(from, to);
  }
  Status CreateDir(const std::string& path) override { return fs_->CreateDir(path); }
  Status RemoveDir(const std::string& path) override { return fs_->RemoveDir(path); }
  Result<std::vector<std::string>> List(const std::string& dir) override { return fs_->List(dir); }
  Result<bool> Exists(const std::string& path) override { return fs_->Exists(path); }
  Result<bool> IsDir(const std::string& path) override { return fs_->IsDir(path); }
  Result<uint64_t> FileSize(const std::string& path) override { return fs_->FileSize(path); }
  Status SyncDir(const std::string& dir) override { return fs_->SyncDir(dir); }
  Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) override {
    return fs_->LockFile(path);
  }
  Result<uint64_t> FreeSpaceBytes(const std::string& path) override {
    return fs_->FreeSpaceBytes(path);
  }

 private:
  template <typename File, typename Handle, typename OpenFile>
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenFile open) {
    Watched watched(instruments_, path);
    Told told(watched, FileAction::kOpen);
    Result<std::unique_ptr<File>> file = open();
    told.End(file.ok());
    if (!file.ok()) return file;
    watched.file = told.file();
    return std::unique_ptr<File>(
        std::make_unique<Handle>(std::move(file).value(), std::move(watched)));
  }

  FileSystem* const fs_;
  Instruments* const instruments_;
};

}  // namespace

std::unique_ptr<FileSystem> NewWatchedFs(FileSystem* fs, Instruments* instruments) {
  return std::make_unique<WatchedFs>(fs, instruments);
}

}  // namespace tidesdb
