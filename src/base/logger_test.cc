#include "base/logger.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidesdb {
namespace {

TEST(LoggerTest, PassesOnWhatIsAtLeastTheLevel) {
  CapturingLogSink sink;
  Logger logger(&sink, LogLevel::kWarn);
  logger.Log(LogLevel::kInfo, "quiet");
  logger.Log(LogLevel::kError, "loud");
  LogF(&logger, LogLevel::kWarn, "%s %d", "number", 7);
  EXPECT_EQ(sink.Messages(), (std::vector<std::string>{"ERROR loud", "WARN number 7"}));
  logger.SetLevelMin(LogLevel::kDebug);
  LogF(&logger, LogLevel::kDebug, "%s", std::string(5000, 'x').c_str());
  EXPECT_TRUE(sink.Contains(std::string(5000, 'x')));
  logger.SetLevelMin(LogLevel::kNone);
  EXPECT_FALSE(logger.Wants(LogLevel::kFatal));
}

TEST(LoggerTest, NobodyNeedListen) {
  LogF(nullptr, LogLevel::kFatal, "nothing");
  Logger deaf(nullptr, LogLevel::kDebug);
  LogF(&deaf, LogLevel::kFatal, "nothing");
  EXPECT_FALSE(deaf.Wants(LogLevel::kFatal));
}

}  // namespace
}  // namespace tidesdb
