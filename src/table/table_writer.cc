#include "table/table_writer.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "format/filter_format.h"
#include "format/table_format.h"
#include "io/aligned_bytes.h"
#include "table/block_builder.h"
#include "table/block_source.h"
#include "table/compressor.h"
#include "tidesdb/limits.h"

namespace tidesdb {

namespace {

// Bytes collected before a write(): few calls, and no page of the file is written twice.
constexpr size_t kWriteBufferBytes = 512 << 10;
static_assert(kWriteBufferBytes % kDirectAlignmentMax == 0);

// A block's lengths and offsets have 32 bits; the rest is for the header and search structures of
// one entry.
static_assert(kEntryBytesMax <= UINT32_MAX - 1024);

// The shortest key s with a <= s < b. REQUIRES: a < b.
std::string ShortestSeparator(Slice a, Slice b) {
  const size_t common = CommonPrefixBytes(a, b);
  for (size_t i = common; i + 1 < a.size(); ++i) {
    const auto byte = static_cast<uint8_t>(a[i]);
    // The result is below b as long as the first different byte is below b's.
    const unsigned limit = i == common ? static_cast<uint8_t>(b[i]) : 256;
    if (byte + 1u < limit) {
      std::string separator(a.substr(0, i + 1));
      separator.back() = static_cast<char>(byte + 1);
      return separator;
    }
  }
  return std::string(a);
}

class TableWriterImpl final : public TableWriter {
 public:
  TableWriterImpl(const TableWriteOptions& options, std::unique_ptr<WritableFile> file,
                  std::string path, const CacheFill& fill)
      : options_(options),
        file_(std::move(file)),
        path_(std::move(path)),
        fill_(fill),
        compressor_(options.compression),
        block_(options.restart_interval, options.restart_bytes, true),
        // A restart at every entry: a search of the key heads ends at the entry.
        index_(1, UINT32_MAX, false),
        top_index_(1, UINT32_MAX, false) {
    CHECK(options.partition_blocks > 0);
    has_filter_ = options.bloom_fpr > 0;
    if (has_filter_) filter_shape_ = ChooseFilterShape(options.bloom_fpr);
    properties_.family = options.family;
  }

  Status Add(Slice user_key, Trailer trailer, Slice value) override {
    CHECK(!finished_);
    if (!status_.ok()) return status_;
    const bool first = properties_.entries == 0;
    CHECK_MSG(first || CompareVersions(last_key_, last_trailer_, user_key, trailer) < 0,
              "entries of a table out of order: " + path_);
    if (user_key.size() + value.size() > kEntryBytesMax) {
      return Status::InvalidArgument(
          path_ + ": key and value have " + std::to_string(user_key.size() + value.size()) +
          " bytes, at most " + std::to_string(kEntryBytesMax) + " fit into a block");
    }
    if (!block_.empty() && block_.SizeWith(user_key, value) > options_.block_bytes) {
      status_ = CutBlock(user_key, trailer);
      if (!status_.ok()) return status_;
    }
    const bool new_key = first || user_key != last_key_;
    if (new_key) last_hash_ = Hash64(user_key);
    if (has_filter_ && (new_key || key_hashes_.empty())) key_hashes_.push_back(last_hash_);
    block_.Add(user_key, trailer, value, last_hash_);
    if (in_use_) ++entries_in_use_;
    Count(user_key, trailer, value, new_key);
    last_key_ = user_key;
    last_trailer_ = trailer;
    return Status::Ok();
  }

  void SetInUse(bool in_use) override { in_use_ = in_use; }

  uint64_t FileBytes() const override {
    if (finished_) return offset_;
    const uint64_t filter_bytes = key_hashes_.size() * filter_shape_.bits_per_key / 8;
    return offset_ + block_.SizeEstimate() + index_.SizeEstimate() + filter_bytes;
  }

  uint64_t Entries() const override { return properties_.entries; }

  Result<TableProperties> Finish() override {
    CHECK(!finished_);
    finished_ = true;
    TIDESDB_TRY(status_);
    if (!block_.empty()) TIDESDB_TRY(FlushBlock(last_key_, 0));
    if (!index_.empty()) TIDESDB_TRY(FlushPartition());
    properties_.key_max = last_key_;
    TableFooter footer;
    TIDESDB_TRY(WriteBlock(top_index_.Finish(), BlockKind::kTopIndex, false, &footer.top_index));
    std::string encoded;
    PutTableProperties(&encoded, properties_);
    TIDESDB_TRY(WriteBlock(&encoded, BlockKind::kProperties, false, &footer.properties));
    encoded.clear();
    PutTableFooter(&encoded, footer);
    TIDESDB_TRY(Write(encoded));
    TIDESDB_TRY(FlushBuffer());
    if (!options_.temporary) TIDESDB_TRY(file_->Sync());
    TIDESDB_TRY(file_->Close());
    return properties_;
  }

 private:
  void Count(Slice user_key, Trailer trailer, Slice value, bool new_key) {
    TableProperties& p = properties_;
    const SequenceNumber sequence = TrailerSequence(trailer);
    if (p.entries == 0) {
      p.key_min = user_key;
      p.sequence_min = sequence;
    }
    ++p.entries;
    if (new_key) ++p.keys;
    p.raw_key_bytes += user_key.size();
    p.raw_value_bytes += value.size();
    p.sequence_min = std::min(p.sequence_min, sequence);
    p.sequence_max = std::max(p.sequence_max, sequence);
    if (IsTombstone(TrailerType(trailer))) {
      p.tombstone_sequence_min =
          p.tombstones == 0 ? sequence : std::min(p.tombstone_sequence_min, sequence);
      ++p.tombstones;
    }
  }

