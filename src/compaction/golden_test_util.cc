#include "compaction/golden_test_util.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tidesdb {

void RunGolden(const std::string& file, const std::function<std::string(const GoldenCase&)>& run) {
  const std::string path = std::string(TIDESDB_COMPACTION_TESTDATA) + "/" + file;
  std::ifstream in(path);
  ASSERT_TRUE(in.good()) << path;
  const bool rewrite = std::getenv("TIDESDB_REWRITE") != nullptr;
  std::ostringstream out;
  std::string line;
  GoldenCase current;
  size_t cases = 0;
  while (std::getline(in, line)) {
    if (line.rfind("== ", 0) == 0) current = {line.substr(3), {}};
    if (line != "----") {
      out << line << "\n";
      if (!line.empty() && line[0] != '#' && line[0] != '=') current.input.push_back(line);
      continue;
    }
    out << "----\n";
    std::string expected;
    while (std::getline(in, line) && !line.empty()) expected += line + "\n";
    const std::string actual = run(current);
    out << actual << "\n";
    ++cases;
    if (!rewrite) {
      EXPECT_EQ(actual, expected) << file << ": " << current.name;
    }
  }
  EXPECT_GT(cases, 0u);
  if (rewrite) std::ofstream(path) << out.str();
}

}  // namespace tidesdb
