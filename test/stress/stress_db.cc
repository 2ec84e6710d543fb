// Many real threads on a real directory: transfers, bulk rewrites, audits of snapshots, flushes,
// merges, families that come and go, interrupts; then everything is closed, reopened and checked.
// Mainly for the thread sanitizer.
//
//   stress_db [--seconds N | --transfers N] [--rounds N] [--writers N] [--seed N] [--directory DIR]
//
// The seed decides what each thread does, not its scheduling: a failure may not repeat.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/thread.h"
#include "stress/auditor.h"
#include "stress/shared.h"
#include "stress/writers.h"
#include "tidesdb/db.h"

namespace tidesdb::stress {
namespace {

constexpr uint64_t kProgressUs = 10'000'000;
constexpr uint64_t kTickUs = 20'000;
constexpr int kAuditors = 2;

struct Arguments {
  uint64_t seconds = 0;       // For all rounds together; 0: transfers decide.
  uint64_t transfers = 3000;  // Of each round.
  uint64_t rounds = 3;
  int writers = 4;
  uint64_t seed = 1;
  std::string directory;  // Empty: a temporary one, removed after success.
};

bool Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 >= argc) return false;
    const std::string name = argv[i];
    const uint64_t number = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seconds") {
      arguments->seconds = number;
      arguments->transfers = UINT64_MAX / 2;
    } else if (name == "--transfers") {
      arguments->transfers = number;
    } else if (name == "--rounds") {
      arguments->rounds = number;
    } else if (name == "--writers") {
      arguments->writers = static_cast<int>(number);
    } else if (name == "--seed") {
      arguments->seed = number;
    } else if (name == "--directory") {
      arguments->directory = argv[i + 1];
    } else {
      return false;
    }
  }
  return arguments->writers > 0 && arguments->rounds > 0;
}

// Everything is small, so that all kinds of background work run all the time.
Options RandomOptions(Random* random) {
  Options options;
  options.sync_mode = static_cast<SyncMode>(random->Uniform(3));
  options.sync_interval_us = 5000;
  options.memory_max_bytes = 32 << 20;
  options.memtable_bytes = random->Between(64, 512) << 10;
  options.wal_segment_bytes = random->Between(64, 512) << 10;
  options.block_cache_bytes = random->Between(0, 512) << 10;
  options.transaction_memory_bytes = random->Between(16, 64) << 10;
  options.flush_threads = static_cast<int>(random->Between(1, 2));
  options.compaction_threads = static_cast<int>(random->Between(1, 3));
  options.open_files_max = 16;
  options.lock_wait_timeout_us = 5'000'000;
  return options;
}

ColumnFamilyOptions FamilyOptions(const std::string& name, Random* random) {
  ColumnFamilyOptions options;
  options.name = name;
  options.compression = static_cast<Compression>(random->Uniform(4));
  options.block_bytes = 1 << 10;
  options.target_file_bytes = 64 << 10;
  options.level0_file_trigger = 2;
  options.level_size_ratio = 4;
  return options;
}

// Flushes, merges, checks and reads, and creates and drops families. Threads: one.
class Maintainer {
 public:
  Maintainer(Round* round, uint64_t seed) : round_(round), random_(seed) {}

  void Run() {
    RealClock clock;
    while (!round_->stopped()) {
      const Status status = One();
      if (!status.ok()) round_->Fail("maintenance got: " + status.ToString());
      clock.SleepMicros(random_.Uniform(kTickUs));
    }
  }

 private:
  Status One() {
    Db* db = round_->db();
    ColumnFamily* family = round_->family(static_cast<Family>(random_.Uniform(kFamilies)));
    switch (random_.Uniform(7)) {
      case 0:
        return db->Flush();
      case 1:
        return db->Compact(family);
      case 2:
        return db->Verify(family, VerifyDepth::kAll);
      case 3:
        return db->SyncWal();
      case 4:
        if (db->GetStats().families < kFamilies) round_->Fail("a family is gone");
        if (db->StatusText().empty()) round_->Fail("the status text is empty");
        return Status::Ok();
      case 5:
        db->EstimateRange(family, BulkKey(100), BulkKey(200));
        db->GetFamilyStats(family);
        return Status::Ok();
      default:
        return ComeAndGo();
    }
  }

