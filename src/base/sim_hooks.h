// The connection of mutexes, threads, clocks, files and failpoints to the simulation; hooks builds
// only.
//
// Threads: InSimulation() is true on threads of a running Simulation. Only such threads may call
//   the other functions; simulations do not affect the rest of the process.
#pragma once

#ifdef TIDESDB_HOOKS

#include <cstdint>
#include <functional>
#include <string>

namespace tidesdb {

struct SimThread;

namespace sim {

// The kind of a scheduling point; part of the trace, so that a replay is compared event by event.
enum class Event : uint8_t {
  kLock,
  kUnlock,
  kWait,
  kNotify,
  kThreadStart,
  kThreadExit,
  kJoin,
  kSleep,
  kSpin,
  kIo,
  kFailpoint,
  kUser,
};

inline constexpr size_t kEventCount = static_cast<size_t>(Event::kUser) + 1;

extern thread_local constinit SimThread* current_thread;

inline bool InSimulation() { return current_thread != nullptr; }

// May let another thread run first.
void Point(Event event);

// A busy-wait turn: lets another thread run if there is one, else lets time pass.
void Spin();

// Blocks this thread until WakeAll/WakeOne(object), or until wait_us of virtual time has passed.
// Returns false on timeout. kForever: no timeout.
inline constexpr uint64_t kForever = UINT64_MAX;
bool BlockOn(const void* object, Event event, uint64_t wait_us);

// Makes one thread (selected by the seed) or all threads blocked on object runnable; no switch.
void WakeOne(const void* object);
void WakeAll(const void* object);

uint64_t NowMicros();
// The date at virtual time 0: any date, as long as it is constant.
inline constexpr uint64_t kWallStartSeconds = 1'700'000'000;

// Lets virtual time pass without a switch, for example for a slow disk.
void AdvanceMicros(uint64_t us);

// A number from the simulation's seed, in [0, n). REQUIRES: n > 0.
uint64_t Uniform(uint64_t n);

// Thread creation in three steps: the parent registers the child; the child enters (blocks until it
// is selected), runs and exits; the parent joins it here, then joins the system thread.
SimThread* RegisterThread(const std::string& name);
void EnterThread(SimThread* thread);
void ExitThread();
void JoinThread(SimThread* thread);

// If the calling thread is in a simulation, prints seed, step and threads to stderr.
void DescribeForCrash() noexcept;

}  // namespace sim
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
