// What the clients of a simulated database were told, and what the database must contain after a
// crash.
//
// Threads: one at a time (the simulation runs one; Begin, Acked and Failed are called between
//   scheduling points).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidesdb::simtest {

using FamilyKey = std::pair<int, std::string>;  // Index of the family, key.
using Contents = std::map<FamilyKey, std::string>;
using Writes = std::map<FamilyKey, std::optional<std::string>>;  // Nothing: deleted.

class History {
 public:
  // How many acknowledged commits recovery must keep.
  enum class Promise : uint8_t {
    kAll,     // A killed process, or FULL before a power cut.
    kPrefix,  // A power cut with NONE or INTERVAL.
  };

  // A commit is about to be requested; returns its ticket.
  size_t Begin(Writes writes);
  // Commit() returned OK at this sequence.
  void Acked(size_t ticket, uint64_t sequence);
  // Commit() returned an error that leaves the outcome open (in_doubt), or that says nothing was
  // done.
  void Failed(size_t ticket, bool in_doubt);

  // Recovery found it prepared and not committed, which is right here: it never happened.
  void FoundPrepared(size_t ticket);

  // Compares the recovered contents, whose newest commit is `last_sequence`, with the possible
  // ones; returns the fault, or nothing. Then continues from the recovered state.
  std::string CheckRecovered(const Contents& found, uint64_t last_sequence, Promise promise);
  // The same while the database is open and idle: every acknowledged commit is there.
  std::string CheckQuiet(const Contents& found, uint64_t last_sequence) {
    return CheckRecovered(found, last_sequence, Promise::kAll);
  }

  // In this life: the start, and every acknowledged commit with a sequence up to this one.
  Contents ContentsAt(uint64_t sequence) const;

  uint64_t acked() const { return acked_total_; }
  uint64_t in_doubt_kept() const { return in_doubt_kept_; }

 private:
  struct Commit {
    Writes writes;
    std::optional<uint64_t> sequence;  // Acknowledged.
    bool open = true;                  // Neither acknowledged nor known to have failed.
  };

  static void Apply(const Writes& writes, Contents* contents);

  Contents base_;                // At the start of this life of the database.
  std::vector<Commit> commits_;  // Of this life.
  uint64_t acked_total_ = 0;
  uint64_t in_doubt_kept_ = 0;
};

// The first few differences, for messages.
std::string Difference(const Contents& wanted, const Contents& found);

}  // namespace tidesdb::simtest
