// One history under many option sets gives one answer.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/test_seed.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "metamorphic/run.h"

namespace tidesdb::metamorphic {
namespace {

constexpr uint64_t kHistories = SerialRounds(10);
constexpr uint64_t kSteps = 1'200;

// In memory, because the machine's disk would take most of the time.
std::vector<std::string> RunInMemory(const OptionSet& set, uint64_t seed) {
  MemFs fs;
  RealClock clock;
  Env env;
  env.fs = &fs;
  env.clock = &clock;
  return Run(set, seed, kSteps, &env);
}

TEST(Metamorphic, OneHistoryUnderManyOptionsHasOneAnswer) {
  const uint64_t first_seed = TestSeed(1);
  const std::vector<OptionSet> sets = OptionSets();
  for (uint64_t seed = first_seed; seed < first_seed + kHistories; ++seed) {
    const std::vector<std::string> wanted = RunInMemory(sets[0], seed);
    ASSERT_GT(wanted.size(), kSteps / 2) << wanted.back();
    for (size_t i = 1; i < sets.size(); ++i) {
      const std::vector<std::string> said = RunInMemory(sets[i], seed);
      for (size_t line = 0; line < wanted.size() && line < said.size(); ++line) {
        ASSERT_EQ(said[line], wanted[line])
            << "TIDESDB_SEED=" << seed << ", line " << line << ", with " << sets[i].name;
      }
      ASSERT_EQ(said.size(), wanted.size()) << "TIDESDB_SEED=" << seed << ", " << sets[i].name;
    }
  }
}

// Otherwise an equal answer would prove little.
TEST(Metamorphic, HistoriesMeetWhatTheyAreFor) {
  uint64_t conflicts = 0;
  uint64_t waits = 0;
  uint64_t commits = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const std::string& line : RunInMemory(OptionSets()[0], seed)) {
      conflicts += line.ends_with("Conflict");
      waits += line.ends_with("Timed out");
      commits += line.starts_with("commit");
    }
  }
  EXPECT_GT(conflicts, 10U);
  EXPECT_GT(waits, 10U);
  EXPECT_GT(commits, 100U);
}

}  // namespace
}  // namespace tidesdb::metamorphic
