// A named thread that must be joined; the only way to create threads outside of tests and lab.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/sim_hooks.h"

namespace tidesdb {

// A thread started inside a Simulation belongs to that Simulation.
// Invariant: joined before it is destroyed (checked).
class Thread {
 public:
  // name: shown by debuggers and in simulation reports; the system keeps its first 15 bytes.
  Thread(std::string name, std::function<void()> body);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // Waits until the body has returned. REQUIRES: not joined yet.
  void Join();
  bool joined() const { return !thread_.joinable(); }
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
#ifdef TIDESDB_HOOKS
  SimThread* sim_thread_ = nullptr;  // Owned by the Simulation; null outside of one.
#endif
  std::thread thread_;
};

}  // namespace tidesdb
