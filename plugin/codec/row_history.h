// The forms that the rows of a table have had: ALTER TABLE changes columns without touching rows.
//
// A row says the version that it was written in; the table's entry describes them all. A column is
// known by an id that is never used again in its table, so that a new column of an old name is
// another one.
//
// Format: docs/format/dictionary.md.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/slice.h"

namespace tidesdb::plugin {

// A column as rows of one version hold it. Those that rows do not hold are in no version.
struct RowColumn {
  uint32_t id = 0;
  bool varying = false;
  uint32_t bytes = 0;        // Of one of fixed size; else 0.
  uint32_t null_offset = 0;  // Of the byte that null_mask is a bit of.
  uint8_t null_mask = 0;     // 0: never NULL.

  bool operator==(const RowColumn& other) const {
    return id == other.id && varying == other.varying && bytes == other.bytes &&
           null_offset == other.null_offset && null_mask == other.null_mask;
  }
  bool operator!=(const RowColumn& other) const { return !(*this == other); }
};

struct RowVersion {
  // The last .frm that went with it, by the server's id; empty: unknown, or the newest one.
  std::string frm_version;
  uint32_t null_bytes = 0;
  std::vector<RowColumn> columns;  // In the table's order.
};

// What a column has in rows from before it came.
struct ColumnDefault {
  uint32_t id = 0;
  bool null = false;
  std::string value;  // Its raw bytes.
};

struct RowHistory {
  // As many as InnoDB's; after that the table is copied.
  static constexpr size_t kVersionsMax = 256;

  uint32_t next_id = 0;
  std::vector<ColumnDefault> defaults;
  std::vector<RowVersion> versions;  // Empty: there is the first one only, which the table tells.

  uint32_t newest() const {
    return versions.empty() ? 0 : static_cast<uint32_t>(versions.size() - 1);
  }
  // The version that goes with an .frm: the newest one, unless an older one is known by its id.
  uint32_t VersionOf(Slice frm_version) const;
  const ColumnDefault* FindDefault(uint32_t id) const;
};

// How a column of the next version comes to be.
struct ColumnOrigin {
  int before = -1;      // Its place in the version before; -1: it is new.
  ColumnDefault added;  // Of a new one; the id is filled in.
};

// Gives the table's rows another form from now on; both forms come without ids. frm_version: of the
// .frm before. Adds nothing when rows look the same as before.
// Returns: false when there is no room for another version, or a column's bytes are not the same in
// both; *history is unchanged then.
bool AddRowVersion(const RowVersion& before, RowVersion next, std::vector<ColumnOrigin> origins,
                   Slice frm_version, RowHistory* history);

void EncodeRowHistory(const RowHistory& history, std::string* bytes);
// Takes it off the front. Returns: false for damaged bytes.
bool TakeRowHistory(Slice* bytes, RowHistory* history);

}  // namespace tidesdb::plugin
