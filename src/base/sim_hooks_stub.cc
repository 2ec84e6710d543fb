#include "base/sim_hooks.h"
#ifdef TIDESDB_HOOKS
namespace tidesdb {
namespace sim {
thread_local constinit SimThread* current_thread = nullptr;
void Point(Event) {}
void Spin() {}
bool BlockOn(const void*, Event, uint64_t) { return true; }
void WakeOne(const void*) {}
void WakeAll(const void*) {}
uint64_t NowMicros() { return 0; }
void AdvanceMicros(uint64_t) {}
uint64_t Uniform(uint64_t) { return 0; }
SimThread* RegisterThread(const std::string&) { return nullptr; }
void EnterThread(SimThread*) {}
void ExitThread() {}
void JoinThread(SimThread*) {}
void DescribeForCrash() noexcept {}
}  // namespace sim
}  // namespace tidesdb
#endif
