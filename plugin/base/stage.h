// The current work of a statement: the stages of SHOW PROCESSLIST and of performance_schema. Stages that are work
// also show progress (WORK_COMPLETED of WORK_ESTIMATED).
//
// Threads: the connection's own.
#pragma once

#include "base/server_port.h"

#include <cstdint>

namespace tidesdb::plugin {

// The one table of stages: X(Identifier, "name", flags), StageOf::kIdentifier and stage/tidesdb/name. Keep it
// short: the server has room for some 160 stages of all engines (performance_schema_max_stage_classes) and uses
// most of it.
#define TIDESDB_STAGES(X)                                                   \
  X(RowLock, "Waiting for row lock", 0)                                     \
  /* ADD INDEX: rows of the snapshot. */                                    \
  X(IndexRead, "alter table (read rows)", PSI_FLAG_STAGE_PROGRESS)          \
  /* Of a unique index: keys that others wrote meanwhile. */                \
  X(IndexCheck, "alter table (check unique keys)", PSI_FLAG_STAGE_PROGRESS) \
  /* The copy: rows that came in. */                                        \
  X(CopyRows, "alter table (copy rows)", PSI_FLAG_STAGE_PROGRESS)           \
  /* Of both: entries of all that is loaded. */                             \
  X(LoadSort, "alter table (sort and write)", PSI_FLAG_STAGE_PROGRESS)      \
  /* Families: the rows, each index, long values. */                        \
  X(CheckFiles, "check table (read files)", PSI_FLAG_STAGE_PROGRESS)        \
  /* Rows, then entries of each index, then long values. */                 \
  X(CheckEntries, "check table (read entries)", PSI_FLAG_STAGE_PROGRESS)    \
  /* Families, as above. */                                                 \
  X(Optimize, "optimize table (merge files)", PSI_FLAG_STAGE_PROGRESS)

#define TIDESDB_STAGE(id, name, flags) k##id,
enum class StageOf : uint8_t { TIDESDB_STAGES(TIDESDB_STAGE) kEnd };
#undef TIDESDB_STAGE

// Call once when the plugin starts: performance_schema then knows them.
void RegisterStages();
const PSI_stage_info& InfoOf(StageOf stage);

// A part of a statement, from construction to destruction; then the previous stage continues.
class Stage {
 public:
  // work: the estimated amount.
  Stage(THD* thd, StageOf stage, uint64_t work);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Updates the estimate.
  void Expect(uint64_t work);
  // The amount done so far. The estimate grows with it if needed. Costs almost nothing.
  void Done(uint64_t work) {
    if (progress_ == nullptr) return;
    mysql_stage_set_work_completed(progress_, work);
    if (work > work_) Expect(work);
  }

 private:
  THD* const thd_;
  PSI_stage_info before_ = {0, nullptr, 0};
  PSI_stage_progress* progress_ = nullptr;  // Null: not instrumented.
  uint64_t work_ = 0;
};

}  // namespace tidesdb::plugin
