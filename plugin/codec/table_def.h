// What the engine's catalog says about one table: which column families hold it, and its counters'
// start.
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

// Of keys; tables made by older versions do not have all of them.
enum KeyForm : uint32_t {
  // An index that is not unique holds, of the starts of texts, as many weights of the whole text, where
  // these are not the weights of its first characters. The server cuts a text after so many of those.
  kWeightsOfStarts = 1,
  // INET4, INET6 and UUID are bytes. Without it they are taken for texts.
  kFixedBinary = 2,
  kKeyForms = kWeightsOfStarts | kFixedBinary
};

struct IndexDef {
  std::string name;  // As the server names the key; unique in the table.
  uint32_t family = 0;
};

struct TableDef {
  uint32_t primary_family = 0;
  std::vector<IndexDef> indexes;  // Secondary ones.
  bool hidden_key = false;        // No primary key: rows are numbered.
  bool temporary = false;         // Gone after a restart.
  uint64_t created_s = 0;         // Unix time.
  // AUTO_INCREMENT starts here; what was used since is recorded beside it, under the generation.
  uint64_t auto_increment_base = 1;
  uint32_t auto_increment_generation = 0;
  // The .frm that goes with this entry, by the server's id; empty: no ALTER TABLE has changed it in
  // place yet.
  std::string frm_version;
  RowHistory history;
  uint32_t values_family = 0;  // Of long values, which lie apart; 0: rows hold all of theirs.
  uint32_t key_forms = 0;      // Of KeyForm, those that make a difference to the table.
};

// The catalog entry of a table. name: exactly what the server calls it.
std::string TableEntryName(Slice name);
// All table entries start with this.
inline constexpr char kTableEntryPrefix[] = "t/";

void EncodeTableDef(const TableDef& def, std::string* bytes);
// Errors: kCorruption, kNotSupported (written by a newer version).
Result<TableDef> DecodeTableDef(Slice bytes);

}  // namespace tidesdb::plugin