  Status ComeAndGo() {
    Db* db = round_->db();
    TIDESDB_ASSIGN(ColumnFamily* const family,
                   db->CreateFamily(FamilyOptions("passing", &random_)));
    auto transaction = db->Begin({});
    for (int row = 0; row < 200; ++row) TIDESDB_TRY(transaction->Put(family, BulkKey(row), "x"));
    TIDESDB_TRY(transaction->Commit());
    if (random_.OneIn(2)) TIDESDB_TRY(db->Flush());
    return db->DropFamily(family);
  }

  Round* const round_;
  Random random_;
};

// All rounds, one after another.
class Stress {
 public:
  explicit Stress(const Arguments& arguments)
      : arguments_(arguments), random_(arguments.seed), truth_(arguments.writers) {}

  // Returns the fault, or nothing.
  std::string Run() {
    for (uint64_t number = 1; number <= arguments_.rounds; ++number) {
      std::string wrong = OneRound(number);
      if (!wrong.empty()) return wrong;
      Print();
    }
    // Opens it once more, only for a check.
    return Open([this](Round* round) { Auditor(round, random_.Next()).CheckQuiet(truth_); });
  }

  void Print() const {
    const auto number = [](const std::atomic<uint64_t>& count) {
      return static_cast<unsigned long long>(count.load());
    };
    std::printf(
        "%llu commits, %llu conflicts, %llu deadlocks, %llu timeouts, %llu interrupted, %llu "
        "audits, %llu bulk "
        "commits, %llu bulk rollbacks, %llu flushes, %llu compactions, %llu spills\n",
        number(tally_.commits), number(tally_.conflicts), number(tally_.deadlocks),
        number(tally_.timeouts), number(tally_.interrupted), number(tally_.audits),
        number(tally_.bulk_commits), number(tally_.bulk_rollbacks), number(tally_.flushes),
        number(tally_.compactions), number(tally_.spills));
    std::fflush(stdout);
  }

  // Whether the run was long enough for its purpose. now: of the current round.
  bool ReachedAll(const DbStats& now = DbStats()) const {
    return tally_.commits != 0 && tally_.audits != 0 && tally_.bulk_commits != 0 &&
           tally_.flushes + now.flushes != 0 && tally_.compactions + now.compactions != 0 &&
           tally_.spills + now.spills != 0;
  }

 private:
  template <typename Work>
  std::string Open(const Work& work) {
    auto opened = Db::Open(RandomOptions(&random_), arguments_.directory);
    if (!opened.ok()) return "open: " + opened.status().ToString();
    const std::unique_ptr<Db> db = std::move(opened).value();
    std::array<ColumnFamily*, kFamilies> families{};
    for (size_t i = 0; i < kFamilies; ++i) {
      families[i] = db->FindFamily(Slice(kFamilyNames[i]));
      if (families[i] == nullptr) {
        auto made = db->CreateFamily(FamilyOptions(kFamilyNames[i], &random_));
        if (!made.ok()) return "create: " + made.status().ToString();
        families[i] = *made;
      }
    }
    if (auto* passing = db->FindFamily(Slice("passing")); passing != nullptr)
      return "a dropped family is back";
    Round round(db.get(), families, &tally_);
    work(&round);
    if (!round.failure().empty()) return round.failure();
    const DbStats stats = db->GetStats();
    tally_.flushes += stats.flushes;
    tally_.compactions += stats.compactions;
    tally_.spills += stats.spills;
    const Status closed = db->Close();
    return closed.ok() ? "" : "close: " + closed.ToString();
  }

  std::string OneRound(uint64_t number) {
    return Open([this, number](Round* round) {
      if (number == 1) Fill(round);
      Auditor(round, random_.Next()).CheckQuiet(truth_);
      if (round->stopped()) return;
      tally_.transfers = 0;
      RunThreads(round);
      if (round->failure().empty()) Auditor(round, random_.Next()).CheckQuiet(truth_);
    });
  }

