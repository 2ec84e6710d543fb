// What the tests of this room share: keys, versions, files and iterators made from text.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/internal_iter.h"
#include "io/mem_fs.h"
#include "lsm/job_context.h"
#include "lsm/version.h"

namespace tidesdb {

// TIDESDB_SEED, or 1.
uint64_t TestSeed();

// "P30", "D20", "S10" and back.
Trailer ParseVersion(const std::string& text);
std::string DescribeVersion(Trailer trailer);

struct TestEntry {
  std::string key;
  Trailer trailer = 0;
  std::string value;

  friend bool operator==(const TestEntry&, const TestEntry&) = default;
};

// Sorts as iterators do.
void SortEntries(std::vector<TestEntry>* entries);

// Over a vector, with an error after so many entries if `fail_after` is not negative.
std::unique_ptr<InternalIterator> NewVectorIterator(std::vector<TestEntry> entries,
                                                    int fail_after = -1);

// "key:P30" for each entry, forward from the first.
std::string ReadAll(InternalIterator* iter);

// A file that is nowhere on disk.
FileRef FakeFile(FileRecord record);

// Writes a table file. REQUIRES: entries are sorted and not empty.
FileRecord WriteTable(const JobContext& context, FamilyId family,
                      const std::vector<TestEntry>& entries, uint64_t number);

}  // namespace tidesdb
