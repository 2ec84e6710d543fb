// Text cases for tests: a file of inputs and expected outputs, compared or, on request, rewritten.
//
// A case is a name line "== name", input lines, a line "----", and the expected output up to a
// blank line. Lines before the first case, and blank lines between cases, are kept.
// TIDESDB_REWRITE=1 writes the actual output into the source tree; review the diff.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tidesdb {

struct GoldenCase {
  std::string name;
  std::vector<std::string> input;  // Lines, without those that begin with '#'.
};

// `file`: in src/compaction/testdata. `run` returns the output: lines that end in '\n', none empty.
void RunGolden(const std::string& file, const std::function<std::string(const GoldenCase&)>& run);

}  // namespace tidesdb
