#include "table/block_search.h"

#include <algorithm>
#include <cstring>

namespace tidesdb {

namespace {

// The first entry of an interval that is not before the comparer's target; false if there is none.
bool ScanInterval(const BlockView& block, uint32_t interval, EntryComparer* comparer,
                  BlockEntry* found) {
  const char* p = block.Restart(interval);
  const char* const end = block.RestartEnd(interval);
  bool is_restart = true;
  while (p < end) {
    *found = DecodeTrustedEntry(p);
    if (comparer->Compare(*found, is_restart) >= 0) return true;
    is_restart = false;
    p = found->end();
  }
  return false;
}

}  // namespace

PrefixOrder ComparePrefix(const BlockView& block, Slice key) {
  const Slice prefix = block.prefix();
  const size_t n = std::min(prefix.size(), key.size());
  const int order = n == 0 ? 0 : std::memcmp(key.data(), prefix.data(), n);
  if (order != 0) return order < 0 ? PrefixOrder::kBefore : PrefixOrder::kAfter;
  return key.size() < prefix.size() ? PrefixOrder::kBefore : PrefixOrder::kInside;
}

uint32_t FindRestart(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global) {
  const uint64_t head = KeyHead(key.substr(block.prefix().size()));
  // The first restart whose head is not below the target's, without a branch that could be
  // mispredicted.
  uint32_t low = 0;
  uint32_t count = block.restart_count();
  while (count > 0) {
    const uint32_t half = count / 2;
    const bool below = block.Head(low + half) < head;
    low = below ? low + half + 1 : low;
    count = below ? count - half - 1 : half;
  }
  // Heads do not distinguish between restarts with the target's head: compare their keys.
  if (low < block.restart_count() && block.Head(low) == head) {
    uint32_t high = low;
    while (high < block.restart_count() && block.Head(high) == head) ++high;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      EntryComparer comparer(block, key, trailer, global);
      if (comparer.Compare(DecodeTrustedEntry(block.Restart(middle)), true) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  return low;
}

bool FindFirstAtOrAfter(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global,
                        BlockEntry* found) {
  if (block.empty()) return false;
  switch (ComparePrefix(block, key)) {
    case PrefixOrder::kBefore:
      *found = DecodeTrustedEntry(block.entries());
      return true;
    case PrefixOrder::kAfter:
      return false;
    case PrefixOrder::kInside:
      break;
  }
  const uint32_t restart = FindRestart(block, key, trailer, global);
  if (restart > 0 && !block.only_restarts()) {
    EntryComparer comparer(block, key, trailer, global);
    if (ScanInterval(block, restart - 1, &comparer, found)) return true;
  }
  if (restart == block.restart_count()) return false;
  *found = DecodeTrustedEntry(block.Restart(restart));
  return true;
}

bool FindVersion(const BlockView& block, Slice key, uint64_t key_hash, Trailer trailer,
                 SequenceNumber global, BlockEntry* found) {
  if (block.empty()) return false;
  uint32_t interval = UINT32_MAX;
  if (block.bucket_count() > 0) {
    const uint8_t bucket = block.Bucket(BucketOf(key_hash, block.bucket_count()));
    if (bucket == kBucketEmpty) return false;
    // Shared, or out of range in a damaged block: the search decides.
    if (bucket < block.restart_count()) interval = bucket;
  }
  if (ComparePrefix(block, key) != PrefixOrder::kInside) return false;
  EntryComparer comparer(block, key, trailer, global);
  if (interval != UINT32_MAX) {
    return ScanInterval(block, interval, &comparer, found) && comparer.key_equal();
  }
  const uint32_t restart = FindRestart(block, key, trailer, global);
  if (restart > 0 && ScanInterval(block, restart - 1, &comparer, found)) {
    return comparer.key_equal();
  }
  return restart < block.restart_count() && ScanInterval(block, restart, &comparer, found) &&
         comparer.key_equal();
}

}  // namespace tidesdb
