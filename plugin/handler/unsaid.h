// Hides errors and warnings from the client while it lives, and remembers them.
//
// Threads: that of the connection.
#pragma once

#include "base/server_port.h"

#include <string>

namespace tidesdb::plugin {

class Unsaid final : public Internal_error_handler {
 public:
  explicit Unsaid(THD* thd) : thd_(thd) { thd_->push_internal_handler(this); }
  ~Unsaid() override { thd_->pop_internal_handler(); }
  Unsaid(const Unsaid&) = delete;
  Unsaid& operator=(const Unsaid&) = delete;

  bool handle_condition(THD*, uint, const char*, Sql_condition::enum_warning_level* level,
                        const char* text, Sql_condition** condition) override {
    *condition = nullptr;
    any_ = true;
    if (*level == Sql_condition::WARN_LEVEL_ERROR && first_error_.empty()) first_error_ = text;
    return true;
  }
  // Whether there were errors or warnings.
  bool Any() const { return any_; }
  const std::string& first_error() const { return first_error_; }

 private:
  THD* thd_;
  bool any_ = false;
  std::string first_error_;
};

}  // namespace tidesdb::plugin
