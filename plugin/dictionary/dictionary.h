// The engine's tables: their catalog entries, and the state that their handlers share while the server runs.
//
// Owns: the TableState of every table used since the start.
// Threads: any; the server's metadata locks serialize the changes of one table.
#pragma once

#include "base/server_port.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/latch.h"
#include "codec/key_literals.h"
#include "codec/table_def.h"
#include "codec/table_stats.h"
#include "dictionary/index_build.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

// One table as all its handlers see it. A DDL that changes the definition creates a new state and marks the old
// one.
class TableState {
 public:
  // Constant after construction.
  TableDef def;
  ColumnFamily* primary = nullptr;
  std::vector<ColumnFamily*> indexes;  // As def.indexes.
  ColumnFamily* values = nullptr;      // Long values by their ids; null: rows hold all values.
  std::shared_ptr<IndexBuild> build;   // Also kept up to date by writers; null: none.

  // Set if this state no longer describes the table; handlers then look it up again.
  std::atomic<bool> outdated{false};

  // When its families were last filled or emptied as a whole, in Dictionary::tables_made() counts; 0: before the
  // server started. Older snapshots contain none of its rows.
  std::atomic<uint64_t> made{0};

  // The same for each index, in the order of `indexes`; 0: it is as old as the table's rows. Constant once the
  // state can be found.
  std::vector<uint64_t> indexes_made;

  // Relaxed: nothing else depends on these counters.
  std::atomic<int64_t> rows{0};      // The number given to the optimizer.
  std::atomic<uint64_t> changes{0};  // Rows changed since the statistics were measured.
  static constexpr uint64_t kUncounted = UINT32_MAX;  // So many changes: `rows` is wrong too.
  std::atomic<uint64_t> next_hidden_key{1};
  std::atomic<uint64_t> next_auto_increment{1};
  std::atomic<uint64_t> recorded_auto_increment{0};  // Recorded by a commit; may be ahead.
  // Some transaction has kept others from the counter. Stays.
  std::atomic<bool> numbers_kept{false};
  std::atomic<int64_t> updated_s{0};       // Unix time of the last commit; 0: none since the start.
  std::atomic<int64_t> stats_taken_ms{0};  // By the process clock; 0: not yet.

  // The transactions with changes of its rows that are neither visible nor undone. A writer counts from before any
  // change can be seen until after `version` includes it.
  std::atomic<uint64_t> writers{0};
  // At least the sequence of the last commit that changed its rows.
  std::atomic<uint64_t> version{0};
  void BeginWrite() { writers.fetch_add(1, std::memory_order_relaxed); }
  // `committed`: the sequence of the commit; 0: no change.
  void EndWrite(uint64_t committed);

  // Grows with every set_stats(); 0: no statistics.
  uint64_t stats_version() const { return stats_version_.load(std::memory_order_acquire); }
  std::shared_ptr<const TableStats> stats() const;
  void set_stats(std::shared_ptr<const TableStats> stats);
  // How to show keys of its families to people; null: no handler has opened it yet.
  std::shared_ptr<const KeyShapes> key_shapes() const;
  void set_key_shapes(std::shared_ptr<const KeyShapes> shapes);
  void RaiseAutoIncrement(uint64_t next);
  void RaiseRecordedAutoIncrement(uint64_t recorded);
  ColumnFamily* FindIndex(const char* name) const;
  // Those of rows and indexes, and that of long values if there is one.
  std::vector<ColumnFamily*> families() const;
  uint64_t MadeOf(const ColumnFamily* index) const;

 private:
  mutable Latch latch_{LatchOf::kTable};
  std::shared_ptr<const TableStats> stats_;      // Guarded by latch_.
  std::shared_ptr<const KeyShapes> key_shapes_;  // Guarded by latch_.
  std::atomic<uint64_t> stats_version_{0};
};

struct NewTable {
  std::string name;             // The server's name.
  TableDef def;                 // Its families are filled in.
  ColumnFamilyOptions options;  // For all its families.
  bool long_values = false;     // Needs a family for them.
};

