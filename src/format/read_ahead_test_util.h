// Reads ahead in both ways that an InternalIterator has, for tests.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "format/internal_iter.h"

namespace tidesdb {

struct EntryAhead {
  std::string key;
  std::string value;
  std::optional<Trailer> trailer;
};

// At most `max` entries by ReadAhead, or those of ReadVersionsAhead. `Iter`: an InternalIterator or
// a BlockIter.
template <typename Iter>
std::vector<EntryAhead> ReadEntriesAhead(const AheadLimits& limits, size_t max, Iter* iter) {
  EntryBatch batch;
  batch.Reset(max);
  iter->ReadAhead(limits, &batch);
  std::vector<EntryAhead> entries;
  for (size_t i = 0; i < batch.size(); ++i) {
    entries.push_back({std::string(batch[i].key), std::string(batch[i].value), std::nullopt});
  }
  return entries;
}

template <typename ReadFn>
std::vector<EntryAhead> ReadVersionsAhead(ReadFn read) {
  VersionBatch batch;
  read(&batch);
  std::vector<EntryAhead> entries;
  for (size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(batch[i].head, KeyHead(batch[i].key()));
    entries.push_back(
        {std::string(batch[i].key()), std::string(batch[i].value()), batch[i].trailer});
  }
  return entries;
}

}  // namespace tidesdb
