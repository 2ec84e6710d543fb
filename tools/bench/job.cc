#include "tools/bench/job.h"

#include <algorithm>
#include <string>

#include "tools/bench/fatal.h"

namespace tidesdb::bench {

uint64_t EntriesOf(uint64_t bytes, size_t value_bytes) {
  return std::max<uint64_t>(bytes / (kKeyBytes + value_bytes), 1);
}

StoreOptions OptionsOf(const Sizes& sizes, bool cache_holds_all, bool direct_io) {
  StoreOptions options;
  options.cache_bytes = cache_holds_all ? 2 * sizes.data_bytes : sizes.data_bytes / 4;
  options.memtable_bytes = sizes.memtable_bytes;
  options.block_bytes = sizes.block_bytes;
  // The cache and the memtables get ten sixteenths of TidesDB's budget. It bypasses the page cache
  // if the cache is at least a quarter of the budget.
  options.budget_bytes = std::max<uint64_t>(
      (options.cache_bytes + 4 * options.memtable_bytes) / 10 * 16 + (1 << 10), 16 << 20);
  options.direct_io = direct_io && options.cache_bytes >= options.budget_bytes / 4;
  if (!direct_io) {
    options.budget_bytes = std::max(options.budget_bytes, 4 * options.cache_bytes + (1 << 10));
  }
  return options;
}

StoreOptions OptionsOf(const Job& job) {
  StoreOptions options = OptionsOf(job.sizes, job.cache_holds_all, job.direct_io);
  options.directory = job.directory;
  return options;
}

std::unique_ptr<Store> Open(const Job& job) { return job.engine.open(OptionsOf(job)); }

void Check(const Job& job, const char* what, const Sum& got, const Sum& wanted) {
  if (got == wanted) return;
  Fatal(std::string(job.engine.name) + " gave wrong answers, " + what + ": " +
        std::to_string(got.count) + " entries of sum " + std::to_string(got.check) + ", wanted " +
        std::to_string(wanted.count) + " of " + std::to_string(wanted.check));
}

Sum SumOf(Session* session, size_t family) {
  Sum sum;
  const auto cursor = session->NewCursor(family);
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) sum.Add(cursor->value());
  return sum;
}

Sum SumOfNumbers(const Job& job, uint64_t entries) {
  Sum sum;
  Values values(job.value_bytes);
  for (uint64_t number = 0; number < entries; ++number) sum.Add(values.Of(number, 0));
  return sum;
}

void Measurement::Begin() {
  before_ = FactsOfThisProcess();
  meter_.Begin();
}

void Measurement::End() {
  meter_.End();
  facts_ = FactsOfThisProcess();
}

void Measurement::BeginThreads() { before_ = FactsOfThisProcess(); }

void Measurement::EndThreads(const std::vector<Meter>& threads) {
  facts_ = FactsOfThisProcess();
  threads_ = threads.size();
  for (const Meter& thread : threads) meter_.Merge(thread);
}

void Measurement::Settle(Store* store) {
  store->Settle();
  const ProcessFacts now = FactsOfThisProcess();
  facts_.read_bytes = now.read_bytes;
  facts_.written_bytes = now.written_bytes;
  facts_.cpu_seconds = now.cpu_seconds;
}

Json Measurement::Figures(const Job& job) const {
  const double operations = static_cast<double>(std::max<uint64_t>(meter_.operations(), 1));
  Json figures;
  figures["threads"] = threads_;
  figures["operations"] = meter_.operations();
  figures["seconds"] = meter_.seconds();
  figures["operations_per_s"] = operations / meter_.seconds();
  figures["foreground_cpu_us"] = meter_.cpu_seconds() * 1e6 / operations;
  figures["process_cpu_us"] = (facts_.cpu_seconds - before_.cpu_seconds) * 1e6 / operations;
  figures["p50_us"] = meter_.PercentileUs(50);
  figures["p99_us"] = meter_.PercentileUs(99);
  figures["max_us"] = meter_.PercentileUs(100);
  figures["resident_bytes"] = facts_.resident_bytes;
  figures["resident_peak_bytes"] = facts_.resident_peak_bytes;
  figures["read_bytes"] = facts_.read_bytes - before_.read_bytes;
  figures["written_bytes"] = facts_.written_bytes - before_.written_bytes;
  figures["disk_bytes"] = DiskBytes(job.directory);
  return figures;
}

}  // namespace tidesdb::bench
