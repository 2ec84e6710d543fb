#include "base/helper_threads.h"

#include <algorithm>
#include <system_error>

#include "base/check.h"

namespace tidesdb {

void HelperThreads::Run(size_t count, const std::function<void(size_t)>& work) {
  if (count < 2 || threads_max_ == 0) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  Batch batch(&work, count);
  Begin(&batch);
  // Also if `work` throws: the helpers still use the batch.
  struct Finisher {
    ~Finisher() { threads->Finish(batch); }
    HelperThreads* threads;
    Batch* batch;
  } const finisher{this, &batch};
  WorkOn(&batch);
}

void HelperThreads::WorkOn(Batch* batch) {
  for (;;) {
    const size_t i = batch->next.fetch_add(1, std::memory_order_relaxed);
    if (i >= batch->count) return;
    (*batch->work)(i);
  }
}

void HelperThreads::Begin(Batch* batch) {
  const size_t wanted = batch->count - 1;
  size_t woken = 0;
  {
    MutexLock lock(mu_);
    if (stop_) return;
    while (free_ < wanted && threads_.size() < threads_max_) {
      const std::string name = name_ + std::to_string(threads_.size());
      try {
        threads_.push_back(std::make_unique<Thread>(name, [this, name] { Help(name); }));
      } catch (const std::system_error&) {
        break;  // The machine allows no more threads: those that run do the work.
      }
      ++free_;
    }
    batches_.push_back(batch);
    woken = std::min(wanted, free_);
  }
  for (; woken > 0; --woken) more_.NotifyOne();
}

void HelperThreads::Finish(Batch* batch) {
  MutexLock lock(mu_);
  Close(batch);
  while (batch->helpers > 0) batch->left.Wait(mu_);
}

// No more helpers join it.
void HelperThreads::Close(Batch* batch) {
  const auto at = std::find(batches_.begin(), batches_.end(), batch);
  if (at != batches_.end()) batches_.erase(at);
}

HelperThreads::Batch* HelperThreads::Next(Batch* done) {
  MutexLock lock(mu_);
  if (done != nullptr) {
    ++free_;
    Close(done);
    // Under the mutex: the batch goes as soon as its caller sees this.
    if (--done->helpers == 0) done->left.NotifyOne();
  }
  while (batches_.empty() && !stop_) more_.Wait(mu_);
  if (stop_) return nullptr;
  Batch* const batch = batches_.front();
  ++batch->helpers;
  --free_;
  return batch;
}

void HelperThreads::Help(const std::string& name) {
  if (instruments_ != nullptr) instruments_->ThreadBegins(name.c_str());
  Batch* batch = nullptr;
  while ((batch = Next(batch)) != nullptr) WorkOn(batch);
  if (instruments_ != nullptr) instruments_->ThreadEnds();
}

void HelperThreads::Stop() {
  std::vector<std::unique_ptr<Thread>> threads;
  {
    MutexLock lock(mu_);
    DCHECK(batches_.empty());
    stop_ = true;
    threads.swap(threads_);
    more_.NotifyAll();
  }
  for (const auto& thread : threads) thread->Join();
}

size_t HelperThreads::threads() const {
  MutexLock lock(mu_);
  return threads_.size();
}

}  // namespace tidesdb
