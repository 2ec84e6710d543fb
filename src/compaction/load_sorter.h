// Sorts the entries of a load on disk, into finished table files of one family.
//
// Entries collect in memory; full memory is sorted and written as a run. A run that begins after the end of the
// previous one continues it, so sorted input makes one run, which is the result. Otherwise runs are merged, many at
// a time. The first run is written like a result; later ones will not be the result, so they are neither compressed
// nor made durable, and stay in the system's page cache.
// If a helper is free, it sorts and writes full memory while the next entries collect; each of the two then has
// half of the memory. In a merge the helper merges the upper half of the keys.
// Threads: one at a time; it has a private helper thread.
// Owns: the files, until Release().
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "compaction/table_output.h"
#include "io/mapped_memory.h"
#include "version/level_iter.h"
#include "version/version.h"

namespace tidesdb {

struct LoadSorterOptions {
  TableWriteOptions table;
  uint64_t target_file_bytes = 0;
  uint64_t memory_bytes = 0;
  std::function<Status(uint64_t entries_written)> on_written;  // May be empty.
  // MemoryBytes() has changed by `moved`, modulo 2^64. Returns whether memory is short: then less than memory_bytes
  // is used. May be empty.
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

  // Errors: kAlreadyExists (a key occurs twice), those of writing files and of on_written.
  Status Add(Slice key, Slice value);
  // Makes the files complete, durable and ascending; entries have sequence 0. Call once, after the last Add.
  Status Finish();
  // After Finish, before Release: whether the key exists, and its value. Errors: those of reading.
  Result<bool> Find(Slice key, std::string* value) const;
  // After Finish.
  std::vector<FileRecord> Release();

  // Of entries that are not in a file yet.
  uint64_t MemoryBytes() const {
    return gathering_->Bytes() + (helper_ == nullptr ? full_->Bytes() : helper_bytes_);
  }
  uint64_t written() const { return written_; }  // Entries written to runs and to the result.
  const std::string& duplicate_key() const { return duplicate_key_; }
  const std::string& duplicate_value() const { return duplicate_value_; }

 private:
  struct Entry {
    // KeyHead of the key and of the rest after it; they decide most comparisons.
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
  using Entries = std::vector<Entry, BufferAllocator<Entry>>;
  struct Memory {
    Arena arena;
    Entries entries;

    Memory();
    uint64_t Bytes() const { return arena.MemoryUsage() + entries.capacity() * sizeof(Entry); }
    void Clear() {
      entries.clear();
      arena.Reset();
    }
  };
  struct Run {
    std::vector<std::unique_ptr<TableOutput>> outputs;  // Ascending.
    std::string key_max;
    int merges = 0;       // The number that produced it.
    bool result = false;  // Written like a result.
  };
  // A run that is merged.
  struct Input {
    FileList files;
    Readers readers;
  };
  // The part of a merge that one thread does: the keys of [lower, upper); empty: no bound.
  struct Share {
    std::string lower;
    std::string upper;
    std::unique_ptr<TableOutput> output;
    std::string key_max;
    bool has_duplicate = false;         // Of key_max.
    std::string duplicate;              // Its other value.
    std::atomic<uint64_t> written = 0;  // Entries; at most a thousand behind.
    Mutex mutex;
    CondVar ended;
    bool has_ended GUARDED_BY(mutex) = false;
  };

  // Writes the collected entries, here or with the helper.
  Status WriteFull();
  // Returns whether memory is short.
  bool TellMemory();
  // Writes the collected entries early if memory is short.
  Status WriteIfCrowded();
  // Waits until the helper has finished; returns its error.
  Status AwaitHelper();
  // Writes full_ as a run. `look`: on this thread, because the helper must not call on_written.
  Status WriteMemory(bool look);
  Status Look(uint64_t written) const;
  // A key near the middle of the written keys; "" if there are too few.
  std::string MiddleKey() const;
  void NoteKey(Slice key);
  // Merges runs with the same number of merges if there are many.
  Status MergeIfMany();
  Status Write(TableOutput* output, Slice key, Slice value) const;
  // Merges the runs from this one on into one. `last`: the result.
  Status MergeFrom(size_t first, bool last);
  // `look`: as WriteMemory's.
  Status MergeShare(const std::vector<Input>& inputs, Share* share, bool look);
  // Merges the lower share while the helper merges the upper one.
  Status MergeBoth(const std::vector<Input>& inputs, Share* lower, Share* upper);
  // Waits until the helper has merged its share. `written`: entries of this thread, for on_written, whose error ends
  // the wait.
  Status AwaitShare(Share* share, uint64_t written);
  Status Duplicate(Slice key, Slice value);
  std::unique_ptr<TableOutput> NewOutput(bool result) const;
  static FileList FilesOf(const Run& run);
  static Status FinishFiles(Run* run);

  const JobContext* const context_;
  const LoadSorterOptions options_;
  std::unique_ptr<Memory> gathering_ = std::make_unique<Memory>();
  // Used by the helper while there is one, like all members after it.
  std::unique_ptr<Memory> full_ = std::make_unique<Memory>();
  std::vector<Run> runs_;
  uint64_t written_ = 0;
  // A sample of the written keys, in any order: every sample_every_th.
  std::vector<std::string> samples_;
  uint64_t sample_every_;
  std::atomic<bool> give_up_ = false;  // The helper ends its share of a merge.
  uint64_t helper_bytes_ = 0;          // Of full_, when the helper began.
  uint64_t memory_told_ = 0;
  std::string duplicate_key_;
  std::string duplicate_value_;
  Status helped_;                   // The result of the helper's work.
  std::unique_ptr<Thread> helper_;  // Null: no helper.
};

}  // namespace tidesdb
