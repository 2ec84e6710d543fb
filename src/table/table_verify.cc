#include "table/table_verify.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "format/corruption.h"
#include "format/filter_format.h"
#include "table/block_iter.h"
#include "table/block_search.h"

namespace tidesdb {

namespace {

// The order position of an entry or separator, kept after its block.
struct Position {
  std::string key;
  Trailer trailer = 0;

  void Set(Slice k, Trailer t) {
    key = k;
    trailer = t;
  }
  int Compare(Slice k, Trailer t) const { return CompareVersions(key, trailer, k, t); }
};

class TableVerifier {
 public:
  TableVerifier(const BlockSource& source, const TableProperties& properties, VerifyDepth depth)
      : source_(source), properties_(properties), entries_too_(depth == VerifyDepth::kAll) {}

  Status Run(const BlockView& top_index, uint64_t data_end) {
    BlockIter top;
    top.Reset(top_index, 0);
    for (top.SeekToFirst(); top.Valid(); top.Next()) {
      PartitionHandles handles;
      if (!GetPartitionHandles(top.value(), &handles)) {
        return CorruptionAt(source_.path(), data_end,
                            "entry of the top index is not a pair of handles");
      }
      TIDESDB_TRY(VerifyPartition(handles));
      // The top index repeats the last separator of each partition.
      if (separator_.Compare(top.key(), top.trailer()) != 0) {
        return CorruptionAt(source_.path(), handles.index.offset,
                            "last key of index block differs from the top index");
      }
    }
    TIDESDB_TRY(CheckJoins(data_end));
    return CheckProperties(data_end);
  }

 private:
  Status VerifyPartition(const PartitionHandles& handles) {
    BlockRef index_block;
    TIDESDB_TRY(source_.Load(handles.index, BlockKind::kIndex, nullptr, &index_block));
    BlockRef filter;
    if (handles.has_filter()) {
      TIDESDB_TRY(source_.Load(handles.filter, BlockKind::kFilter, nullptr, &filter));
    }
    BlockIter index;
    index.Reset(BlockView(index_block.contents()), 0);
    for (index.SeekToFirst(); index.Valid(); index.Next()) {
      Slice value = index.value();
      BlockHandle handle;
      if (!GetBlockHandle(&value, &handle) || !value.empty()) {
        return CorruptionAt(source_.path(), handles.index.offset,
                            "entry of an index block is not a handle");
      }
      TIDESDB_TRY(CheckJoins(handle.offset));
      end_ = handle.end();
      if (entries_too_) TIDESDB_TRY(VerifyData(handle, filter.contents()));
      if (blocks_ > 0 && separator_.Compare(index.key(), index.trailer()) >= 0) {
        return CorruptionAt(source_.path(), handles.index.offset, "index keys out of order");
      }
      separator_.Set(index.key(), index.trailer());
      if (entries_too_ && last_.Compare(index.key(), index.trailer()) > 0) {
        return CorruptionAt(source_.path(), handle.offset,
                            "last key of block is greater than its key in the index");
      }
      ++blocks_;
    }
    TIDESDB_TRY(CheckJoins(handles.index.offset));
    end_ = handles.index.end();
    if (!handles.has_filter()) return Status::Ok();
    TIDESDB_TRY(CheckJoins(handles.filter.offset));
    end_ = handles.filter.end();
    return Status::Ok();
  }

