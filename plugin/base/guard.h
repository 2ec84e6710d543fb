// The barrier between the server and the plugin: no exception crosses it, and a Status becomes a
// server error.
//
// Every handler override, handlerton callback and variable update is noexcept and one line:
//   return guard::Run([&] { ... return 0; });
// Threads: none of its own; safe from any.
#pragma once

#include "base/server_port.h"

#include <exception>
#include <new>
#include <utility>

#include "tidesdb/status.h"

namespace tidesdb::plugin::guard {

// The server's error number for an engine's error kind. 0 for OK.
int ToHandlerError(Code code) noexcept;

// As above. A kind that the server's own text cannot explain (corruption, I/O, ...) is also written
// to the error log with its message, so that the file name is not lost.
int ToHandlerError(const Status& status) noexcept;

// Runs body and returns its result. An exception becomes HA_ERR_OUT_OF_MEM (bad_alloc), or
// HA_ERR_INTERNAL_ERROR with a line in the error log.
template <typename Body>
int Run(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return HA_ERR_OUT_OF_MEM;
  } catch (const std::exception& error) {
    sql_print_error("TidesDB: unexpected exception: %s", error.what());
  } catch (...) {
    sql_print_error("TidesDB: unexpected exception");
  }
  return HA_ERR_INTERNAL_ERROR;
}

}  // namespace tidesdb::plugin::guard
