// The bytes of a table file around its blocks: handles, properties, footer.
//
// Pure. Decoders accept any bytes.
//
// Format: docs/format/table.md
#pragma once

#include <cstdint>
#include <string>

#include "format/block_format.h"
#include "format/format_version.h"
#include "format/table_properties.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// The place of a block's payload; its seal follows.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;

  uint64_t end() const { return offset + size + kBlockSealBytes; }
  friend bool operator==(const BlockHandle&, const BlockHandle&) = default;
};

// Two varint64. If the bytes are wrong, Get leaves the slice unchanged. The end() of a decoded
// handle does not overflow.
void PutBlockHandle(std::string* dst, BlockHandle handle);
[[nodiscard]] bool GetBlockHandle(Slice* in, BlockHandle* handle);

// The value of a top index entry: index handle, then filter handle ({0, 0} in a table without
// filters).
struct PartitionHandles {
  BlockHandle index;
  BlockHandle filter;

  bool has_filter() const { return filter.size != 0; }
};
void PutPartitionHandles(std::string* dst, const PartitionHandles& handles);
[[nodiscard]] bool GetPartitionHandles(Slice in, PartitionHandles* handles);

// Ten varint64, then the two length-prefixed keys.
void PutTableProperties(std::string* dst, const TableProperties& properties);
[[nodiscard]] bool GetTableProperties(Slice* in, TableProperties* properties);

// "TIDESTBL" as bytes in the file.
inline constexpr uint64_t kTableMagic = 0x4c42545345444954;

struct TableFooter {
  BlockHandle top_index;
  BlockHandle properties;
};

// Two handles of two fixed64 (32), version (1), zeros (3), footer bytes (4), checksum (8), magic
// (8).
inline constexpr size_t kTableFooterBytes = 32 + 1 + 3 + 4 + 8 + 8;
// The end of the footer, the same in all future versions: version, zeros, footer bytes, checksum,
// magic.
inline constexpr size_t kTableTailBytes = 24;

void PutTableFooter(std::string* dst, const TableFooter& footer);

// tail: the last bytes of a file of file_bytes; at least kTableFooterBytes unless the file is
// shorter.
// Errors: kCorruption; kNotSupported for a whole footer of a newer version.
Status DecodeTableFooter(Slice tail, uint64_t file_bytes, Slice path, TableFooter* footer);

}  // namespace tidesdb
