#include "tools/bench/read_works.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "tools/bench/data.h"
#include "tools/bench/fatal.h"
#include "tools/bench/job.h"

namespace tidesdb::bench {
namespace {

constexpr uint64_t kScanLap = 1000;  // Entries of a full scan per latency.

// The number of operations: all if the cache holds everything; fewer for works that wait for the
// disk.
uint64_t OperationsOf(const Job& job, uint64_t part) {
  return std::max<uint64_t>(job.sizes.operations / part / (job.cache_holds_all ? 1 : 4), 1);
}

// Fills the cache with everything that fits, or with what random reads need.
void WarmUp(const Job& job, Session* session, uint64_t entries) {
  if (job.cache_holds_all) {
    const Sum all = SumOf(session, 0);
    Require(all.count == entries, "the database does not contain the loaded data");
  }
  Random random(job.seed + 1);
  std::string_view value;
  for (uint64_t i = 0; i < OperationsOf(job, 4); ++i) {
    session->Get(0, Key(random.Below(entries)).bytes(), &value);
  }
}

// `operations` times: draws a random number below `below` and runs `one` with it.
template <typename One>
Json Measure(const Job& job, uint64_t operations, uint64_t below, One one) {
  const auto store = Open(job);
  auto session = store->NewSession();
  WarmUp(job, session.get(), EntriesOf(job.sizes.data_bytes, job.value_bytes));
  Measurement measurement(operations);
  Random random(job.seed);
  measurement.Begin();
  for (uint64_t i = 0; i < operations; ++i) {
    one(session.get(), random.Below(below));
    measurement.Lap();
  }
  measurement.End();
  session.reset();
  store->Close();
  return measurement.Figures(job);
}

// Each operation reads `length` entries from a random key on.
Json RunScans(const Job& job, uint64_t operations, uint64_t length) {
  const uint64_t entries = EntriesOf(job.sizes.data_bytes, job.value_bytes);
  const uint64_t below = entries - std::min(length, entries) + 1;
  Sum got;
  const Json figures = Measure(job, operations, below, [&](Session* session, uint64_t number) {
    const auto cursor = session->NewCursor(0);
    cursor->Seek(Key(number).bytes());
    for (uint64_t i = 0; i < length && cursor->Valid(); ++i, cursor->Next()) {
      got.Add(cursor->value());
    }
  });
  Sum wanted;
  Values values(job.value_bytes);
  Random random(job.seed);
  for (uint64_t i = 0; i < operations; ++i) {
    const uint64_t from = random.Below(below);
    for (uint64_t j = from; j < std::min(from + length, entries); ++j) wanted.Add(values.Of(j, 0));
  }
  Check(job, "scans", got, wanted);
  return figures;
}

Json RunFullScan(const Job& job, bool forward) {
  const uint64_t entries = EntriesOf(job.sizes.data_bytes, job.value_bytes);
  const auto store = Open(job);
  auto session = store->NewSession();
  WarmUp(job, session.get(), entries);
  auto cursor = session->NewCursor(0);
  Measurement measurement(entries / kScanLap + 2);
  Sum got;
  measurement.Begin();
  forward ? cursor->SeekToFirst() : cursor->SeekToLast();
  while (cursor->Valid()) {
    got.Add(cursor->value());
    if (got.count % kScanLap == 0) measurement.Lap(kScanLap);
    forward ? cursor->Next() : cursor->Prev();
  }
  measurement.Lap(got.count % kScanLap);
  measurement.End();
  cursor.reset();
  session.reset();
  store->Close();
  Check(job, "full scan", got, SumOfNumbers(job, entries));
  return measurement.Figures(job);
}

}  // namespace

Json RunRead(const Job& job) {
  const uint64_t operations = OperationsOf(job, 1);
  const uint64_t entries = EntriesOf(job.sizes.data_bytes, job.value_bytes);
  Sum got;
  const Json figures = Measure(job, operations, entries, [&](Session* session, uint64_t number) {
    std::string_view value;
    if (session->Get(0, Key(number).bytes(), &value)) got.Add(value);
  });
  Sum wanted;
  Values values(job.value_bytes);
  Random random(job.seed);
  for (uint64_t i = 0; i < operations; ++i) wanted.Add(values.Of(random.Below(entries), 0));
  Check(job, "reads", got, wanted);
  return figures;
}

Json RunMissing(const Job& job) {
  Sum got;
  const Json figures =
      Measure(job, OperationsOf(job, 1), EntriesOf(job.sizes.data_bytes, job.value_bytes),
              [&](Session* session, uint64_t number) {
                std::string_view value;
                if (session->Get(0, Key::Missing(number).bytes(), &value)) {
                  got.Add(value);
                }
              });
  Check(job, "reads of keys that are not there", got, Sum());
  return figures;
}

Json RunSeek10(const Job& job) { return RunScans(job, OperationsOf(job, 4), 10); }

Json RunScan100(const Job& job) { return RunScans(job, OperationsOf(job, 20), 100); }

Json RunForward(const Job& job) { return RunFullScan(job, true); }

Json RunBackward(const Job& job) { return RunFullScan(job, false); }

}  // namespace tidesdb::bench
