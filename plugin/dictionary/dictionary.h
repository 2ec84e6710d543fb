// The tables of this engine: their catalog entries, and what their handlers share while the server
// runs.
//
// Owns: the TableState of every table that was used since the start.
// Threads: any; changes of one table come one at a time, as the server's metadata locks see to.
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

// One table as all its handlers see it. A DDL that changes the definition makes a new state and
// marks the old one.
class TableState {
 public:
  // Constant after construction.
  TableDef def;
  ColumnFamily* primary = nullptr;
  std::vector<ColumnFamily*> indexes;  // As def.indexes.
  ColumnFamily* values = nullptr;      // Long values, by their ids; null: rows hold all of theirs.
  std::shared_ptr<IndexBuild> build;   // What writers keep besides; null: nothing.

  // Set when this state no longer describes the table; handlers look it up again then.
  std::atomic<bool> outdated{false};

  // When its families were filled or emptied as a whole, as Dictionary::tables_made() counts; 0:
  // before the server started. Snapshots taken before that have nothing of its rows.
  std::atomic<uint64_t> made{0};

  // The same of each index, as indexes; 0: it was there when the table's families were filled.
  // Constant once the state can be found.
  std::vector<uint64_t> indexes_made;

  // Relaxed: counters that nothing else depends on.
  std::atomic<int64_t> rows{0};      // As the optimizer is told.
  std::atomic<uint64_t> changes{0};  // Rows changed since the statistics were taken.
  std::atomic<uint64_t> next_hidden_key{1};
  std::atomic<uint64_t> next_auto_increment{1};
  std::atomic<uint64_t> recorded_auto_increment{0};  // What a committed record says; may be ahead.
  std::atomic<int64_t> updated_s{0};       // Unix time of the last commit; 0: none since the start.
  std::atomic<int64_t> stats_taken_ms{0};  // By the clock of the process; 0: not yet.

  // Transactions with changes of its rows that are neither public nor undone, and a bit more: one
  // begins before any of its changes can be seen and ends after `version` says so.
  std::atomic<uint64_t> writers{0};
  // At least the sequence of the last commit that changed its rows.
  std::atomic<uint64_t> version{0};
  void BeginWrite() { writers.fetch_add(1, std::memory_order_relaxed); }
  // `committed`: the commit's sequence; 0: it changed nothing.
  void EndWrite(uint64_t committed);

  // Goes up with every set_stats(); 0: there are none.
  uint64_t stats_version() const { return stats_version_.load(std::memory_order_acquire); }
  std::shared_ptr<const TableStats> stats() const;
  void set_stats(std::shared_ptr<const TableStats> stats);
  // How keys of its families are told to a person; null: nobody has opened it yet.
  std::shared_ptr<const KeyShapes> key_shapes() const;
  void set_key_shapes(std::shared_ptr<const KeyShapes> shapes);
  void RaiseAutoIncrement(uint64_t next);
  void RaiseRecordedAutoIncrement(uint64_t recorded);
  ColumnFamily* FindIndex(const char* name) const;
  // The rows', the indexes', and that of long values if there is one.
  std::vector<ColumnFamily*> families() const;
  uint64_t MadeOf(const ColumnFamily* index) const;

 private:
  mutable Latch latch_{LatchOf::kTable};
  std::shared_ptr<const TableStats> stats_;      // Guarded by latch_.
  std::shared_ptr<const KeyShapes> key_shapes_;  // Guarded by latch_.
  std::atomic<uint64_t> stats_version_{0};
};

struct NewTable {
  std::string name;             // As the server calls it.
  TableDef def;                 // Families are filled in.
  ColumnFamilyOptions options;  // For all its families.
  bool long_values = false;     // It gets a family for them.
};

// A table that goes on with its rows under another definition.
struct TableChange {
  std::string name;
  TableDef def;
  std::shared_ptr<IndexBuild> build;  // Ends with it; null: there is none.
  bool long_values = false;           // It gets a family for them if it has none.
};

class Dictionary {
 public:
  // Finds or makes the plugin's own column family and removes temporary tables that a crash left.
  Status Open(Db* db);

  Db* db() const { return db_; }
  ColumnFamily* system() const { return system_; }

  // Null when there is no such table. Errors: kCorruption, kIoError.
  Result<std::shared_ptr<TableState>> Find(const std::string& name);
  // Errors: kAlreadyExists, kIoError, kNoSpace.
  Status Create(NewTable table);
  // False when there is no such table.
  Result<bool> Drop(const std::string& name);
  Result<bool> Rename(const std::string& from, const std::string& to);
  // Gives the table new, empty families in one step; returns its new state.
  Status Truncate(const std::string& name);
  // How many tables were made, emptied, or renamed from an intermediate of ALTER TABLE, so far, and
  // indexes added.
  uint64_t tables_made() const { return tables_made_; }
  // Changes what the entries say and keeps the rows, of all these tables in one step. Families that
  // a new definition does not name any more are dropped.
  Status Change(std::vector<TableChange> changes);
  // Makes the families of indexes that are about to be filled: build->indexes come with their key
  // numbers. Who opens the table from now on keeps them. REQUIRES: nobody else has the table open.
  Status BeginBuild(const std::string& name, const std::shared_ptr<IndexBuild>& build);
  // Drops them again; writers may be there.
  Status GiveUpBuild(IndexBuild* build);
  // Whether a table, or the first of its partitions that is found, has the definition that goes with
  // this .frm.
  bool IsOfFrm(const std::string& name, Slice frm_version) const;

  // For a value that lies apart; no other value of this database has had it. The first one after a
  // start commits a record. Errors: those of a commit.
  Result<uint64_t> NewValueId();

  // Makes the statistics survive a restart. Not part of any user's transaction.
  Status SaveStats(const TableState& table, const TableStats& stats);

  // At shutdown, when no session is left: takes back what was recorded ahead of AUTO_INCREMENT
  // counters, so that only a crash leaves out values.
  Status SaveAutoIncrements();

  std::vector<std::pair<std::string, TableDef>> List() const;
  // Of the tables that were opened since the start.
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

// The server's name of a table is its path: "./db/table", and "/tmp/#sql..." for temporary ones.
std::string TableName(const char* path);
// Of a table, or of the one that a partition belongs to.
std::string FrmPath(const std::string& name);

// Keys of the plugin's own family. The slot is a number that one connection at a time holds: values
// under one slot never go back, whatever the order in which connections commit.
std::string AutoIncrementKey(const TableDef& def, uint16_t slot);
std::string StatsKey(const TableDef& def);

}  // namespace tidesdb::plugin
