// A handler's view of its open SQL table: the server's objects, the engine's families and the row
// format. Shared by all parts of one handler.
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

// Adds the columns that a virtual column is made from, also by way of others.
void AddBaseColumns(const TABLE& table, uint column, std::vector<bool>* wanted);

struct OpenTable {
  explicit OpenTable(handler* of) : file(of) {}

  TABLE* table() const { return file->get_table(); }
  TABLE_SHARE* share() const { return file->get_table_share(); }
  // As handler::ha_thd(), which is not public.
  THD* thd() const { return table()->in_use != nullptr ? table()->in_use : current_thd; }
  bool is_sequence() const { return share()->table_type == TABLE_TYPE_SEQUENCE; }
  bool is_temporary() const { return share()->tmp_table != NO_TMP_TABLE; }
  // Whether ALTER TABLE is building this key.
  bool is_building(uint number) const { return number >= share()->keys; }
  // MAX_KEY: the rows in their order.
  ColumnFamily* FamilyOf(uint number) const {
    return number == MAX_KEY ? state->primary : families[number];
  }
  bool is_rows(uint number) const { return number == MAX_KEY || codec.is_primary(number); }

  // Gets the table's state from the dictionary, the first time and after DDL. Returns 0 or the
  // server's error.
  // REQUIRES: codec is built.
  int Bind();

  handler* const file;
  bool is_clone = false;  // Created by the server for a lookup while another handler reads.
  std::string name;
  std::shared_ptr<TableState> state;
  TableCodec codec;
  uint64_t bindings = 0;  // How often the codec was given another form of the rows.
  // By key number; keys that are being built follow the table's keys.
  std::vector<ColumnFamily*> families;
  std::vector<uint64_t> index_made;  // As families, without keys that are being built.
  // For each column: whether an index contains it, or writers compute `to_compute` from it.
  std::vector<bool> in_entries;
  // The virtual columns of keys that are being built; the server does not compute them.
  std::vector<uint> to_compute;
  // The table's statistics as this handler last saw them; null: none yet.
  std::shared_ptr<const TableStats> known_stats;
  uint64_t known_stats_version = 0;

 private:
  int BindHistory(const TableState& found);
  int BindIndexes();
  void BindEntryColumns();
  void ShowKeyShapes();
};

}  // namespace tidesdb::plugin