// A table that keeps its rows under another definition.
struct TableChange {
  std::string name;
  TableDef def;
  std::shared_ptr<IndexBuild> build;  // Ends with this change; null: none.
  bool long_values = false;           // Gets a family for them if it has none.
};

class Dictionary {
 public:
  // Finds or creates the plugin's own column family, and removes temporary tables that a crash left.
  Status Open(Db* db);

  Db* db() const { return db_; }
  ColumnFamily* system() const { return system_; }

  // Null if the table does not exist. Errors: kCorruption, kIoError.
  Result<std::shared_ptr<TableState>> Find(const std::string& name);
  // Errors: kAlreadyExists, kIoError, kNoSpace.
  Status Create(NewTable table);
  // False if the table does not exist.
  Result<bool> Drop(const std::string& name);
  Result<bool> Rename(const std::string& from, const std::string& to);
  // Gives the table new, empty families in one step; returns its new state.
  Status Truncate(const std::string& name);
  // The number of tables that were created, emptied, or renamed from an intermediate of ALTER TABLE, and of indexes
  // added, so far.
  uint64_t tables_made() const { return tables_made_; }
  // Changes the entries of all these tables in one step and keeps the rows. Families that a new definition no
  // longer names are dropped.
  Status Change(std::vector<TableChange> changes);
  // Creates the families of indexes that will be filled; build->indexes comes with their key numbers. Handlers that
  // open the table from now on update them.
  // REQUIRES: nobody else has the table open.
  Status BeginBuild(const std::string& name, const std::shared_ptr<IndexBuild>& build);
  // Drops them again; there may be writers.
  Status GiveUpBuild(IndexBuild* build);
  // Whether a table, or the first of its partitions that is found, has the definition that matches this .frm.
  bool IsOfFrm(const std::string& name, Slice frm_version) const;

  // A new id for a value that lies apart, unique in this database. The first call after a start commits a record.
  // Errors: those of a commit.
  Result<uint64_t> NewValueId();

  // Makes the statistics survive a restart. Not part of a user's transaction.
  Status SaveStats(const TableState& table, const TableStats& stats);

  // At shutdown, after the last session: removes the advance from the recorded AUTO_INCREMENT counters, so that
  // only a crash skips values.
  Status SaveAutoIncrements();

  std::vector<std::pair<std::string, TableDef>> List() const;
  // Of the tables opened since the start.
  std::vector<std::shared_ptr<const KeyShapes>> AllKeyShapes();

 private:
  Result<std::shared_ptr<TableState>> Load(TableDef def);
  Status ForgetStats(const TableDef& def);
  Status TakeOver(const TableState& old, const std::string& name, const TableDef& def,
                  std::shared_ptr<IndexBuild> build);
  Status DropUnfinishedBuilds();
  Status LoadCounters(TableState* table);
  void Forget(const std::string& name);
  Status CountAsMade(const std::string& name);
  Status BeginValueIds();

  std::atomic<uint64_t> tables_made_{0};
  Db* db_ = nullptr;  // Constant after Open().
  ColumnFamily* system_ = nullptr;
  Latch value_ids_latch_{LatchOf::kValueIds};
  uint64_t next_value_id_ = 0;  // Guarded by value_ids_latch_.
  Latch latch_{LatchOf::kDictionary};
  std::map<std::string, std::shared_ptr<TableState>> tables_;  // Guarded by latch_.
};

// The server's name of a table is its path: "./db/table", or "/tmp/#sql..." for temporary ones.
std::string TableName(const char* path);
// Of a table, or of the one that a partition belongs to.
std::string FrmPath(const std::string& name);

// Keys of the plugin's own family. The slot is a number that one connection at a time holds: values under one slot
// never decrease, whatever the commit order of connections.
std::string AutoIncrementKey(const TableDef& def, uint16_t slot);
// Never written: a lock of it keeps others from the table's counter.
std::string NumbersKey(const TableDef& def);
std::string StatsKey(const TableDef& def);

}  // namespace tidesdb::plugin
