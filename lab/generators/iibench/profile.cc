#include "lab/generators/iibench/profile.h"

#include <algorithm>
#include <cmath>

namespace tidesdb::lab::iibench {
namespace {

std::vector<std::string> AllPhases() {
  return {"l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"};
}

Sizes Small() {
  Sizes sizes;
  sizes.phases = AllPhases();
  sizes.load_rows = 1'000'000;
  sizes.i1_rows = 400'000;
  sizes.i2_rows = 100'000;
  sizes.query_seconds = 60;
  return sizes;
}

// The sizes of cl.repro.sh, the script named by issue #122 of the seeds.
Sizes Issue122() {
  Sizes sizes;
  sizes.phases = AllPhases();
  sizes.load_rows = 10'000'000;
  sizes.i1_rows = 16'000'000;
  sizes.i2_rows = 4'000'000;
  sizes.query_seconds = 1800;
  return sizes;
}

// Seed 001 shows only its first write step.
Sizes Seed001Deletes() {
  Sizes sizes = Issue122();
  sizes.phases = {"l.i0", "l.x", "l.i1"};
  return sizes;
}

}  // namespace

const std::vector<Profile>& Profiles() {
  static const std::vector<Profile> profiles = {
      {"small", "all steps, 1M rows loaded, a minute of each kind of query", Small()},
      {"issue-122", "all steps, 10M rows loaded, 16M and 4M churned, half an hour of each query",
       Issue122()},
      {"seed-001-deletes", "l.i1 of issue-122: 10M rows loaded, 16M inserted and deleted, 50 each",
       Seed001Deletes()}};
  return profiles;
}

Outcome ResolveSizes(const std::string& profile, double scale, const GivenSizes& given,
                     Sizes* sizes) {
  const auto found = std::find_if(Profiles().begin(), Profiles().end(),
                                  [&](const Profile& known) { return known.name == profile; });
  if (found == Profiles().end()) {
    std::string names;
    for (const Profile& known : Profiles()) {
      names += names.empty() ? "" : ", ";
      names += known.name;
    }
    return Outcome::Fail("--profile: '" + profile + "' is unknown; known are " + names);
  }
  *sizes = found->sizes;
  for (int64_t* rows : {&sizes->load_rows, &sizes->i1_rows, &sizes->i2_rows}) {
    *rows = std::max<int64_t>(1, std::llround(static_cast<double>(*rows) * scale));
  }
  for (const auto& set : given) set(sizes);
  return {};
}

}  // namespace tidesdb::lab::iibench
