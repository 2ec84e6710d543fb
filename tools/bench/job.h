// What works have in common: opening the store, measuring, checking, and the figures at the end.
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

// What was read, or is to be read.
struct Sum {
  uint64_t count = 0;
  uint64_t check = 0;
  void Add(std::string_view value) {
    ++count;
    check += CheckOf(value);
  }
  bool operator==(const Sum&) const = default;
};

// How many entries of these sizes make the bytes.
uint64_t EntriesOf(uint64_t bytes, size_t value_bytes);

StoreOptions OptionsOf(const Job& job);
std::unique_ptr<Store> Open(const Job& job);

// Ends the process with a message unless both are the same.
void Check(const Job& job, const char* what, const Sum& got, const Sum& wanted);

// All of a family, by a scan.
Sum SumOf(Session* session, size_t family);
// What a family holds where each number below `entries` is there in version 0.
Sum SumOfNumbers(const Job& job, uint64_t entries);

// The measured part of a work, and its figures: of the meter, of the process and of the disk.
class Measurement {
 public:
  // laps: as Meter has it.
  explicit Measurement(uint64_t laps) : meter_(laps) {}

  void Begin();
  void Lap(uint64_t operations = 1) { meter_.Lap(operations); }
  void End();
  // Instead of Begin and End around laps of its own: what threads have done in this time.
  void BeginThreads();
  void EndThreads(const std::vector<Meter>& threads);

  // What was left to do in the background is done, and counted.
  void Settle(Store* store);
  // After the store was closed.
  Json Figures(const Job& job) const;

 private:
  Meter meter_;
  size_t threads_ = 1;
  ProcessFacts before_;
  ProcessFacts facts_;  // At the end.
};

}  // namespace tidesdb::bench