  void Fill(Round* round) {
    auto transaction = round->db()->Begin({});
    Status status;
    for (int account = 0; account < kAccounts && status.ok(); ++account) {
      for (const Family family : {kAccountsFamily, kMirrorFamily}) {
        if (status.ok()) {
          status = transaction->Put(round->family(family), AccountKey(account),
                                    Padded(kStartBalance, 10));
        }
      }
    }
    for (int writer = 0; writer < arguments_.writers && status.ok(); ++writer) {
      status = transaction->Put(round->family(kCountersFamily), "writer" + std::to_string(writer),
                                Padded(0, 3));
    }
    if (status.ok()) status = transaction->Put(round->family(kCountersFamily), "all", Padded(0, 3));
    if (status.ok()) status = transaction->Commit();
    if (!status.ok()) round->Fail("fill: " + status.ToString());
  }

  void RunThreads(Round* round) {
    std::vector<std::unique_ptr<Thread>> threads;
    std::vector<Slot> slots(static_cast<size_t>(arguments_.writers));
    std::atomic<int> writers_left = arguments_.writers;
    const auto start = [&](const std::string& name, std::function<void()> body) {
      threads.push_back(std::make_unique<Thread>(name, std::move(body)));
    };
    for (int i = 0; i < arguments_.writers; ++i) {
      start("writer" + std::to_string(i), [&, i, seed = random_.Next()] {
        TransferWriter(round, &truth_, &slots[static_cast<size_t>(i)], i, seed)
            .Run(arguments_.transfers);
        writers_left.fetch_sub(1);
      });
    }
    for (int i = 0; i < kAuditors; ++i) {
      start("auditor", [round, seed = random_.Next()] { Auditor(round, seed).Run(); });
    }
    start("bulk", [this, round, seed = random_.Next()] { BulkWriter(round, &truth_, seed).Run(); });
    start("maintainer", [round, seed = random_.Next()] { Maintainer(round, seed).Run(); });
    Watch(round, &slots, writers_left);
    for (const auto& thread : threads) thread->Join();
  }

  // Interrupts a transaction now and then, shows progress, and ends the round: in time, or once the
  // writers have finished and the others have reached everything required.
  void Watch(Round* round, std::vector<Slot>* slots, const std::atomic<int>& writers_left) {
    RealClock clock;
    const uint64_t begin = clock.NowMicros();
    uint64_t shown = begin;
    while (!round->stopped()) {
      clock.SleepMicros(kTickUs);
      Slot& slot = (*slots)[random_.Uniform(slots->size())];
      {
        MutexLock lock(slot.mu);
        if (slot.transaction != nullptr) slot.transaction->Interrupt();
      }
      if (writers_left == 0 && ReachedAll(round->db()->GetStats())) round->Stop();
      const uint64_t now = clock.NowMicros();
      if (now - shown >= kProgressUs) {
        shown = now;
        std::printf("... ");
        Print();
      }
      if (arguments_.seconds != 0 &&
          now - begin >= arguments_.seconds * 1'000'000 / arguments_.rounds)
        round->Stop();
    }
  }

  const Arguments arguments_;
  Random random_;
  Truth truth_;
  Tally tally_;
};

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(
        stderr,
        "usage: stress_db [--seconds N | --transfers N] [--rounds N] [--writers N] [--seed N] "
        "[--directory DIR]\n");
    return 2;
  }
  const bool own_directory = arguments.directory.empty();
  if (own_directory) {
    std::string name = (std::filesystem::temp_directory_path() / "tidesdb-stress-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      std::perror("mkdtemp");
      return 1;
    }
    arguments.directory = name;
  }
  std::printf("seed %llu, directory %s\n", static_cast<unsigned long long>(arguments.seed),
              arguments.directory.c_str());
  Stress stress(arguments);
  const std::string wrong = stress.Run();
  if (!wrong.empty()) {
    std::printf("FAILED: %s\n", wrong.c_str());
    return 1;
  }
  stress.Print();
  if (!stress.ReachedAll()) {
    std::printf("FAILED: too short: something was never reached\n");
    return 1;
  }
  if (own_directory) std::filesystem::remove_all(arguments.directory);
  std::printf("all invariants held\n");
  return 0;
}

}  // namespace
}  // namespace tidesdb::stress

int main(int argc, char** argv) { return tidesdb::stress::Main(argc, argv); }
