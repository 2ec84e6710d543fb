#include "base/guard.h"

namespace tidesdb::plugin::guard {

int ToHandlerError(Code code) noexcept {
  switch (code) {
    case Code::kOk:
      return 0;
    case Code::kIoError:
      return HA_ERR_INTERNAL_ERROR;
    case Code::kCorruption:
      return HA_ERR_CRASHED;
    case Code::kBusy:
      return HA_ERR_LOCK_WAIT_TIMEOUT;
    case Code::kConflict:
      return HA_ERR_RECORD_CHANGED;
    case Code::kDeadlock:
      return HA_ERR_LOCK_DEADLOCK;
    case Code::kTimedOut:
      return HA_ERR_LOCK_WAIT_TIMEOUT;
    case Code::kInterrupted:
      return HA_ERR_ABORTED_BY_USER;
    case Code::kNoSpace:
      return HA_ERR_DISK_FULL;
    case Code::kInvalidArgument:
      return HA_ERR_INTERNAL_ERROR;
    case Code::kNotSupported:
      return HA_ERR_UNSUPPORTED;
    case Code::kAlreadyExists:
      return HA_ERR_TABLE_EXIST;
    case Code::kReadOnly:
      return HA_ERR_TABLE_READONLY;
    case Code::kShuttingDown:
      return HA_ERR_INTERNAL_ERROR;
  }
  return HA_ERR_INTERNAL_ERROR;
}

int ToHandlerError(const Status& status) noexcept {
  switch (status.code()) {
    case Code::kIoError:
    case Code::kCorruption:
    case Code::kNoSpace:
    case Code::kInvalidArgument:
    case Code::kReadOnly:
      sql_print_error("TidesDB: %s", status.ToString().c_str());
      break;
    default:
      break;
  }
  return ToHandlerError(status.code());
}

}  // namespace tidesdb::plugin::guard
