#include "lock/writer_registry.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {

WriterRegistry::~WriterRegistry() {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mu);
    CHECK(shard.writers.empty());
  }
}

void WriterRegistry::Add(LockOwner* owner, const StagedKeys* keys) {
  Shard& shard = ShardOf(owner);
  MutexLock lock(shard.mu);
  shard.writers.push_back({owner, keys});
  owner->writes = true;
}

void WriterRegistry::Remove(LockOwner* owner) {
  if (!owner->writes) return;
  Shard& shard = ShardOf(owner);
  MutexLock lock(shard.mu);
  std::erase_if(shard.writers, [owner](const Writer& writer) { return writer.owner == owner; });
  owner->writes = false;
}

void WriterRegistry::Narrow(const StagedKeys::Look& look, Found* found) {
  if (look.has_before && (!found->has_from || look.before > found->from)) {
    found->has_from = true;
    found->from = look.before;
  }
  if (look.has_after && (!found->has_to || look.after < found->to)) {
    found->has_to = true;
    found->to = look.after;
  }
}

Result<WriterRegistry::Found> WriterRegistry::Find(LockOwner* owner, FamilyId family, Slice start,
                                                   Slice end, RangeHold hold, bool may_wait) {
  Found found;
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mu);
    for (const Writer& writer : shard.writers) {
      if (writer.owner == owner) continue;
      const StagedKeys::Look look = writer.keys->LookAt(family, start, end, hold);
      if (!look.conflict) {
        Narrow(look, &found);
        continue;
      }
      if (!may_wait) {
        return Status::TimedOut("a key in the range is being written by transaction " +
                                std::to_string(writer.owner->id));
      }
      // The writer ends only after it has left this shard.
      TIDESDB_TRY(graph_->BeginEndWait(owner, writer.owner, {WaitFor::kWrite, family, start}));
      found.waiting = true;
      return found;
    }
  }
  return found;
}

}  // namespace tidesdb
