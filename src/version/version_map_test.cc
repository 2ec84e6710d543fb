#include "version/version_map.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "version/version_test_util.h"

namespace tidesdb {
namespace {

VersionRef MakeVersion(FamilyId id) {
  auto info = std::make_shared<const FamilyInfo>(FamilyInfo{id, {}});
  return std::make_shared<const Version>(std::move(info), Version::Levels(), nullptr);
}

std::vector<FamilyId> Ids(const VersionMap& map) {
  std::vector<FamilyId> ids;
  map.ForEach([&ids](const VersionRef& version) { ids.push_back(version->family()); });
  return ids;
}

TEST(VersionMap, BehavesAsAMapAndOldCopiesStay) {
  const uint64_t seed = TestSeed(1);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  Random random(seed);
  VersionMap map;
  std::map<FamilyId, VersionRef> model;
  for (int step = 0; step < 1000; ++step) {
    const auto id = static_cast<FamilyId>(random.Skewed(32));
    const VersionMap before = map;
    const auto model_before = model;
    if (random.OneIn(3)) {
      map = map.With(id, nullptr);
      model.erase(id);
    } else {
      const VersionRef version = MakeVersion(id);
      map = map.With(id, version);
      model[id] = version;
    }
    ASSERT_EQ(map.size(), model.size());
    ASSERT_EQ(before.size(), model_before.size());
    const auto old = model_before.find(id);
    ASSERT_EQ(before.Get(id), old == model_before.end() ? nullptr : old->second);
    if (step % 100 != 0) continue;
    std::vector<FamilyId> ids;
    for (const auto& [family, version] : model) {
      ids.push_back(family);
      ASSERT_EQ(map.Find(family), version.get());
    }
    ASSERT_EQ(Ids(map), ids);
  }
}

TEST(VersionMap, HoldsTheHighestIds) {
  VersionMap map;
  EXPECT_EQ(map.Find(0), nullptr);
  EXPECT_EQ(map.Find(UINT32_MAX), nullptr);
  map = map.With(0, MakeVersion(0)).With(UINT32_MAX, MakeVersion(UINT32_MAX));
  EXPECT_EQ(Ids(map), (std::vector<FamilyId>{0, UINT32_MAX}));
  map = map.With(UINT32_MAX, nullptr);
  EXPECT_EQ(map.Find(UINT32_MAX), nullptr);
  EXPECT_NE(map.Find(0), nullptr);
}

}  // namespace
}  // namespace tidesdb
