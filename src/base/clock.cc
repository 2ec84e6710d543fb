#include "base/clock.h"

#include <chrono>
#include <thread>

#include "base/sim_hooks.h"

namespace tidesdb {
namespace {

template <typename Unit, typename Time>
uint64_t Since(Time time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<Unit>(time.time_since_epoch()).count());
}

}  // namespace

uint64_t RealClock::NowMicros() {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) return sim::NowMicros();
#endif
  return Since<std::chrono::microseconds>(std::chrono::steady_clock::now());
}

uint64_t RealClock::WallSeconds() {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) return sim::kWallStartSeconds + sim::NowMicros() / 1'000'000;
#endif
  return Since<std::chrono::seconds>(std::chrono::system_clock::now());
}

void RealClock::SleepMicros(uint64_t us) {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) {
    sim::BlockOn(nullptr, sim::Event::kSleep, us);
    return;
  }
#endif
  std::this_thread::sleep_for(std::chrono::microseconds(us));
}

}  // namespace tidesdb
