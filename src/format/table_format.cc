#include "format/table_format.h"

#include "base/coding.h"
#include "base/hash.h"
#include "format/corruption.h"

namespace tidesdb {

void PutBlockHandle(std::string* dst, BlockHandle handle) {
  PutVarint64(dst, handle.offset);
  PutVarint64(dst, handle.size);
}

bool GetBlockHandle(Slice* in, BlockHandle* handle) {
  Slice rest = *in;
  BlockHandle result;
  if (!GetVarint64(&rest, &result.offset) || !GetVarint64(&rest, &result.size)) return false;
  // No file is that long, and the sum below cannot overflow.
  if (result.offset > INT64_MAX || result.size > UINT32_MAX) return false;
  *handle = result;
  *in = rest;
  return true;
}

void PutPartitionHandles(std::string* dst, const PartitionHandles& handles) {
  PutBlockHandle(dst, handles.index);
  PutBlockHandle(dst, handles.filter);
}

bool GetPartitionHandles(Slice in, PartitionHandles* handles) {
  return GetBlockHandle(&in, &handles->index) && GetBlockHandle(&in, &handles->filter) &&
         in.empty();
}

void PutTableProperties(std::string* dst, const TableProperties& properties) {
  PutVarint64(dst, properties.family);
  PutVarint64(dst, properties.entries);
  PutVarint64(dst, properties.keys);
  PutVarint64(dst, properties.tombstones);
  PutVarint64(dst, properties.raw_key_bytes);
  PutVarint64(dst, properties.raw_value_bytes);
  PutVarint64(dst, properties.data_blocks);
  PutVarint64(dst, properties.sequence_min);
  PutVarint64(dst, properties.sequence_max);
  PutVarint64(dst, properties.tombstone_sequence_min);
  PutLengthPrefixed(dst, properties.key_min);
  PutLengthPrefixed(dst, properties.key_max);
}

bool GetTableProperties(Slice* in, TableProperties* properties) {
  Slice rest = *in;
  TableProperties result;
  uint64_t family;
  Slice key_min;
  Slice key_max;
  if (!GetVarint64(&rest, &family) || family > UINT32_MAX || !GetVarint64(&rest, &result.entries) ||
      !GetVarint64(&rest, &result.keys) || !GetVarint64(&rest, &result.tombstones) ||
      !GetVarint64(&rest, &result.raw_key_bytes) || !GetVarint64(&rest, &result.raw_value_bytes) ||
      !GetVarint64(&rest, &result.data_blocks) || !GetVarint64(&rest, &result.sequence_min) ||
      !GetVarint64(&rest, &result.sequence_max) ||
      !GetVarint64(&rest, &result.tombstone_sequence_min) || !GetLengthPrefixed(&rest, &key_min) ||
      !GetLengthPrefixed(&rest, &key_max)) {
    return false;
  }
  result.family = static_cast<FamilyId>(family);
  result.key_min = key_min;
  result.key_max = key_max;
  *properties = std::move(result);
  *in = rest;
  return true;
}

void PutTableFooter(std::string* dst, const TableFooter& footer) {
  const size_t start = dst->size();
  PutFixed64(dst, footer.top_index.offset);
  PutFixed64(dst, footer.top_index.size);
  PutFixed64(dst, footer.properties.offset);
  PutFixed64(dst, footer.properties.size);
  dst->push_back(static_cast<char>(kTableFormatNewest));
  dst->append(3, '\0');
  PutFixed32(dst, kTableFooterBytes);
  PutFixed64(dst, Checksum64(Slice(*dst).substr(start)));
  PutFixed64(dst, kTableMagic);
}

Status DecodeTableFooter(Slice tail, uint64_t file_bytes, Slice path, TableFooter* footer) {
  if (tail.size() < kTableFooterBytes) {
    return CorruptionAt(path, file_bytes, "file is too short for a table: bytes", kTableFooterBytes,
                        file_bytes);
  }
  const uint64_t tail_offset = file_bytes - kTableTailBytes;
  const char* fixed = tail.data() + tail.size() - kTableTailBytes;
  if (DecodeFixed64(fixed + 16) != kTableMagic) {
    return CorruptionAtHex(path, file_bytes - 8, "magic number of table", kTableMagic,
                           DecodeFixed64(fixed + 16));
  }
  // Length and checksum first: they distinguish a newer version from a damaged version byte.
  const uint32_t footer_bytes = DecodeFixed32(fixed + 4);
  const auto version = static_cast<uint8_t>(fixed[0]);
  if (footer_bytes < kTableTailBytes || footer_bytes > tail.size()) {
    return CorruptionAt(path, tail_offset + 4, "bytes of footer", kTableFooterBytes, footer_bytes);
  }
  const Slice covered = tail.substr(tail.size() - footer_bytes, footer_bytes - 16);
  const uint64_t wanted = DecodeFixed64(fixed + 8);
  if (Checksum64(covered) != wanted) {
    return CorruptionAtHex(path, file_bytes - footer_bytes, "footer checksum", wanted,
                           Checksum64(covered));
  }
  if (version > static_cast<uint8_t>(kTableFormatNewest)) {
    return Status::NotSupported(std::string(path) + " at offset " + std::to_string(tail_offset) +
                                ": table format version " + std::to_string(version) +
                                " is newer than this program's (" +
                                std::to_string(static_cast<uint8_t>(kTableFormatNewest)) + ")");
  }
  if (version == 0 || footer_bytes != kTableFooterBytes) {
    return CorruptionAt(path, tail_offset, "footer of table: bytes for its version",
                        kTableFooterBytes, footer_bytes);
  }
  footer->top_index = {DecodeFixed64(covered.data()), DecodeFixed64(covered.data() + 8)};
  footer->properties = {DecodeFixed64(covered.data() + 16), DecodeFixed64(covered.data() + 24)};
  const BlockHandle& properties = footer->properties;
  const uint64_t footer_offset = file_bytes - kTableFooterBytes;
  if (properties.offset > footer_offset || properties.size > footer_offset ||
      properties.end() != footer_offset || footer->top_index.offset > properties.offset ||
      footer->top_index.size > properties.offset || footer->top_index.end() != properties.offset) {
    return CorruptionAt(path, footer_offset, "places of top index and properties do not match");
  }
  return Status::Ok();
}

}  // namespace tidesdb
