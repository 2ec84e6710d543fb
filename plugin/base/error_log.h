// Sends the engine's messages to the server's error log.
//
// Threads: any.
#pragma once

#include "base/server_port.h"

#include "tidesdb/options.h"

namespace tidesdb::plugin {

class ErrorLog final : public LogSink {
 public:
  void Log(LogLevel level, Slice message) noexcept override {
    const int length = static_cast<int>(message.size());
    switch (level) {
      case LogLevel::kDebug:
      case LogLevel::kInfo:
        sql_print_information("TidesDB: %.*s", length, message.data());
        break;
      case LogLevel::kWarn:
        sql_print_warning("TidesDB: %.*s", length, message.data());
        break;
      default:
        sql_print_error("TidesDB: %.*s", length, message.data());
        break;
    }
  }
};

}  // namespace tidesdb::plugin
