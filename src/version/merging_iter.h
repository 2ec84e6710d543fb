// Merges sorted sources into one sorted sequence, forward and backward.
#pragma once

#include <memory>
#include <vector>

#include "format/internal_iter.h"

namespace tidesdb {

// Takes the sources over. An error of any source ends the iteration with that error. If two sources
// have the same (key, trailer), the earlier source in the list comes first. `keep_alive` is
// released after the sources; may be null. TakeYoungRuns counts runs of the first `young` sources,
// as old ones up to sequence `old_max`.
std::unique_ptr<InternalIterator> NewMergingIterator(
    std::vector<std::unique_ptr<InternalIterator>> sources, std::shared_ptr<const void> keep_alive,
    size_t young = 0, SequenceNumber old_max = 0);

// An empty iterator with a status.
std::unique_ptr<InternalIterator> NewEmptyIterator(Status status);

}  // namespace tidesdb
