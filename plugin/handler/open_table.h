// What a handler knows of the SQL table that it has open: the server's objects, the engine's
// families, and how rows become bytes. Shared by all that works for one handler.
//
// Threads: used by one thread at a time, as the handler.
#pragma once

#include "base/server_port.h"

#include <memory>
#include <string>
#include <vector>

#include "codec/table_codec.h"
#include "dictionary/dictionary.h"

namespace tidesdb::plugin {

struct OpenTable {
  explicit OpenTable(handler* of) : file(of) {}

  TABLE* table() const { return file->get_table(); }
  TABLE_SHARE* share() const { return file->get_table_share(); }
  // As handler::ha_thd(), which is not for others.
  THD* thd() const { return table()->in_use != nullptr ? table()->in_use : current_thd; }
  bool is_sequence() const { return share()->table_type == TABLE_TYPE_SEQUENCE; }
  bool is_temporary() const { return share()->tmp_table != NO_TMP_TABLE; }
  // Of a key that ALTER TABLE is building.
  bool is_building(uint number) const { return number >= share()->keys; }
  // MAX_KEY: the rows themselves in their order.
  ColumnFamily* FamilyOf(uint number) const {
    return number == MAX_KEY ? state->primary : families[number];
  }
  bool is_rows(uint number) const { return number == MAX_KEY || codec.is_primary(number); }

  // Takes the table's state from the dictionary, if it was not or if DDL has changed it. Returns 0
  // or the server's error. REQUIRES: codec is built.
  int Bind();

  handler* const file;
  bool is_clone = false;  // Made by the server to look something up while another handler reads.
  std::string name;
  std::shared_ptr<TableState> state;
  TableCodec codec;
  uint64_t bindings = 0;  // How often the codec was told of another form of the rows.
  // By key number; behind the table's keys those that are being built.
  std::vector<ColumnFamily*> families;
  std::vector<uint64_t> index_made;  // As families, without those that are being built.
  std::vector<bool> in_entries;      // A flag a column: some index is made from it.
  // The table's statistics as this handler last saw them; null: none yet.
  std::shared_ptr<const TableStats> known_stats;
  uint64_t known_stats_version = 0;

 private:
  int BindHistory(const TableState& found);
  int BindIndexes();
  void BindLongValues();
  void ShowKeyShapes();
};

}  // namespace tidesdb::plugin
