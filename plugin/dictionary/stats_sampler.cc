#include "dictionary/stats_sampler.h"

#include <algorithm>

#include "codec/key_codec.h"

namespace tidesdb::plugin {
namespace {

constexpr uint64_t kReadAllRows = 3000;  // Smaller indexes are read completely.
constexpr int kPlaces = 16;
constexpr int kEntriesPerPlace = 64;
constexpr uint64_t kSkipsMax = 100;          // Up to this many values are counted one by one.
constexpr uint64_t kChangesTrusted = 64;     // Fewer say too little.
constexpr uint64_t kTombstonesTrusted = 10;  // At most one for this many keys.
constexpr double kCountTrusted = 1.3;        // Estimates may be wrong by this factor.

}  // namespace

// How many bytes of a key are its first `parts` columns; 0 for damaged bytes.
size_t StatsSampler::PrefixBytes(Slice key, uint parts) const {
  const size_t all = key.size();
  for (size_t i = 0; i < shape_.parts.size() && i < parts; i++) {
    if (!SkipPart(shape_.parts[i].key, &key)) return 0;
  }
  return all - key.size();
}

void StatsSampler::Compare(Slice before, Slice now, Seen* seen) const {
  seen->pairs++;
  for (uint k = 0; k < parts_; k++) {
    const size_t n = PrefixBytes(now, k + 1);
    if (before.substr(0, n) != now.substr(0, n)) {
      for (; k < parts_; k++) seen->changes[k]++;
      return;
    }
  }
}

Status StatsSampler::ReadAll(Iterator* entries, uint64_t* rows, TableStats::Index* index) {
  Seen seen;
  seen.changes.assign(parts_, 0);
  std::string before;
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    if (seen.entries++ > 0) Compare(before, entries->key(), &seen);
    seen.bytes += entries->key().size() + entries->value().size();
    before.assign(entries->key());
  }
  TIDESDB_TRY(entries->status());
  *rows = seen.entries;
  index->entry_bytes = seen.entries == 0 ? 0 : seen.bytes / seen.entries;
  for (const uint64_t changes : seen.changes) {
    index->distinct.push_back(seen.entries == 0 ? 0 : changes + 1);
  }
  return Status::Ok();
}

