// Formats messages for people and passes them to the LogSink of the options; with test sinks.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tidesdb/options.h"
#include "tidesdb/slice.h"

namespace tidesdb {

// Returns "DEBUG" and so on. Static storage.
const char* LogLevelName(LogLevel level);

// A sink and its lowest level. Every component holds a pointer to one.
// Threads: safe from many. Does not own the sink; a null sink drops everything silently.
class Logger {
 public:
  Logger(LogSink* sink, LogLevel level_min) : sink_(sink), level_min_(level_min) {}
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  bool Wants(LogLevel level) const {
    return sink_ != nullptr && level >= level_min_.load(std::memory_order_relaxed) &&
           level != LogLevel::kNone;
  }
  // No newline at the end of the message.
  void Log(LogLevel level, Slice message) {
    if (Wants(level)) sink_->Log(level, message);
  }
  // kNone silences everything.
  void SetLevelMin(LogLevel level) { level_min_.store(level, std::memory_order_relaxed); }

 private:
  LogSink* const sink_;
  std::atomic<LogLevel> level_min_;  // Relaxed: one message more or less at a change is harmless.
};

// Formats like printf if the logger wants the level. logger may be null.
void LogF(Logger* logger, LogLevel level, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

class NullLogSink final : public LogSink {
 public:
  void Log(LogLevel, Slice) noexcept override {}
};

// Keeps every message, as "WARN text"; for tests.
class CapturingLogSink final : public LogSink {
 public:
  void Log(LogLevel level, Slice message) noexcept override;
  std::vector<std::string> Messages() const;
  bool Contains(Slice text) const;

 private:
  mutable Mutex mu_;
  std::vector<std::string> messages_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
