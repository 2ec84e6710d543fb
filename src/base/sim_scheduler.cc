#include "base/sim_scheduler.h"

#ifdef TIDESDB_HOOKS

#include <semaphore.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "base/sim_hooks.h"

namespace tidesdb {

namespace {

// The right to run, passed from thread to thread. A POSIX semaphore, so that a waiting thread
// sleeps at once. Atomics and semaphores of the standard library first spin and yield, which makes
// a handover take milliseconds on a busy machine.
class Baton {
 public:
  Baton() { CHECK(::sem_init(&semaphore_, 0, 0) == 0); }
  ~Baton() { ::sem_destroy(&semaphore_); }
  Baton(const Baton&) = delete;
  Baton& operator=(const Baton&) = delete;

  // The taker sees everything that the giver did before.
  void Give() { CHECK(::sem_post(&semaphore_) == 0); }
  void Take() {
    while (::sem_wait(&semaphore_) != 0) CHECK(errno == EINTR);
  }

 private:
  sem_t semaphore_;
};

}  // namespace

// Only the thread with the baton touches anything except the baton.
struct SimThread {
  enum class State : uint8_t { kRunnable, kBlocked, kDone };

  SimThread(SimScheduler* scheduler_in, std::string name_in, uint32_t id_in)
      : scheduler(scheduler_in), name(std::move(name_in)), id(id_in) {}

  SimScheduler* const scheduler;
  const std::string name;
  const uint32_t id;
  State state = State::kRunnable;
  sim::Event event = sim::Event::kThreadStart;  // The latest; if blocked, what it waits for.
  const void* object = nullptr;                 // The object that blocks it.
  uint64_t deadline_us = sim::kForever;
  bool timed_out = false;
  Baton baton;
};

namespace {

// A busy wait that no other thread can end may still end by itself. After the first number of
// turns, time jumps to the next deadline; after the second it counts as a livelock.
constexpr uint64_t kLoneSpinsBeforeLeap = 1000;
constexpr uint64_t kLoneSpinsMax = 1'000'000;

const char* EventName(sim::Event event) {
  static constexpr const char* kNames[sim::kEventCount] = {
      "lock", "unlock", "wait", "notify", "start",     "exit",
      "join", "sleep",  "spin", "io",     "failpoint", "user point"};
  return kNames[static_cast<size_t>(event)];
}

void RemoveUnordered(std::vector<SimThread*>* threads, size_t index) {
  (*threads)[index] = threads->back();
  threads->pop_back();
}

}  // namespace

// Invariants: exactly one thread holds the baton, and only that thread touches this. runnable_ has
//   it and all other threads that could run; blocked_ has the rest, except finished threads.
class SimScheduler {
 public:
  explicit SimScheduler(const Simulation::Options& options)
      : options_(options), random_(options.seed), clock_(this) {
    static constexpr uint32_t kRates[] = {2, 4, 16, 64};
    switch_one_in_ =
        options.switch_one_in != 0 ? options.switch_one_in : kRates[random_.Uniform(4)];
  }

  void Run(const std::function<void()>& body);

  SimThread* Register(std::string name);
  void Point(sim::Event event);
  void Spin();
  bool BlockOn(const void* object, sim::Event event, uint64_t wait_us);
  void WakeOne(const void* object);
  void WakeAll(const void* object);
  void Exit();
  void Join(SimThread* thread);
  uint64_t Uniform(uint64_t n);
  void Advance(uint64_t us) { now_us_ += us; }
  void Report(const char* reason) const noexcept;

  Clock* clock() { return &clock_; }
  uint64_t now_us() const { return now_us_; }
  uint64_t trace() const { return trace_; }
  uint64_t steps() const { return steps_; }
  uint64_t switches() const { return switches_; }

 private:
  class VirtualClock final : public Clock {
   public:
    explicit VirtualClock(SimScheduler* scheduler) : scheduler_(scheduler) {}
    uint64_t NowMicros() override { return scheduler_->now_us(); }
    uint64_t WallSeconds() override { return sim::kWallStartSeconds + NowMicros() / 1'000'000; }
    void SleepMicros(uint64_t us) override { scheduler_->BlockOn(nullptr, sim::Event::kSleep, us); }

   private:
    SimScheduler* const scheduler_;
  };

  // One event of the running thread: counted, traced, a microsecond of virtual time.
  void Step(sim::Event event);
  void Mix(uint64_t value) { trace_ = (trace_ ^ value) * 0x9fb21c651e98df25 + (trace_ >> 29); }
  // Makes blocked threads runnable whose deadline has passed.
  void ReleaseExpired();
  void MakeRunnable(size_t blocked_index, bool timed_out);
  void RemoveRunning();
  // Selects the next thread if the running one cannot continue; lets time jump if needed.
  SimThread* PickNext();
  void HandOver(SimThread* next);
  void SwitchToOther();
  [[noreturn]] void Fail(const char* reason) const;

