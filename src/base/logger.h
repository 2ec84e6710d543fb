// Where messages for people go: an interface, a sink that forgets, a sink that keeps for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tidesdb/slice.h"

namespace tidesdb {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError, kFatal, kNone };

// Returns "DEBUG" and so on. Static storage.
const char* LogLevelName(LogLevel level);

// Threads: Log() is called from any thread, also with locks held: it must not call back.
class Logger {
 public:
  explicit Logger(LogLevel level_min = LogLevel::kInfo) : level_min_(level_min) {}
  virtual ~Logger() = default;
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // Passes the message on when its level is at least level_min. No newline at the end.
  void Log(LogLevel level, Slice message) {
    if (Wants(level)) Write(level, message);
  }
  bool Wants(LogLevel level) const {
    return level >= level_min_.load(std::memory_order_relaxed) && level < LogLevel::kNone;
  }
  // kNone silences everything.
  void SetLevelMin(LogLevel level) { level_min_.store(level, std::memory_order_relaxed); }

 protected:
  virtual void Write(LogLevel level, Slice message) = 0;

 private:
  std::atomic<LogLevel> level_min_;  // Relaxed: a message more or less at a change does no harm.
};

// Formats as printf does, when the logger wants the level. logger may be null.
void LogF(Logger* logger, LogLevel level, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

class NullLogger final : public Logger {
 public:
  NullLogger() : Logger(LogLevel::kNone) {}

 protected:
  void Write(LogLevel, Slice) override {}
};

// Keeps every message, as "WARN text".
class CapturingLogger final : public Logger {
 public:
  explicit CapturingLogger(LogLevel level_min = LogLevel::kDebug) : Logger(level_min) {}
  std::vector<std::string> Messages() const;
  bool Contains(Slice text) const;

 protected:
  void Write(LogLevel level, Slice message) override;

 private:
  mutable Mutex mu_;
  std::vector<std::string> messages_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
