// Reports a sleep to a host's instruments, from construction to destruction.
#pragma once

#include "tidesdb/instruments.h"

namespace tidesdb {

class ToldWait {
 public:
  // instruments: may be null; outlives this.
  ToldWait(Instruments* instruments, WatchedWait what) : instruments_(instruments) {
    if (instruments_ == nullptr) return;
    wait_.what = what;
    instruments_->WaitBegins(&wait_);
  }
  ~ToldWait() {
    if (instruments_ != nullptr) instruments_->WaitEnds(&wait_);
  }
  ToldWait(const ToldWait&) = delete;
  ToldWait& operator=(const ToldWait&) = delete;

 private:
  Instruments* const instruments_;
  WaitCall wait_;
};

}  // namespace tidesdb
