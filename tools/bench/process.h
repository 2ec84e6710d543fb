// The operating system's figures of this process, and children that work in their own memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tools/bench/json.h"

namespace tidesdb::bench {

struct ProcessFacts {
  uint64_t resident_bytes = 0;       // Now.
  uint64_t resident_peak_bytes = 0;  // The most so far.
  uint64_t read_bytes = 0;           // From the disk.
  uint64_t written_bytes = 0;        // To the disk, or to the page cache on its way there.
  double cpu_seconds = 0;            // Of all threads.
};

ProcessFacts FactsOfThisProcess();

// The disk space of the files in a directory.
uint64_t DiskBytes(const std::string& directory);

// Whether files in this directory can bypass the page cache.
bool HasDirectIo(const std::string& directory);

// Runs `work` in a fork and returns its result; nothing if it failed, after its message.
// REQUIRES: this process has one thread.
std::optional<Json> RunInChild(const std::function<Json()>& work);

}  // namespace tidesdb::bench
