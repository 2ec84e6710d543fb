// Fills a family with entries that come in any order: sorted outside of memory, written as finished
// table files, and there all at once.
//
//   auto load = db->BeginLoad(family, {});
//   for (...) (*load)->Add(key, value);
//   (*load)->Commit();
//
// There are two kinds. Db::BeginLoad fills an empty family beside others who write to it, without
// the log. Transaction::BeginLoad takes the family for the transaction, and what it brings is
// committed with the rest of that, or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tidesdb/result.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

struct LoadOptions {
  // For entries that are not sorted yet; at least 64 KiB. Beside it a load takes what one table
  // writer needs, and while it merges a block of each of at most some hundred sorted runs; twice
  // that where a second thread merges one half.
  uint64_t memory_bytes = 32 << 20;
  // Asked every thousand entries that are written, and while Commit waits; an error of it ends
  // the call. May be empty.
  std::function<Status(uint64_t entries_written)> on_written;
};

// Of Db::BeginLoad: others may write to the family meanwhile. What a load brings counts as written
// when it began: a put or a deletion of theirs stays in front of it, whatever comes first. So a
// snapshot from before BeginLoad sees none of it, and a newer one sees it from Commit on: keep
// readers away until then.
//
// Threads: one at a time. Interrupting goes through on_written.
// Lifetime: one of a Db counts as an open transaction of it. One of a transaction ends before that
//   object does.
// Destroyed without an OK of Commit, it leaves nothing, and neither does a crash.
class Load {
 public:
  virtual ~Load() = default;

  // Errors: kInvalidArgument (limits.h, or it has ended), kReadOnly, kShuttingDown, kIoError,
  // kNoSpace, kAlreadyExists as Finish. After one, only the destructor may follow.
  virtual Status Add(Slice key, Slice value) = 0;

  // Writes what there is to sorted files, which takes most of a load's time; Commit does so if it
  // was not done. No Add may follow. Errors: kAlreadyExists: two entries have the same key;
  // kIoError, kNoSpace, kCorruption.
  virtual Status Finish() = 0;

  // Of Db::BeginLoad: all of it is there and durable, with every commit from before; waits for the
  // disk, and for compactions of this family. Of Transaction::BeginLoad: the transaction has it, and
  // this may be destroyed. Errors: Finish's; kInvalidArgument (the family was dropped), kBusy
  // (all its levels are full), kIoError (it may be there after the next open).
  virtual Status Commit() = 0;

  // After Finish, before Commit: whether the key is there, and its value; for who has to tell of a
  // duplicate in another family. Errors: kInvalidArgument (not then), kIoError, kCorruption.
  virtual Result<bool> Find(Slice key, std::string* value) = 0;

  // After kAlreadyExists: the key, and the value of one of its entries.
  virtual const std::string& duplicate_key() const = 0;
  virtual const std::string& duplicate_value() const = 0;
};

}  // namespace tidesdb
