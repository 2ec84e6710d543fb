#include "base/logger.h"

#include <cstdarg>
#include <cstdio>

namespace tidesdb {

const char* LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarn:
      return "WARN";
    case LogLevel::kError:
      return "ERROR";
    case LogLevel::kFatal:
      return "FATAL";
    case LogLevel::kNone:
      return "NONE";
  }
  return "UNKNOWN";
}

void LogF(Logger* logger, LogLevel level, const char* format, ...) {
  if (logger == nullptr || !logger->Wants(level)) return;
  std::va_list args;
  va_start(args, format);
  std::va_list again;
  va_copy(again, args);
  const int length = std::vsnprintf(nullptr, 0, format, args);
  va_end(args);
  std::string message(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  // The terminating zero goes where the string keeps its own.
  std::vsnprintf(message.data(), message.size() + 1, format, again);
  va_end(again);
  logger->Log(level, message);
}

std::vector<std::string> CapturingLogSink::Messages() const {
  MutexLock lock(mu_);
  return messages_;
}

bool CapturingLogSink::Contains(Slice text) const {
  MutexLock lock(mu_);
  for (const std::string& message : messages_) {
    if (message.find(text) != std::string::npos) return true;
  }
  return false;
}

void CapturingLogSink::Log(LogLevel level, Slice message) noexcept {
  MutexLock lock(mu_);
  messages_.push_back(std::string(LogLevelName(level)) + " " + std::string(message));
}

}  // namespace tidesdb