  Status VerifyData(BlockHandle handle, Slice filter) {
    BlockRef block;
    TIDESDB_TRY(source_.Load(handle, BlockKind::kData, &scan_, &block));
    const BlockView view(block.contents());
    BlockIter data;
    data.Reset(view, 0);
    if (view.empty()) return CorruptionAt(source_.path(), handle.offset, "data block is empty");
    for (data.SeekToFirst(); data.Valid(); data.Next()) {
      const uint64_t hash = Hash64(data.key());
      const bool first = counted_.entries == 0;
      if (!first && last_.Compare(data.key(), data.trailer()) >= 0) {
        return CorruptionAt(source_.path(), handle.offset, "keys out of order; entry",
                            counted_.entries, counted_.entries);
      }
      if (blocks_ > 0 && separator_.Compare(data.key(), data.trailer()) >= 0) {
        return CorruptionAt(source_.path(), handle.offset,
                            "key is before the block's range in the index");
      }
      if (!filter.empty() && !FilterMayContain(filter, hash)) {
        return CorruptionAt(source_.path(), handle.offset, "filter does not hold a key");
      }
      // Finds the same key by the search structures of the block.
      BlockEntry entry;
      if (!FindVersion(view, data.key(), hash, data.trailer(), 0, &entry) ||
          entry.value().data() != data.value().data()) {
        return CorruptionAt(source_.path(), handle.offset, "a search in the block misses a key");
      }
      Count(data, first || last_.key != data.key());
      last_.Set(data.key(), data.trailer());
    }
    return Status::Ok();
  }

  void Count(const BlockIter& data, bool new_key) {
    TableProperties& c = counted_;
    const SequenceNumber sequence = TrailerSequence(data.trailer());
    if (c.entries == 0) {
      c.key_min = data.key();
      c.sequence_min = sequence;
    }
    ++c.entries;
    if (new_key) ++c.keys;
    if (IsTombstone(TrailerType(data.trailer()))) {
      c.tombstone_sequence_min =
          c.tombstones == 0 ? sequence : std::min(c.tombstone_sequence_min, sequence);
      ++c.tombstones;
    }
    c.raw_key_bytes += data.key().size();
    c.raw_value_bytes += data.value().size();
    c.sequence_min = std::min(c.sequence_min, sequence);
    c.sequence_max = std::max(c.sequence_max, sequence);
  }

  // Checks that blocks follow each other without a gap.
  Status CheckJoins(uint64_t offset) const {
    if (offset == end_) return Status::Ok();
    return CorruptionAt(source_.path(), offset, "place of block", end_, offset);
  }

  Status CheckProperties(uint64_t offset) const {
    if (properties_.data_blocks != blocks_) {
      return CorruptionAt(source_.path(), offset, "data blocks in table", properties_.data_blocks,
                          blocks_);
    }
    return entries_too_ ? CheckCounts(offset) : Status::Ok();
  }

  Status CheckCounts(uint64_t offset) const {
    const struct {
      const char* what;
      uint64_t wanted;
      uint64_t got;
    } numbers[] = {
        {"entries in table", properties_.entries, counted_.entries},
        {"keys in table", properties_.keys, counted_.keys},
        {"tombstones in table", properties_.tombstones, counted_.tombstones},
        {"bytes of keys in table", properties_.raw_key_bytes, counted_.raw_key_bytes},
        {"bytes of values in table", properties_.raw_value_bytes, counted_.raw_value_bytes},
        {"lowest sequence in table", properties_.sequence_min, counted_.sequence_min},
        {"highest sequence in table", properties_.sequence_max, counted_.sequence_max},
        {"lowest sequence of a tombstone in table", properties_.tombstone_sequence_min,
         counted_.tombstone_sequence_min},
    };
    for (const auto& number : numbers) {
      if (number.wanted != number.got) {
        return CorruptionAt(source_.path(), offset, number.what, number.wanted, number.got);
      }
    }
    if (properties_.key_min != counted_.key_min || properties_.key_max != last_.key) {
      return CorruptionAt(source_.path(), offset, "first or last key differs from the properties");
    }
    return Status::Ok();
  }

  const BlockSource& source_;
  const TableProperties& properties_;
  const bool entries_too_;
  ScanState scan_;
  TableProperties counted_;
  Position last_;       // The last entry seen.
  Position separator_;  // The last separator seen; later entries are greater.
  uint64_t blocks_ = 0;
  uint64_t end_ = 0;  // End of the previous block.
};

}  // namespace

Status VerifyTable(const BlockSource& source, const BlockView& top_index, uint64_t data_end,
                   const TableProperties& properties, VerifyDepth depth) {
  return TableVerifier(source, properties, depth).Run(top_index, data_end);
}

}  // namespace tidesdb