  const Simulation::Options options_;
  Random random_;
  VirtualClock clock_;
  uint32_t switch_one_in_;
  std::vector<std::unique_ptr<SimThread>> threads_;
  std::vector<SimThread*> runnable_;
  std::vector<SimThread*> blocked_;
  SimThread* running_ = nullptr;
  uint64_t now_us_ = 1'000'000;               // Not 0, so that subtracting a little does not wrap.
  uint64_t deadline_min_us_ = sim::kForever;  // At most the earliest deadline in blocked_.
  uint64_t lone_spins_ = 0;
  uint64_t steps_ = 0;
  uint64_t switches_ = 0;
  uint64_t trace_ = 0x9e3779b97f4a7c15;
};

void SimScheduler::Run(const std::function<void()>& body) {
  CHECK_MSG(!sim::InSimulation(), "a simulation inside a simulation");
  running_ = Register("main");
  sim::current_thread = running_;
  body();
  for (const auto& thread : threads_) {
    if (thread.get() != running_ && thread->state != SimThread::State::kDone) {
      Fail("the body returned while threads were left unjoined");
    }
  }
  running_->state = SimThread::State::kDone;
  RemoveRunning();
  running_ = nullptr;
  sim::current_thread = nullptr;
}

SimThread* SimScheduler::Register(std::string name) {
  const auto id = static_cast<uint32_t>(threads_.size());
  threads_.push_back(std::make_unique<SimThread>(this, std::move(name), id));
  runnable_.push_back(threads_.back().get());
  return threads_.back().get();
}

void SimScheduler::Step(sim::Event event) {
  ++steps_;
  ++now_us_;
  running_->event = event;
  Mix((uint64_t{running_->id} << 8) | static_cast<uint64_t>(event));
  if (event != sim::Event::kSpin) lone_spins_ = 0;
  if (now_us_ >= deadline_min_us_) [[unlikely]]
    ReleaseExpired();
  if (steps_ > options_.steps_max) [[unlikely]]
    Fail("more steps than steps_max (livelock?)");
}

void SimScheduler::Point(sim::Event event) {
  Step(event);
  if (runnable_.size() > 1 && random_.OneIn(switch_one_in_)) SwitchToOther();
}

void SimScheduler::Spin() {
  Step(sim::Event::kSpin);
  if (runnable_.size() > 1) {
    SwitchToOther();
    return;
  }
  if (++lone_spins_ > kLoneSpinsMax) Fail("a busy wait that no thread can end");
  if (lone_spins_ > kLoneSpinsBeforeLeap && deadline_min_us_ != sim::kForever) {
    now_us_ = std::max(now_us_, deadline_min_us_);
    ReleaseExpired();
  }
}

bool SimScheduler::BlockOn(const void* object, sim::Event event, uint64_t wait_us) {
  if (event == sim::Event::kWait && options_.spurious_one_in != 0 &&
      random_.OneIn(options_.spurious_one_in)) {
    Point(event);
    return true;
  }
  Step(event);
  SimThread* self = running_;
  self->state = SimThread::State::kBlocked;
  self->object = object;
  self->timed_out = false;
  self->deadline_us = wait_us > sim::kForever - now_us_ ? sim::kForever : now_us_ + wait_us;
  deadline_min_us_ = std::min(deadline_min_us_, self->deadline_us);
  RemoveRunning();
  blocked_.push_back(self);
  SimThread* next = PickNext();
  if (next != self) {
    HandOver(next);
    self->baton.Take();
  }
  return !self->timed_out;
}

void SimScheduler::WakeOne(const void* object) {
  const auto waits = [object](const SimThread* thread) { return thread->object == object; };
  const auto count = std::count_if(blocked_.begin(), blocked_.end(), waits);
  if (count == 0) return;
  uint64_t skip = random_.Uniform(static_cast<uint64_t>(count));
  for (size_t i = 0; i < blocked_.size(); ++i) {
    if (waits(blocked_[i]) && skip-- == 0) {
      MakeRunnable(i, false);
      return;
    }
  }
}

void SimScheduler::WakeAll(const void* object) {
  for (size_t i = blocked_.size(); i-- > 0;) {
    if (blocked_[i]->object == object) MakeRunnable(i, false);
  }
}

void SimScheduler::Exit() {
  Step(sim::Event::kThreadExit);
  running_->state = SimThread::State::kDone;
  RemoveRunning();
  WakeAll(running_);
  sim::current_thread = nullptr;
  HandOver(PickNext());
}

void SimScheduler::Join(SimThread* thread) {
  Point(sim::Event::kJoin);
  while (thread->state != SimThread::State::kDone) {
    BlockOn(thread, sim::Event::kJoin, sim::kForever);
  }
}

uint64_t SimScheduler::Uniform(uint64_t n) {
  const uint64_t drawn = random_.Uniform(n);
  Mix(drawn);
  return drawn;
}

void SimScheduler::ReleaseExpired() {
  deadline_min_us_ = sim::kForever;
  for (size_t i = blocked_.size(); i-- > 0;) {
    if (blocked_[i]->deadline_us <= now_us_) {
      MakeRunnable(i, true);
    } else {
      deadline_min_us_ = std::min(deadline_min_us_, blocked_[i]->deadline_us);
    }
  }
}

void SimScheduler::MakeRunnable(size_t blocked_index, bool timed_out) {
  SimThread* thread = blocked_[blocked_index];
  RemoveUnordered(&blocked_, blocked_index);
  thread->state = SimThread::State::kRunnable;
  thread->object = nullptr;
  thread->timed_out = timed_out;
  runnable_.push_back(thread);
}

void SimScheduler::RemoveRunning() {
  const auto found = std::find(runnable_.begin(), runnable_.end(), running_);
  RemoveUnordered(&runnable_, static_cast<size_t>(found - runnable_.begin()));
}

SimThread* SimScheduler::PickNext() {
  while (runnable_.empty()) {
    if (deadline_min_us_ == sim::kForever)
      Fail("deadlock: nothing can run, nothing waits for time");
    now_us_ = std::max(now_us_, deadline_min_us_);
    ReleaseExpired();
  }
  return runnable_[random_.Uniform(runnable_.size())];
}

void SimScheduler::HandOver(SimThread* next) {
  ++switches_;
  Mix((uint64_t{next->id} << 40) | 0xff);
  running_ = next;
  next->baton.Give();
}

void SimScheduler::SwitchToOther() {
  SimThread* self = running_;
  // One draw over the others: the last one takes our place.
  SimThread* next = runnable_[random_.Uniform(runnable_.size() - 1)];
  if (next == self) next = runnable_.back();
  HandOver(next);
  self->baton.Take();
}

void SimScheduler::Report(const char* reason) const noexcept {
  std::fprintf(stderr,
               "simulation: %s\n  seed %llu, step %llu, switch_one_in %u, virtual time %llu us\n",
               reason, static_cast<unsigned long long>(options_.seed),
               static_cast<unsigned long long>(steps_), switch_one_in_,
               static_cast<unsigned long long>(now_us_));
  for (const auto& thread : threads_) {
    if (thread->state == SimThread::State::kDone) continue;
    const bool blocked = thread->state == SimThread::State::kBlocked;
    std::fprintf(
        stderr, "  thread %u %s: %s %s", thread->id, thread->name.c_str(),
        blocked ? "blocked in" : (thread.get() == running_ ? "running, last" : "ready, last"),
        EventName(thread->event));
    if (blocked && thread->object != nullptr) std::fprintf(stderr, " on %p", thread->object);
    std::fprintf(stderr, "\n");
  }
}

void SimScheduler::Fail(const char* reason) const {
  Report(reason);
  std::fflush(stderr);
  std::abort();
}

Simulation::Simulation(uint64_t seed) : Simulation(Options{.seed = seed}) {}
Simulation::Simulation(const Options& options)
    : scheduler_(std::make_unique<SimScheduler>(options)) {}
Simulation::~Simulation() = default;

void Simulation::Run(const std::function<void()>& body) { scheduler_->Run(body); }
Clock* Simulation::clock() { return scheduler_->clock(); }
uint64_t Simulation::trace_hash() const { return scheduler_->trace(); }
uint64_t Simulation::steps() const { return scheduler_->steps(); }
uint64_t Simulation::switches() const { return scheduler_->switches(); }

namespace sim {

thread_local constinit SimThread* current_thread = nullptr;

void Point(Event event) { current_thread->scheduler->Point(event); }
void Spin() { current_thread->scheduler->Spin(); }
bool BlockOn(const void* object, Event event, uint64_t wait_us) {
  return current_thread->scheduler->BlockOn(object, event, wait_us);
}
void WakeOne(const void* object) { current_thread->scheduler->WakeOne(object); }
void WakeAll(const void* object) { current_thread->scheduler->WakeAll(object); }
uint64_t NowMicros() { return current_thread->scheduler->now_us(); }
void AdvanceMicros(uint64_t us) { current_thread->scheduler->Advance(us); }
uint64_t Uniform(uint64_t n) { return current_thread->scheduler->Uniform(n); }

SimThread* RegisterThread(const std::string& name) {
  return current_thread->scheduler->Register(name);
}

void EnterThread(SimThread* thread) {
  current_thread = thread;
  thread->baton.Take();
}

void ExitThread() { current_thread->scheduler->Exit(); }
void JoinThread(SimThread* thread) { current_thread->scheduler->Join(thread); }

void DescribeForCrash() noexcept {
  if (InSimulation()) current_thread->scheduler->Report("a check failed in this thread");
}

}  // namespace sim
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
