// Searches in one valid block, without copying a key.
//
// Pure; REQUIRES of all: ValidateBlock accepted the block. A non-zero `global` replaces the
// sequence of every entry (TableReader::Open).
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

// Compares a target with the entries of a block in turn. Keys ascend, and an entry says how much it
// shares with the previous one: the place where that one differed from the target decides most
// comparisons without reading bytes.
// REQUIRES: starts at a restart, and the target has the block's prefix.
class EntryComparer {
 public:
  EntryComparer(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global)
      : block_(block), key_(key), trailer_(trailer), global_(global) {}

  // Negative, zero or positive, as the entry sorts before, at or after the target. is_restart: the
  // entry's `shared` does not refer to the previous entry.
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

  // Whether the last compared entry has the target's key.
  bool key_equal() const { return key_equal_; }

 private:
  const BlockView& block_;
  const Slice key_;
  const Trailer trailer_;
  const SequenceNumber global_;
  size_t matched_ = 0;  // Leading bytes that the last compared entry and the target share.
  bool key_equal_ = false;
};

enum class PrefixOrder : uint8_t { kBefore, kInside, kAfter };

// The order of a key relative to all keys of the block, as far as their common prefix decides it.
PrefixOrder ComparePrefix(const BlockView& block, Slice key);

// The first restart >= (key, trailer), or restart_count() if there is none. The first entry >= it
// is in the previous interval, after its restart, or else is this restart.
// REQUIRES: ComparePrefix is kInside.
uint32_t FindRestart(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global);

// The first entry >= (key, trailer). False if there is none.
bool FindFirstAtOrAfter(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global,
                        BlockEntry* found);

// The first entry >= (key, trailer) if its key is `key`; uses the block's hash index if it has one.
// False if there is none.
bool FindVersion(const BlockView& block, Slice key, uint64_t key_hash, Trailer trailer,
                 SequenceNumber global, BlockEntry* found);

}  // namespace tidesdb
