#include "io/file_util.h"

#include <algorithm>

namespace tidesdb {
namespace {

constexpr size_t kCopyBytes = 1 << 20;

}  // namespace

Result<std::string> ReadWholeFile(FileSystem& fs, const std::string& path) {
  TIDESDB_ASSIGN(const std::unique_ptr<RandomAccessFile> file, fs.NewRandomAccessFile(path));
  std::string contents(file->size(), '\0');
  TIDESDB_ASSIGN(const Slice read, file->ReadAt(0, contents.size(), contents.data()));
  if (read.data() != contents.data()) return std::string(read);
  contents.resize(read.size());
  return contents;
}

Status WriteFileAtomically(FileSystem& fs, const std::string& path, Slice data) {
  const std::string temp = path + ".tmp";
  {
    TIDESDB_ASSIGN(const std::unique_ptr<WritableFile> file,
                   fs.NewWritableFile(temp, OpenMode::kTruncate));
    TIDESDB_TRY(file->Append(data));
    TIDESDB_TRY(file->Sync());
    TIDESDB_TRY(file->Close());
  }
  TIDESDB_TRY(fs.Rename(temp, path));
  return fs.SyncDir(DirName(path));
}

Status RemoveTree(FileSystem& fs, const std::string& dir) {
  TIDESDB_ASSIGN(const bool exists, fs.Exists(dir));
  if (!exists) return Status::Ok();
  TIDESDB_ASSIGN(const std::vector<std::string> names, fs.List(dir));
  for (const std::string& name : names) {
    const std::string path = JoinPath(dir, name);
    TIDESDB_ASSIGN(const bool is_dir, fs.IsDir(path));
    TIDESDB_TRY(is_dir ? RemoveTree(fs, path) : fs.Delete(path));
  }
  return fs.RemoveDir(dir);
}

Status CopyFile(FileSystem& fs, const std::string& from, const std::string& to) {
  TIDESDB_ASSIGN(const std::unique_ptr<RandomAccessFile> source, fs.NewRandomAccessFile(from));
  TIDESDB_ASSIGN(const std::unique_ptr<WritableFile> target,
                 fs.NewWritableFile(to, OpenMode::kCreate));
  std::string buffer(std::min<uint64_t>(kCopyBytes, source->size()), '\0');
  for (uint64_t offset = 0; offset < source->size();) {
    TIDESDB_ASSIGN(const Slice part, source->ReadAt(offset, buffer.size(), buffer.data()));
    if (part.empty()) break;  // The file was truncated meanwhile.
    TIDESDB_TRY(target->Append(part));
    offset += part.size();
  }
  TIDESDB_TRY(target->Sync());
  return target->Close();
}

}  // namespace tidesdb
