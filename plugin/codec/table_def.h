// The catalog entry of one table: its column families, and the start of its counters.
//
// Format: docs/format/dictionary.md.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/row_history.h"
#include "tidesdb/result.h"
#include "tidesdb/slice.h"

namespace tidesdb::plugin {

// Of keys; tables of older versions do not have all of them.
enum KeyForm : uint32_t {
  // A non-unique index over the starts of texts holds weights of the whole text, if these differ from the weights
  // of its first characters. The server cuts a text after that many.
  kWeightsOfStarts = 1,
  // INET4, INET6 and UUID are bytes. Without this form they are treated as texts.
  kFixedBinary = 2,
  kKeyForms = kWeightsOfStarts | kFixedBinary
};

struct IndexDef {
  std::string name;  // The server's name of the key; unique in the table.
  uint32_t family = 0;
};

struct TableDef {
  uint32_t primary_family = 0;
  std::vector<IndexDef> indexes;  // Secondary ones.
  bool hidden_key = false;        // No primary key: rows are numbered.
  bool temporary = false;         // Removed at a restart.
  uint64_t created_s = 0;         // Unix time.
  // AUTO_INCREMENT starts here; values used since are recorded separately, under the generation.
  uint64_t auto_increment_base = 1;
  uint32_t auto_increment_generation = 0;
  // The server's id of the matching .frm; empty: no ALTER TABLE has changed the table in place yet.
  std::string frm_version;
  RowHistory history;
  uint32_t values_family = 0;  // Of long values, which lie apart; 0: rows hold all values.
  uint32_t key_forms = 0;      // The KeyForms that affect the table.
};

// The catalog entry of a table. name: exactly as the server spells it.
std::string TableEntryName(Slice name);
// All table entries start with this.
inline constexpr char kTableEntryPrefix[] = "t/";

void EncodeTableDef(const TableDef& def, std::string* bytes);
// Errors: kCorruption, kNotSupported (written by a newer version).
Result<TableDef> DecodeTableDef(Slice bytes);

}  // namespace tidesdb::plugin
