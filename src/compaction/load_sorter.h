// Sorts the entries of a load outside of memory, into finished table files of one family.
//
// Entries gather in memory; full memory is sorted and written as a run. A run that begins behind the
// end of the one before continues it, so that input in order makes one run, which is the result.
// Else runs are merged, many at a time. The first run is written as the result is; those that come
// after it will not be the result, and are neither compressed nor made durable.
// Where a helper is free, it sorts and writes full memory while the next entries gather; each of the
// two has half of the memory then.
// Threads: one at a time; a helper of its own, which nobody else sees.
// Owns: the files, until Release().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/thread.h"
#include "compaction/table_output.h"
#include "version/version.h"

namespace tidesdb {

struct LoadSorterOptions {
  TableWriteOptions table;
  uint64_t target_file_bytes = 0;
  uint64_t memory_bytes = 0;
  std::function<Status(uint64_t entries_written)> on_written;  // May be empty.
  // MemoryBytes() has moved by so much, modulo 2^64. Returns whether memory is short: then less than
  // memory_bytes is used. May be empty.
  std::function<bool(uint64_t moved)> on_memory;
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
    return gathering_->Bytes() + (helper_ == nullptr ? full_->Bytes() : helper_bytes_);
  }
  uint64_t written() const { return written_; }  // Entries, to runs and to the result.
  const std::string& duplicate_key() const { return duplicate_key_; }
  const std::string& duplicate_value() const { return duplicate_value_; }

 private:
  struct Entry {
    // KeyHead of the key and of its part behind that, which decide most comparisons.
    uint64_t head;
    uint64_t second;
    const char* bytes;
    uint32_t key_bytes;
    uint32_t value_bytes;

    Slice key() const { return {bytes, key_bytes}; }
    Slice value() const { return {bytes + key_bytes, value_bytes}; }
    bool operator<(const Entry& other) const {
      if (head != other.head) return head < other.head;
      return second != other.second ? second < other.second : key() < other.key();
    }
  };
  struct Memory {
    Arena arena;
    std::vector<Entry> entries;

    Memory();
    uint64_t Bytes() const { return arena.MemoryUsage() + entries.capacity() * sizeof(Entry); }
    void Clear() {
      entries.clear();
      arena.Reset();
    }
  };
  struct Run {
    std::unique_ptr<TableOutput> output;
    std::string key_max;
    int merges = 0;       // That brought it together.
    bool result = false;  // Written as the result is.
  };

  // Writes what has gathered, here or by the helper.
  Status WriteFull();
  // Returns whether memory is short.
  bool TellMemory();
  // Writes early what has gathered, if memory is short.
  Status WriteIfCrowded();
  // Until the helper has done what it was given; its error.
  Status AwaitHelper();
  // full_, as a run. `look`: on this thread; on_written is not the helper's.
  Status WriteMemory(bool look);
  Status Look() const;
  // Runs that went through the same number of merges are merged when there are many of them.
  Status MergeIfMany();
  Status Write(Run* run, Slice key, Slice value, bool look);
  // Merges the runs from this one on into one. `last`: it is the result.
  Status MergeFrom(size_t first, bool last);
  Status Duplicate(Slice key, Slice value);
  Run NewRun(bool result) const;
  static FileList FilesOf(const Run& run);

  const JobContext* const context_;
  const LoadSorterOptions options_;
  std::unique_ptr<Memory> gathering_ = std::make_unique<Memory>();
  // The helper's while there is one, as is all that follows.
  std::unique_ptr<Memory> full_ = std::make_unique<Memory>();
  std::vector<Run> runs_;
  uint64_t written_ = 0;
  uint64_t helper_bytes_ = 0;  // Of full_, when the helper began.
  uint64_t memory_told_ = 0;
  std::string duplicate_key_;
  std::string duplicate_value_;
  Status helped_;                   // How the helper's work ended.
  std::unique_ptr<Thread> helper_;  // Null: nobody helps.
};

}  // namespace tidesdb
