#include "table/block_search.h"

#include <algorithm>
#include <cstring>

namespace tidesdb {

namespace {

// Scans [p, end), which starts at a restart and has more at the starts of later intervals only when
// `interval` is counted on. Returns whether *found is the first entry >= the comparer's target.
bool ScanInterval(const BlockView& block, uint32_t interval, SequenceNumber global,
                  EntryComparer* comparer, BlockEntry* found) {
  const char* p = block.Restart(interval);
  const char* const end = block.RestartEnd(interval);
  bool is_restart = true;
  while (p < end) {
    const BlockEntry entry = DecodeTrustedEntry(p);
    if (comparer->Compare(entry, EntryTrailer(block, entry, global), is_restart) >= 0) {
      *found = entry;
      return true;
    }
    is_restart = false;
    p = entry.end();
  }
  return false;
}

// Whether the first entry of an interval sorts before (key, trailer).
bool RestartIsBefore(const BlockView& block, uint32_t interval, Slice key, Trailer trailer,
                     SequenceNumber global) {
  const BlockEntry entry = DecodeTrustedEntry(block.Restart(interval));
  EntryComparer comparer(key, trailer);
  return comparer.Compare(entry, EntryTrailer(block, entry, global), true) < 0;
}

}  // namespace

PrefixOrder ComparePrefix(const BlockView& block, Slice key) {
  const Slice prefix = block.prefix();
  const size_t n = std::min(prefix.size(), key.size());
  const int order = n == 0 ? 0 : std::memcmp(key.data(), prefix.data(), n);
  if (order != 0) return order < 0 ? PrefixOrder::kBefore : PrefixOrder::kAfter;
  return key.size() < prefix.size() ? PrefixOrder::kBefore : PrefixOrder::kInside;
}

uint32_t FindInterval(const BlockView& block, Slice key, Trailer trailer, SequenceNumber global) {
  const uint64_t head = KeyHead(key.substr(block.prefix().size()));
  // First restart whose head is not below the target's, without a branch that could be
  // mispredicted.
  uint32_t low = 0;
  uint32_t count = block.restart_count();
  while (count > 0) {
    const uint32_t half = count / 2;
    const bool below = block.Head(low + half) < head;
    low = below ? low + half + 1 : low;
    count = below ? count - half - 1 : half;
  }
  // Heads alone do not decide between restarts that have the target's own: look at their keys.
  if (low < block.restart_count() && block.Head(low) == head) {
    uint32_t high = low;
    while (high < block.restart_count() && block.Head(high) == head) ++high;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (RestartIsBefore(block, middle, key, trailer, global)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  return low == 0 ? 0 : low - 1;
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
  const uint32_t interval = FindInterval(block, key, trailer, global);
  EntryComparer comparer(key, trailer);
  if (ScanInterval(block, interval, global, &comparer, found)) return true;
  if (interval + 1 == block.restart_count()) return false;
  *found = DecodeTrustedEntry(block.Restart(interval + 1));
  return true;
}

bool FindVersion(const BlockView& block, Slice key, uint64_t key_hash, Trailer trailer,
                 SequenceNumber global, BlockEntry* found) {
  if (block.empty()) return false;
  uint32_t interval = UINT32_MAX;
  if (block.bucket_count() > 0) {
    const uint8_t bucket = block.Bucket(BucketOf(key_hash, block.bucket_count()));
    if (bucket == kBucketEmpty) return false;
    // Shared, or, in a block that lies, out of range: the search decides.
    if (bucket < block.restart_count()) interval = bucket;
  }
  if (ComparePrefix(block, key) != PrefixOrder::kInside) return false;
  EntryComparer comparer(key, trailer);
  if (interval != UINT32_MAX) {
    return ScanInterval(block, interval, global, &comparer, found) && comparer.key_equal();
  }
  interval = FindInterval(block, key, trailer, global);
  if (ScanInterval(block, interval, global, &comparer, found)) return comparer.key_equal();
  if (interval + 1 == block.restart_count()) return false;
  return ScanInterval(block, interval + 1, global, &comparer, found) && comparer.key_equal();
}

}  // namespace tidesdb
