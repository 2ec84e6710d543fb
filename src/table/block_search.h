// Searches in one valid block, without copying a key.
//
// Pure; REQUIRES of all: ValidateBlock said yes to the block.
// `global` replaces the sequence of every entry when it is not zero (TableReader::Open).
#pragma once

#include <cstdint>

#include "format/block_format.h"
#include "format/internal_key.h"
#include "tidesdb/slice.h"

namespace tidesdb {

inline Trailer EntryTrailer(const BlockView& block, const BlockEntry& entry,
                            SequenceNumber global) {
  const Trailer stored = block.TrailerOf(entry);
  return global == 0 ? stored : PackTrailer(global, TrailerType(stored));
}

// Follows the order of a target to the entries of a block in turn. Keys ascend, and an entry tells
// how much it shares with the one before: where that one differed from the target decides most
// entries without a look at their bytes. REQUIRES: starts at a restart, whose prefix of the block
// the target is known to have.
class EntryComparer {
 public:
  EntryComparer(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global)
      : block_(block), key_(key), trailer_(trailer), global_(global) {}

  // Negative, zero or positive, as the entry sorts before, at or after the target. is_restart: the
  // entry's `shared` says nothing about the one before.
  int Compare(const BlockEntry& entry, bool is_restart) {
    key_equal_ = false;
    if (is_restart) {
      matched_ = entry.shared;
    } else if (entry.shared != matched_) {
      return entry.shared > matched_ ? -1 : 1;
    }
    const Slice rest = key_.substr(matched_);
    const Slice suffix(entry.suffix, entry.unshared);
    const size_t common = CommonPrefixBytes(suffix, rest);
    matched_ += common;
    if (common < suffix.size() && common < rest.size()) {
      return static_cast<uint8_t>(suffix[common]) < static_cast<uint8_t>(rest[common]) ? -1 : 1;
    }
    if (suffix.size() != rest.size()) return suffix.size() < rest.size() ? -1 : 1;
    key_equal_ = true;
    const Trailer entry_trailer = EntryTrailer(block_, entry, global_);
    if (entry_trailer == trailer_) return 0;
    return entry_trailer > trailer_ ? -1 : 1;
  }

  // Whether the entry compared last has the target's key.
  bool key_equal() const { return key_equal_; }

 private:
  const BlockView& block_;
  const Slice key_;
  const Trailer trailer_;
  const SequenceNumber global_;
  size_t matched_ = 0;  // Leading bytes in which the entry compared last and the target agree.
  bool key_equal_ = false;
};

enum class PrefixOrder : uint8_t { kBefore, kInside, kAfter };

// Where a key lies against all keys of the block, as far as their common prefix tells.
PrefixOrder ComparePrefix(const BlockView& block, Slice key);

// The first restart >= (key, trailer), restart_count() if there is none: the first entry >= it is
// in the interval before, behind its restart, or else this restart. REQUIRES: ComparePrefix is
// kInside.
uint32_t FindRestart(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global);

// The first entry >= (key, trailer). False: there is none.
bool FindFirstAtOrAfter(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global,
                        BlockEntry* found);

// The first entry >= (key, trailer) if its key is `key`, by the hash index where the block has one.
// False: there is none.
bool FindVersion(const BlockView& block, Slice key, uint64_t key_hash, Trailer trailer,
                 SequenceNumber global, BlockEntry* found);

}  // namespace tidesdb