  // Ends the data block before the entry (next_key, next_trailer).
  Status CutBlock(Slice next_key, Trailer next_trailer) {
    if (next_key == last_key_) {
      // Versions of one key on both sides: only the trailer distinguishes them.
      DCHECK(next_trailer < last_trailer_);
      (void)next_trailer;
      TIDESDB_TRY(FlushBlock(last_key_, last_trailer_));
    } else {
      TIDESDB_TRY(FlushBlock(ShortestSeparator(last_key_, next_key), 0));
    }
    if (index_.entries() < options_.partition_blocks) return Status::Ok();
    return FlushPartition();
  }

  // Every entry so far is <= (separator, trailer), every later one is greater.
  Status FlushBlock(const std::string& separator, Trailer trailer) {
    BlockHandle handle;
    const bool in_use = 2 * entries_in_use_ >= block_.entries();
    partition_in_use_ = partition_in_use_ || in_use;
    entries_in_use_ = 0;
    TIDESDB_TRY(WriteBlock(block_.Finish(), BlockKind::kData, in_use, &handle));
    block_.Reset();
    ++properties_.data_blocks;
    std::string value;
    PutBlockHandle(&value, handle);
    index_.Add(separator, trailer, value, 0);
    separator_trailer_ = trailer;
    return Status::Ok();
  }

  Status FlushPartition() {
    const std::string separator(index_.last_key());
    PartitionHandles handles;
    TIDESDB_TRY(WriteBlock(index_.Finish(), BlockKind::kIndex, partition_in_use_, &handles.index));
    index_.Reset();
    if (has_filter_) {
      std::string filter;
      BuildFilter(key_hashes_, filter_shape_, &filter);
      TIDESDB_TRY(WriteBlock(&filter, BlockKind::kFilter, partition_in_use_, &handles.filter));
      key_hashes_.clear();
    }
    partition_in_use_ = false;
    std::string value;
    PutPartitionHandles(&value, handles);
    top_index_.Add(separator, separator_trailer_, value, 0);
    return Status::Ok();
  }

  // Seals and writes the contents, which become invalid.
  Status WriteBlock(std::string* contents, BlockKind kind, bool in_use, BlockHandle* handle) {
    if (in_use && fill_.cache != nullptr) {
      BlockSource::PutDecoded(fill_.cache, fill_.file_number, offset_, kind, *contents,
                              kind == BlockKind::kData ? fill_.priority : CachePriority::kMeta);
    }
    const bool compressible = kind != BlockKind::kFilter && kind != BlockKind::kProperties;
    Compression compression = Compression::kNone;
    std::string* payload = contents;
    if (compressible && compressor_.Compress(*contents, &compressed_)) {
      compression = options_.compression;
      payload = &compressed_;
    }
    handle->offset = offset_;
    handle->size = payload->size();
    SealBlock(payload, kind, compression, offset_);
    return Write(*payload);
  }

  Status Write(Slice bytes) {
    offset_ += bytes.size();
    while (!bytes.empty()) {
      const size_t n = std::min(bytes.size(), kWriteBufferBytes - buffered_);
      std::memcpy(buffer_.get() + buffered_, bytes.data(), n);
      buffered_ += n;
      bytes.remove_prefix(n);
      if (buffered_ == kWriteBufferBytes) TIDESDB_TRY(FlushBuffer());
    }
    return Status::Ok();
  }

  Status FlushBuffer() {
    if (buffered_ == 0) return Status::Ok();
    TIDESDB_TRY(file_->Append(Slice(buffer_.get(), buffered_)));
    buffered_ = 0;
    return Status::Ok();
  }

  const TableWriteOptions options_;
  const std::unique_ptr<WritableFile> file_;
  const std::string path_;
  const CacheFill fill_;
  bool in_use_ = false;
  uint32_t entries_in_use_ = 0;    // In the open block.
  bool partition_in_use_ = false;  // A block of the open partition is in use.
  bool has_filter_ = false;
  FilterShape filter_shape_ = {0, 0};
  bool finished_ = false;
  Status status_;  // The first error; nothing is written after it.

  Compressor compressor_;
  std::string compressed_;
  // Written to the file in one go, always full but for the last time (WritableFile::BypassPageCache).
  const AlignedBytes buffer_ = NewAlignedBytes(kWriteBufferBytes);
  size_t buffered_ = 0;
  uint64_t offset_ = 0;  // File offset after the buffer.

  BlockBuilder block_;
  // The open partition.
  BlockBuilder index_;
  std::vector<uint64_t> key_hashes_;
  Trailer separator_trailer_ = 0;  // Of the last entry of index_.
  BlockBuilder top_index_;

  std::string last_key_;
  Trailer last_trailer_ = 0;
  uint64_t last_hash_ = 0;
  TableProperties properties_;
};

}  // namespace

std::unique_ptr<TableWriter> NewTableWriter(const TableWriteOptions& options,
                                            std::unique_ptr<WritableFile> file, std::string path,
                                            const CacheFill& fill) {
  return std::make_unique<TableWriterImpl>(options, std::move(file), std::move(path), fill);
}

}  // namespace tidesdb
