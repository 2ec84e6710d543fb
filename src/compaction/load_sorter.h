// Sorts the entries of a load outside of memory, into finished table files of one family.
//
// Entries gather in memory; full memory is sorted and written as a run. A run that begins behind the
// end of the one before continues it, so that input in order makes one run, which is the result.
// Else runs are merged, many at a time.
// Threads: one at a time.
// Owns: the files, until Release().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "compaction/table_output.h"
#include "version/version.h"

namespace tidesdb {

struct LoadSorterOptions {
  TableWriteOptions table;
  uint64_t target_file_bytes = 0;
  uint64_t memory_bytes = 0;
  std::function<Status(uint64_t entries_written)> on_written;  // May be empty.
};

class LoadSorter {
 public:
  // `context` outlives this.
  LoadSorter(const JobContext* context, LoadSorterOptions options);
  // Deletes the files that were not released.
  ~LoadSorter();
  LoadSorter(const LoadSorter&) = delete;
  LoadSorter& operator=(const LoadSorter&) = delete;

  // Errors: kAlreadyExists (a key is there twice), what writing files says, on_written's.
  Status Add(Slice key, Slice value);
  // The files are whole, durable and ascending; entries have sequence 0. Once, after the last Add.
  Status Finish();
  // After Finish, before Release: whether the key is there, and its value. Errors: of reading.
  Result<bool> Find(Slice key, std::string* value) const;
  // After Finish.
  std::vector<FileRecord> Release();

  // Of entries that are not in a file yet.
  uint64_t MemoryBytes() const {
    return arena_.MemoryUsage() + entries_.capacity() * sizeof(Entry);
  }
  uint64_t written() const { return written_; }  // Entries, to runs and to the result.
  const std::string& duplicate_key() const { return duplicate_key_; }
  const std::string& duplicate_value() const { return duplicate_value_; }

 private:
  struct Entry {
    uint64_t head;  // KeyHead, which decides most comparisons.
    const char* bytes;
    uint32_t key_bytes;
    uint32_t value_bytes;

    Slice key() const { return {bytes, key_bytes}; }
    Slice value() const { return {bytes + key_bytes, value_bytes}; }
    bool operator<(const Entry& other) const {
      return head != other.head ? head < other.head : key() < other.key();
    }
  };
  struct Run {
    std::unique_ptr<TableOutput> output;
    std::string key_max;
    int merges = 0;  // That brought it together.
  };

  Status WriteMemory();
  Status Write(Run* run, Slice key, Slice value);
  // Merges the runs from this one on into one.
  Status MergeFrom(size_t first);
  Status Duplicate(Slice key, Slice value);
  Run NewRun() const;
  static FileList FilesOf(const Run& run);

  const JobContext* const context_;
  const LoadSorterOptions options_;
  Arena arena_;
  std::vector<Entry> entries_;
  std::vector<Run> runs_;
  uint64_t written_ = 0;
  std::string duplicate_key_;
  std::string duplicate_value_;
};

}  // namespace tidesdb
