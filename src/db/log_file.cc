#include "db/log_file.h"

#include <ctime>
#include <utility>

#include "base/logger.h"

namespace tidesdb {

std::unique_ptr<LogFile> LogFile::Open(FileSystem* fs, Clock* clock, const std::string& directory) {
  const std::string path = LogFileName(directory);
  const auto exists = fs->Exists(path);
  auto file =
      fs->NewWritableFile(path, exists.ok() && *exists ? OpenMode::kKeep : OpenMode::kTruncate);
  return std::unique_ptr<LogFile>(
      new LogFile(clock, file.ok() ? std::move(file).value() : nullptr));
}

void LogFile::Log(LogLevel level, Slice message) noexcept {
  const auto wall_s = static_cast<std::time_t>(clock_->WallSeconds());
  std::tm utc = {};
  gmtime_r(&wall_s, &utc);
  char stamp[32];
  const size_t n = std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ ", &utc);
  std::string line(stamp, n);
  line.append(LogLevelName(level)).append(" ").append(message).append("\n");

  MutexLock lock(mu_);
  if (file_ == nullptr) return;
  if (file_->size() + line.size() > kBytesMax) file_->Truncate(0).IgnoreError();
  file_->Append(line).IgnoreError();
}

}  // namespace tidesdb
