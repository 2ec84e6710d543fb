// A disk in memory that knows, for every file and directory, what a power cut cannot take any more.
// Private to src/io; MemFs puts calls, locks and faults around it.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "tidesdb/slice.h"

namespace tidesdb {

// A file's contents.
// Invariant: durable with every change in pending applied is current, but for changes that a failed
//   sync has doomed.
class MemInode {
 public:
  const std::string& current() const { return current_; }
  uint64_t size() const { return current_.size(); }
  // Bytes it takes up on the disk, including what is reserved.
  uint64_t disk_bytes() const { return std::max<uint64_t>(current_.size(), reserved_bytes_); }

  void Write(uint64_t offset, Slice data);
  void Resize(uint64_t size);
  void Reserve(uint64_t bytes) { reserved_bytes_ = std::max(reserved_bytes_, bytes); }

  // A sync takes time: what was changed up to BeginSync's answer is durable after EndSync.
  uint64_t BeginSync() const { return change_count_; }
  void EndSync(uint64_t begun);
  // A failed sync: of what it covered, the generator decides what no later sync will save.
  void FailSync(uint64_t begun, Random* random);

  // Changes one byte of current and durable contents, as a bad medium does.
  void Flip(uint64_t offset, uint8_t mask);

  // What may be found after a power cut.
  enum class Loss : uint8_t { kAll, kNothing, kRandom };
  std::string AfterPowerCut(Loss loss, Random* random) const;

  // A file that holds contents, all durable.
  static std::shared_ptr<MemInode> Durable(std::string contents);

 private:
  struct Change {
    uint64_t number = 0;  // Counts from 1 in each file.
    bool is_resize = false;
    bool doomed = false;
    uint64_t offset = 0;  // Of a write; the new size for a resize.
    std::string data;
  };

  static void Apply(const Change& change, std::string* contents);
  static void ApplyWrite(uint64_t offset, Slice data, std::string* contents);
  void AfterOrderedLoss(Random* random, std::string* contents) const;
  void AfterReorderedLoss(Random* random, std::string* contents) const;

  std::string current_;
  std::string durable_;
  std::vector<Change> pending_;
  uint64_t change_count_ = 0;
  uint64_t reserved_bytes_ = 0;
};

class MemDir;

// What a name stands for: a file or a directory; neither for "no such name".
struct MemNode {
  std::shared_ptr<MemInode> file;
  std::shared_ptr<MemDir> dir;

  bool exists() const { return file != nullptr || dir != nullptr; }
  const void* id() const { return file ? static_cast<const void*>(file.get()) : dir.get(); }
};

// A directory. Each change is atomic; those since the last Sync may be lost one by one, but of the
// changes that concern one file a later one never survives an earlier one.
class MemDir : public std::enable_shared_from_this<MemDir> {
 public:
  using Entries = std::map<std::string, MemNode, std::less<>>;

  const Entries& entries() const { return current_; }
  MemNode Find(Slice name) const;

  // Adds or replaces a name.
  void Set(const std::string& name, const MemNode& node);
  void Erase(const std::string& name);
  // One atomic change: from leaves its directory, to appears in this one.
  void MoveHere(MemDir* from_dir, const std::string& from, const std::string& to);
  // As for files: what was changed up to BeginSync's answer is durable after EndSync.
  uint64_t BeginSync() const { return change_count_; }
  void EndSync(uint64_t begun);

  // A copy of the tree below this directory as a power cut may leave it, all of it durable.
  std::shared_ptr<MemDir> AfterPowerCut(Random* random) const;
  // A copy of the tree as it is now, all of it durable.
  std::shared_ptr<MemDir> Copy() const;

 private:
  friend class MemCrash;

  struct Change {
    uint64_t number = 0;  // Counts from 1 in each directory.
    std::string name;
    MemNode node;  // What appears under name, or, when erased, what disappears.
    bool erased = false;
    std::weak_ptr<MemDir> from_dir;  // Of a move.
    std::string from_name;
  };

  // Applies a change to the entries of this directory and, for a move, of where it came from.
  static void Apply(const Change& change, Entries* entries, Entries* from_entries);
  static void EraseIfSame(const std::string& name, const void* id, Entries* entries);
  void AddPending(Change change);
  void MakeDurable(const Change& change);

  Entries current_;
  Entries durable_;
  std::vector<Change> pending_;
  uint64_t change_count_ = 0;
};

}  // namespace tidesdb
