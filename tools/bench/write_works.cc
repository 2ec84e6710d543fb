#include "tools/bench/write_works.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tools/bench/data.h"
#include "tools/bench/fatal.h"
#include "tools/bench/job.h"

namespace tidesdb::bench {
namespace {

constexpr uint64_t kQueueLength = 1000;

// Settles, checks the content of family 0, closes.
Json EndOfWrites(const Job& job, Measurement* measurement, Store* store,
                 std::unique_ptr<Session> session, const Sum& wanted) {
  measurement->Settle(store);
  Check(job, "scan of what was written", SumOf(session.get(), 0), wanted);
  session.reset();
  store->Close();
  return measurement->Figures(job);
}

Json RunFill(const Job& job, bool scattered) {
  const uint64_t entries = EntriesOf(job.sizes.data_bytes, job.value_bytes);
  const auto store = Open(job);
  auto session = store->NewSession();
  Values values(job.value_bytes);
  Measurement measurement(entries);
  measurement.Begin();
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t number = scattered ? Scatter(i, entries) : i;
    session->Put(0, Key(number).bytes(), values.Of(number, 0));
    measurement.Lap();
  }
  measurement.End();
  return EndOfWrites(job, &measurement, store.get(), std::move(session),
                     SumOfNumbers(job, entries));
}

// Puts `commits` entries, as one of several threads.
Meter PutSome(const Job& job, Store* store, uint64_t first, uint64_t commits) {
  const auto session = store->NewSession();
  Values values(job.value_bytes);
  Meter meter(commits);
  meter.Begin();
  for (uint64_t number = first; number < first + commits; ++number) {
    session->Put(0, Key(number).bytes(), values.Of(number, 0));
    meter.Lap();
  }
  meter.End();
  return meter;
}

}  // namespace

Json RunFillInOrder(const Job& job) { return RunFill(job, false); }

Json RunFillScattered(const Job& job) { return RunFill(job, true); }

Json RunOverwrite(const Job& job) {
  const uint64_t entries = EntriesOf(job.sizes.data_bytes, job.value_bytes);
  const auto store = Open(job);
  auto session = store->NewSession();
  Values values(job.value_bytes);
  Random random(job.seed);
  std::vector<bool> written(entries, false);
  Measurement measurement(job.sizes.operations);
  measurement.Begin();
  for (uint64_t i = 0; i < job.sizes.operations; ++i) {
    const uint64_t number = random.Below(entries);
    session->Put(0, Key(number).bytes(), values.Of(number, 1));
    written[number] = true;
    measurement.Lap();
  }
  measurement.End();
  Sum wanted;
  for (uint64_t number = 0; number < entries; ++number) {
    wanted.Add(values.Of(number, written[number] ? 1 : 0));
  }
  return EndOfWrites(job, &measurement, store.get(), std::move(session), wanted);
}

Json RunReadModifyWrite(const Job& job) {
  const uint64_t entries = EntriesOf(job.sizes.data_bytes, job.value_bytes);
  StoreOptions options = OptionsOf(job);
  options.transactional = true;
  const auto store = job.engine.open(options);
  auto session = store->NewSession();
  Sum wanted = SumOf(session.get(), 0);
  Require(wanted.count == entries, "the database does not contain the loaded data");
  Random random(job.seed);
  const uint64_t operations = std::max<uint64_t>(job.sizes.operations / 2, 1);
  Measurement measurement(operations);
  measurement.Begin();
  for (uint64_t i = 0; i < operations; ++i) {
    session->Increment(Key(random.Below(entries)).bytes(), AddOne);
    measurement.Lap();
  }
  measurement.End();
  wanted.check += operations;  // One each.
  return EndOfWrites(job, &measurement, store.get(), std::move(session), wanted);
}

Json RunQueue(const Job& job) {
  const auto store = Open(job);
  auto session = store->NewSession();
  Values values(job.value_bytes);
  uint64_t tail = 0;
  for (; tail < kQueueLength; ++tail) session->Put(0, Key(tail).bytes(), values.Of(tail, 0));
  // An engine that walks over deleted entries gets slower with each one.
  const uint64_t operations = std::max<uint64_t>(job.sizes.operations / 20, 1);
  Measurement measurement(operations);
  Sum taken;
  std::string head;
  measurement.Begin();
  for (uint64_t i = 0; i < operations; ++i, ++tail) {
    auto cursor = session->NewCursor(0);
    cursor->SeekToFirst();
    if (!cursor->Valid()) Fatal(std::string(job.engine.name) + ": the queue is empty");
    head.assign(cursor->key());
    taken.Add(cursor->value());
    cursor.reset();
    session->Replace(head, Key(tail).bytes(), values.Of(tail, 0));
    measurement.Lap();
  }
  measurement.End();
  Sum first;
  Sum rest;
  for (uint64_t number = 0; number < tail; ++number) {
    (number < operations ? first : rest).Add(values.Of(number, 0));
  }
  Check(job, "entries of the queue", taken, first);
  return EndOfWrites(job, &measurement, store.get(), std::move(session), rest);
}

Json RunBulk(const Job& job) {
  const uint64_t entries = EntriesOf(job.sizes.bulk_bytes, job.value_bytes);
  const auto store = Open(job);
  auto session = store->NewSession();
  Values values(job.value_bytes);
  Key key(0);
  Measurement measurement(1);
  measurement.Begin();
  session->PutAll(entries, [&](uint64_t at, std::string_view* name, std::string_view* value) {
    const uint64_t number = Scatter(at, entries);
    key = Key(number);
    *name = key.bytes();
    *value = values.Of(number, 0);
  });
  measurement.Lap(entries);
  measurement.End();
  return EndOfWrites(job, &measurement, store.get(), std::move(session),
                     SumOfNumbers(job, entries));
}

template <unsigned threads>
Json RunSynced(const Job& job) {
  StoreOptions options = OptionsOf(job);
  options.sync = true;
  const auto store = job.engine.open(options);
  const uint64_t each = std::max<uint64_t>(job.sizes.synced_commits / threads, 1);
  Measurement measurement(0);
  std::vector<Meter> meters(threads, Meter(0));
  measurement.BeginThreads();
  {
    std::vector<std::jthread> running;
    for (uint64_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] { meters[i] = PutSome(job, store.get(), i * each, each); });
    }
  }
  measurement.EndThreads(meters);
  return EndOfWrites(job, &measurement, store.get(), store->NewSession(),
                     SumOfNumbers(job, threads * each));
}

template Json RunSynced<1>(const Job& job);
template Json RunSynced<2>(const Job& job);
template Json RunSynced<8>(const Job& job);

}  // namespace tidesdb::bench
