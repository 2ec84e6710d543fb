// An in-memory disk that knows for every file and directory what a power cut can no longer lose.
// Private to src/io; MemFs adds calls, locks and faults.
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
// Invariant: `durable` with all changes in `pending` equals `current`, except for changes that a
//   failed sync has doomed.
class MemInode {
 public:
  const std::string& current() const { return current_; }
  uint64_t size() const { return current_.size(); }
  // The bytes it takes on the disk, including reserved ones.
  uint64_t disk_bytes() const { return std::max<uint64_t>(current_.size(), reserved_bytes_); }

  void Write(uint64_t offset, Slice data);
  void Resize(uint64_t size);
  void Reserve(uint64_t bytes) { reserved_bytes_ = std::max(reserved_bytes_, bytes); }

  // A sync takes time: changes up to BeginSync's result are durable after EndSync.
  uint64_t BeginSync() const { return change_count_; }
  void EndSync(uint64_t begun);
  // A failed sync: the generator decides which of its changes no later sync can save.
  void FailSync(uint64_t begun, Random* random);

  // Changes one byte of current and durable contents, like a bad medium.
  void Flip(uint64_t offset, uint8_t mask);

  // The possible states after a power cut.
  enum class Loss : uint8_t { kAll, kNothing, kRandom };
  std::string AfterPowerCut(Loss loss, Random* random) const;

  // A file with these contents, all durable.
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

// The target of a name: a file or a directory; neither means "no such name".
struct MemNode {
  std::shared_ptr<MemInode> file;
  std::shared_ptr<MemDir> dir;

  bool exists() const { return file != nullptr || dir != nullptr; }
  const void* id() const { return file ? static_cast<const void*>(file.get()) : dir.get(); }
};

// A directory. Each change is atomic. Changes since the last Sync may be lost independently, but a
// later change of a file never survives without the earlier ones of that file.
class MemDir : public std::enable_shared_from_this<MemDir> {
 public:
  using Entries = std::map<std::string, MemNode, std::less<>>;

  const Entries& entries() const { return current_; }
  MemNode Find(Slice name) const;

  // Adds or replaces a name.
  void Set(const std::string& name, const MemNode& node);
  void Erase(const std::string& name);
  // One atomic change: `from` disappears from its directory and `to` appears in this one.
  void MoveHere(MemDir* from_dir, const std::string& from, const std::string& to);
  // As for files: changes up to BeginSync's result are durable after EndSync.
  uint64_t BeginSync() const { return change_count_; }
  void EndSync(uint64_t begun);

  // A copy of the tree below this directory after a possible power cut, all of it durable.
  std::shared_ptr<MemDir> AfterPowerCut(Random* random) const;
  // A copy of the current tree, all of it durable.
  std::shared_ptr<MemDir> Copy() const;

 private:
  friend class MemCrash;

  struct Change {
    uint64_t number = 0;  // Counts from 1 in each directory.
    std::string name;
    MemNode node;  // The target of name or, if erased, the former target.
    bool erased = false;
    std::weak_ptr<MemDir> from_dir;  // Of a move.
    std::string from_name;
  };

  // Applies a change to the entries of this directory and, for a move, of the source directory.
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
