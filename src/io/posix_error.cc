#include "io/posix_error.h"

#include <cerrno>
#include <system_error>

namespace tidesdb {

Status PosixError(Slice operation, const std::string& path, int error,
                  std::optional<uint64_t> offset) {
  std::string message(operation);
  message += ' ';
  message += path;
  if (offset) message += " at offset " + std::to_string(*offset);
  message += ": " + std::generic_category().message(error);
  if (error == ENOSPC || error == EDQUOT) return Status::NoSpace(std::move(message));
  if (error == EEXIST) return Status::AlreadyExists(std::move(message));
  return Status::IoError(std::move(message));
}

}  // namespace tidesdb
