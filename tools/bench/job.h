// The common parts of works: opening the store, measuring, checking, and the final figures.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/data.h"
#include "tools/bench/meter.h"
#include "tools/bench/process.h"
#include "tools/bench/store.h"
#include "tools/bench/works.h"

namespace tidesdb::bench {

// The entries read, or expected.
struct Sum {
  uint64_t count = 0;
  uint64_t check = 0;
  void Add(std::string_view value) {
    ++count;
    check += CheckOf(value);
  }
  bool operator==(const Sum&) const = default;
};

// The number of entries of these sizes that make up the bytes.
uint64_t EntriesOf(uint64_t bytes, size_t value_bytes);

StoreOptions OptionsOf(const Job& job);
std::unique_ptr<Store> Open(const Job& job);

// Ends the process with a message unless the two are equal.
void Check(const Job& job, const char* what, const Sum& got, const Sum& wanted);

// The sum over a family, by a scan.
Sum SumOf(Session* session, size_t family);
// The sum over a family that holds each number below `entries` in version 0.
Sum SumOfNumbers(const Job& job, uint64_t entries);

// The measured part of a work, and the figures of its meter, the process and the disk.
class Measurement {
 public:
  // laps: as in Meter.
  explicit Measurement(uint64_t laps) : meter_(laps) {}

  void Begin();
  void Lap(uint64_t operations = 1) { meter_.Lap(operations); }
  void End();
  // Replaces Begin and End around own laps: the threads' operations in this time.
  void BeginThreads();
  void EndThreads(const std::vector<Meter>& threads);

  // Waits until the remaining background work is done, and counts it.
  void Settle(Store* store);
  // Call after the store was closed.
  Json Figures(const Job& job) const;

 private:
  Meter meter_;
  size_t threads_ = 1;
  ProcessFacts before_;
  ProcessFacts facts_;  // At the end.
};

}  // namespace tidesdb::bench
