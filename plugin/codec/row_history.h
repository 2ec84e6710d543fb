// The forms that the rows of a table have had: ALTER TABLE changes columns without touching rows.
//
// A row names the version it was written in; the table's entry describes all versions. A column has
// an id that its table never reuses, so a new column with an old name is a different column.
//
// Format: docs/format/dictionary.md.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/slice.h"

namespace tidesdb::plugin {

// A column as rows of one version hold it. Columns outside of rows are in no version.
struct RowColumn {
  uint32_t id = 0;
  bool varying = false;
  uint32_t bytes = 0;        // Of a column with fixed size; else 0.
  uint32_t null_offset = 0;  // Of the byte that contains null_mask.
  uint8_t null_mask = 0;     // 0: NOT NULL.

  bool operator==(const RowColumn& other) const {
    return id == other.id && varying == other.varying && bytes == other.bytes &&
           null_offset == other.null_offset && null_mask == other.null_mask;
  }
  bool operator!=(const RowColumn& other) const { return !(*this == other); }
};

struct RowVersion {
  // The server's id of the last matching .frm; empty: unknown, or the newest one.
  std::string frm_version;
  uint32_t null_bytes = 0;
  std::vector<RowColumn> columns;  // In the table's order.
};

// The value of a column in rows from before it was added.
struct ColumnDefault {
  uint32_t id = 0;
  bool null = false;
  std::string value;  // Its raw bytes.
};

struct RowHistory {
  // InnoDB's limit; beyond it the table is copied.
  static constexpr size_t kVersionsMax = 256;

  uint32_t next_id = 0;
  std::vector<ColumnDefault> defaults;
  std::vector<RowVersion> versions;  // Empty: only the first one, which follows from the table.

  uint32_t newest() const {
    return versions.empty() ? 0 : static_cast<uint32_t>(versions.size() - 1);
  }
  // The version that matches an .frm: the newest one, unless an older one is known by its id.
  uint32_t VersionOf(Slice frm_version) const;
  const ColumnDefault* FindDefault(uint32_t id) const;
};

// Where a column of the next version comes from.
struct ColumnOrigin {
  int before = -1;      // Its place in the previous version; -1: it is new.
  ColumnDefault added;  // For a new one; the id is filled in.
};

// Gives the table's rows a new form; both forms come without ids. frm_version: of the previous
// .frm. Adds nothing if rows look the same as before.
// Returns: false, with *history unchanged, if no further version is possible or if a column's bytes
// differ between the two.
bool AddRowVersion(const RowVersion& before, RowVersion next, std::vector<ColumnOrigin> origins,
                   Slice frm_version, RowHistory* history);

void EncodeRowHistory(const RowHistory& history, std::string* bytes);
// Takes it off the front. Returns: false for damaged bytes.
bool TakeRowHistory(Slice* bytes, RowHistory* history);

}  // namespace tidesdb::plugin
