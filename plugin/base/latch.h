// A mutex for the plugin's own short critical sections, on the server's primitives.
//
// Threads: that is what it is for. Never held over an engine call that waits.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

class Latch {
 public:
  Latch() { mysql_mutex_init(PSI_NOT_INSTRUMENTED, &mutex_, MY_MUTEX_INIT_FAST); }
  ~Latch() { mysql_mutex_destroy(&mutex_); }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

 private:
  friend class LatchGuard;
  mysql_mutex_t mutex_;
};

class LatchGuard {
 public:
  explicit LatchGuard(Latch& latch) : latch_(latch) { mysql_mutex_lock(&latch_.mutex_); }
  ~LatchGuard() { mysql_mutex_unlock(&latch_.mutex_); }
  LatchGuard(const LatchGuard&) = delete;
  LatchGuard& operator=(const LatchGuard&) = delete;

 private:
  Latch& latch_;
};

}  // namespace tidesdb::plugin
