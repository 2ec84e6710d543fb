// What ALTER TABLE without a copy is going to do. ha_alter_plan.cc decides, ha_alter.cc carries it out.
//
// Threads: one at a time, the connection that runs ALTER TABLE.
#pragma once

#include "base/server_port.h"

#include <memory>
#include <vector>

#include "dictionary/dictionary.h"
#include "handler/index_builder.h"

namespace tidesdb::plugin {

// The table's new definition, prepared while it can still be refused.
class AlterPlan final : public inplace_alter_handler_ctx {
 public:
  TableChange change;
  std::vector<uint> added;  // Keys of the new definition that must be filled.
  std::shared_ptr<TableCodec> codec = std::make_shared<TableCodec>();
  std::vector<ColumnOrigin> sources;  // As IndexBuild::sources.
  std::unique_ptr<IndexBuilder> builder;
};

}  // namespace tidesdb::plugin
