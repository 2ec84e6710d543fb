// The deterministic scheduler: real threads, of which exactly one runs at a time, selected by a
// seed.
//
// Hooks builds only. Why and how: docs/design/0002-simulation.md.
#pragma once

#ifdef TIDESDB_HOOKS

#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"

namespace tidesdb {

class SimScheduler;

// Usage: Simulation sim(seed); sim.Run([&] { ... start threads, use the database, join ... });
// Threads: created and run by one thread; everything else through sim_hooks.h.
// Aborts with a report of every thread on a deadlock (nothing can run and nothing waits for time),
// and on a livelock (more than steps_max steps).
class Simulation {
 public:
  struct Options {
    uint64_t seed = 1;
    // At a scheduling point, the running thread is replaced once in this many times. 1: always. 0:
    // the seed selects 2, 4, 16 or 64, because some bugs need many switches and some need few.
    uint32_t switch_one_in = 0;
    // A wait on a condition variable ends by itself once in this many times; 0: never.
    uint32_t spurious_one_in = 0;
    uint64_t steps_max = 50'000'000;
  };

  explicit Simulation(uint64_t seed);
  explicit Simulation(const Options& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Runs body as thread "main" of the simulation, on the calling thread. All threads that it starts
  // must be joined before it returns (checked). May be called again; time continues.
  void Run(const std::function<void()>& body);

  // Virtual time, for threads of this simulation and, between runs, for its creator.
  Clock* clock();
  // Equal for two runs exactly if they made the same decisions in the same order.
  uint64_t trace_hash() const;
  uint64_t steps() const;
  uint64_t switches() const;

 private:
  std::unique_ptr<SimScheduler> scheduler_;
};

}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