// The key below which about this share of all keys lies, found by halving.
std::string StatsSampler::KeyAt(Slice first, Slice last, double share) const {
  size_t common = 0;
  while (common < first.size() && common < last.size() && first[common] == last[common]) common++;
  const auto number = [common](Slice key) {
    unsigned __int128 value = 0;
    for (size_t i = common; i < common + 16; i++) {
      value = value << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
    }
    return value;
  };
  const auto key_of = [&](unsigned __int128 value) {
    std::string key(first.substr(0, common));
    for (int shift = 120; shift >= 0; shift -= 8) {
      key.push_back(static_cast<char>(static_cast<uint8_t>(value >> shift)));
    }
    return key;
  };
  unsigned __int128 low = number(first);
  unsigned __int128 high = number(last);
  const auto all = static_cast<double>(db_->EstimateRange(family_, first, {}).keys);
  for (int i = 0; i < 40 && high - low > 1; i++) {
    const unsigned __int128 middle = low + (high - low) / 2;
    const auto below = static_cast<double>(db_->EstimateRange(family_, first, key_of(middle)).keys);
    if (below < all * share) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return key_of(low);
}

Status StatsSampler::ReadPlaces(Iterator* entries, Seen* seen) {
  seen->changes.assign(parts_, 0);
  seen->run_rows.assign(parts_, 0);
  entries->SeekToFirst();
  if (!entries->Valid()) return entries->status();
  const std::string first(entries->key());
  entries->SeekToLast();
  if (!entries->Valid()) return entries->status();
  const std::string last(entries->key());
  std::string before;
  std::string after;
  for (int place = 0; place < kPlaces; place++) {
    entries->Seek(KeyAt(first, last, (place + 0.5) / kPlaces));
    std::string place_first;
    for (int i = 0; i < kEntriesPerPlace && entries->Valid(); i++, entries->Next()) {
      if (i > 0) {
        Compare(before, entries->key(), seen);
        seen->ranges_entries++;
      } else {
        place_first.assign(entries->key());
      }
      seen->entries++;
      seen->bytes += entries->key().size() + entries->value().size();
      before.assign(entries->key());
    }
    TIDESDB_TRY(entries->status());
    if (before.empty()) continue;
    seen->runs++;
    if (!place_first.empty()) {
      seen->ranges_estimate += db_->EstimateRange(family_, place_first, before).keys;
    }
    for (uint k = 0; k < parts_; k++) {
      const Slice prefix(before.data(), PrefixBytes(before, k + 1));
      if (!KeyAfterPrefix(prefix, &after)) after.clear();
      const uint64_t run = db_->EstimateRange(family_, prefix, after).keys;
      seen->run_rows[k] += std::max<uint64_t>(run, 1);
    }
  }
  return Status::Ok();
}

// Rows are counted as they are added and deleted; a count lost in a crash would never return. The
// engine counts a key once for each file that has it; the entries read show how often.
void StatsSampler::CorrectRows(const Seen& seen, uint64_t* rows) const {
  if (seen.ranges_entries == 0 || seen.ranges_estimate == 0) return;
  const RangeEstimate whole = db_->EstimateRange(family_, {}, {});
  // Deletions are not spread like entries: the entries read say nothing about the hidden keys.
  if (whole.tombstones > whole.keys / kTombstonesTrusted) return;
  const double estimate = static_cast<double>(whole.keys) *
                          static_cast<double>(seen.ranges_entries) /
                          static_cast<double>(seen.ranges_estimate);
  const double count = static_cast<double>(*rows);
  if (count * kCountTrusted < estimate || count > estimate * kCountTrusted) {
    *rows = static_cast<uint64_t>(estimate);
  }
}

// Leaves *distinct at 0 if there are too many to count.
Status StatsSampler::CountBySkipping(Iterator* entries, uint part, uint64_t* distinct) {
  std::string next;
  uint64_t count = 0;
  entries->SeekToFirst();
  while (entries->Valid()) {
    if (++count > kSkipsMax) return Status::Ok();
    const Slice key = entries->key();
    if (!KeyAfterPrefix(key.substr(0, PrefixBytes(key, part + 1)), &next)) break;
    entries->Seek(next);
  }
  TIDESDB_TRY(entries->status());
  *distinct = count;
  return Status::Ok();
}

Status StatsSampler::Measure(uint64_t* rows, TableStats::Index* index) {
  const auto transaction = db_->Begin({});
  ScanOptions options;
  options.newest = true;
  options.fill_cache = false;
  const auto entries = transaction->NewIterator(family_, options);
  if (*rows <= kReadAllRows && db_->EstimateRange(family_, {}, {}).keys <= 2 * kReadAllRows) {
    return ReadAll(entries.get(), rows, index);
  }
  Seen seen;
  TIDESDB_TRY(ReadPlaces(entries.get(), &seen));
  if (seen.entries == 0) {
    index->distinct.assign(parts_, 0);
    return Status::Ok();
  }
  CorrectRows(seen, rows);
  index->entry_bytes = seen.bytes / seen.entries;
  bool few = true;
  for (uint k = 0; k < parts_; k++) {
    uint64_t distinct = 0;
    if (few) TIDESDB_TRY(CountBySkipping(entries.get(), k, &distinct));
    if (distinct == 0) {
      few = false;
      distinct = seen.changes[k] >= kChangesTrusted ? *rows * seen.changes[k] / seen.pairs
                                                    : *rows * seen.runs / seen.run_rows[k];
      distinct = std::max(distinct, kSkipsMax);
    }
    index->distinct.push_back(std::min(distinct, std::max<uint64_t>(*rows, 1)));
  }
  return Status::Ok();
}

}  // namespace tidesdb::plugin
