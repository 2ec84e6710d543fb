// The file LOG in the database directory: receives the messages if the options name no sink.
//
// Threads: any.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "io/file_system.h"
#include "tidesdb/options.h"

namespace tidesdb {

// Starts over at kBytesMax. A full disk loses messages, nothing else.
class LogFile final : public LogSink {
 public:
  // `fs` and `clock` outlive this.
  static std::unique_ptr<LogFile> Open(FileSystem* fs, Clock* clock, const std::string& directory);

  void Log(LogLevel level, Slice message) noexcept override;

  static constexpr uint64_t kBytesMax = 24 << 20;

 private:
  LogFile(Clock* clock, std::unique_ptr<WritableFile> file)
      : clock_(clock), file_(std::move(file)) {}

  Clock* const clock_;
  Mutex mu_;
  const std::unique_ptr<WritableFile> file_ PT_GUARDED_BY(mu_);  // Null if it could not be opened.
};

}  // namespace tidesdb
