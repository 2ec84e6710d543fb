// Assertions: CHECK is always on and guards data; DCHECK is for debug and hooks builds.
// A failed one prints file, line, expression and message to stderr and aborts the process.
#pragma once

#include <string_view>

#include "tidesdb/status.h"

namespace tidesdb {

[[noreturn]] void CheckFailed(const char* file, int line, const char* expression,
                              std::string_view message) noexcept;

}  // namespace tidesdb

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) [[unlikely]] {                              \
      ::tidesdb::CheckFailed(__FILE__, __LINE__, #condition, ""); \
    }                                                             \
  } while (false)

// message: anything a std::string_view can be made of; evaluated on failure only.
#define CHECK_MSG(condition, message)                                    \
  do {                                                                   \
    if (!(condition)) [[unlikely]] {                                     \
      ::tidesdb::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
    }                                                                    \
  } while (false)

#define CHECK_OK(expression)                                                                      \
  do {                                                                                            \
    /* A copy: the expression may refer into a temporary. */                                      \
    /* NOLINTNEXTLINE(performance-unnecessary-copy-initialization) */                             \
    if (const ::tidesdb::Status check_status_ = (expression); !check_status_.ok()) [[unlikely]] { \
      ::tidesdb::CheckFailed(__FILE__, __LINE__, #expression, check_status_.ToString());          \
    }                                                                                             \
  } while (false)

#if !defined(NDEBUG) || defined(TIDESDB_HOOKS)
#define TIDESDB_DCHECK_ON 1
#define DCHECK(condition) CHECK(condition)
#else
#define DCHECK(condition)      \
  do {                         \
    (void)sizeof((condition)); \
  } while (false)
#endif
