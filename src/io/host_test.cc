#include "io/host.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "io/cgroup.h"
#include "io/env.h"

namespace tidesdb {
namespace {

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/tidesdb_cgroup_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }

  std::string root_;
};

TEST_F(CgroupTest, NothingToReadMeansNoLimit) {
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_EQ(limits.memory_bytes, UINT64_MAX);
  EXPECT_GT(limits.cpus, 1e6);
}

TEST_F(CgroupTest, V2TakesTheTightestOnTheWayUp) {
  Put("/proc/self/cgroup", "0::/system.slice/mariadb.service\n");
  Put("/sys/fs/cgroup/system.slice/mariadb.service/memory.max", "max\n");
  Put("/sys/fs/cgroup/system.slice/mariadb.service/cpu.max", "max 100000\n");
  Put("/sys/fs/cgroup/system.slice/memory.max", "1073741824\n");
  Put("/sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_EQ(limits.memory_bytes, 1073741824u);
  EXPECT_DOUBLE_EQ(limits.cpus, 1.5);
}

TEST_F(CgroupTest, V2InAContainerReadsTheRoot) {
  Put("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
  Put("/sys/fs/cgroup/memory.max", "536870912\n");
  EXPECT_EQ(ReadCgroupLimits(root_).memory_bytes, 536870912u);
}

TEST_F(CgroupTest, V1) {
  Put("/proc/self/cgroup", "4:memory:/box\n2:cpu,cpuacct:/box\n0::/\n");
  Put("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "268435456\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  Put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_EQ(limits.memory_bytes, 268435456u);
  EXPECT_DOUBLE_EQ(limits.cpus, 0.5);
}

TEST(HostTest, TheMachineHasSomething) {
  EXPECT_GE(NumCpus(), 1u);
  EXPECT_GT(MemoryLimitBytes(), 1u << 20);
  EXPECT_LT(MemoryLimitBytes(), UINT64_MAX);
}

TEST(EnvTest, DefaultIsTheRealWorld) {
  Env* env = Env::Default();
  EXPECT_EQ(env, Env::Default());
  EXPECT_TRUE(env->is_real);
  EXPECT_EQ(env->cpus, NumCpus());
  EXPECT_TRUE(*env->fs->Exists("/"));
  const uint64_t before_us = env->clock->NowMicros();
  env->clock->SleepMicros(10);
  EXPECT_GE(env->clock->NowMicros(), before_us + 10);
}

}  // namespace
}  // namespace tidesdb
