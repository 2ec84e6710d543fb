// Fills a family with entries in any order: sorts them on disk, writes finished table files and adds these all at
// once.
//
//   auto load = db->BeginLoad(family, {});
//   for (...) (*load)->Add(key, value);
//   (*load)->Commit();
//
// There are two kinds. Db::BeginLoad fills an empty family without the log, while others may write to it.
// Transaction::BeginLoad takes the family for the transaction; its entries commit or roll back with the
// transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tidesdb/result.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

struct LoadOptions {
  // Memory for unsorted entries; at least 64 KiB. A load also needs the memory of one table writer and, while it
  // merges, one block for each sorted run, up to some hundred runs. Both twice where a second thread merges one half.
  uint64_t memory_bytes = 32 << 20;
  // Called for every thousand entries written, and while Commit waits. An error from it ends the call. May be
  // empty.
  std::function<Status(uint64_t entries_written)> on_written;
};

// Of Db::BeginLoad: others may write to the family at the same time. The load's entries count as written when the
// load began: a put or deletion by others wins, whichever comes first. A snapshot from before BeginLoad therefore
// sees none of the load; a newer one sees it from Commit on. Keep readers away until then.
//
// Threads: one at a time. To interrupt, return an error from on_written.
// Lifetime: a load of a Db counts as one of its open transactions. A load of a transaction must end before the
//   transaction object.
// Destroying it without a successful Commit leaves nothing behind, and neither does a crash.
class Load {
 public:
  virtual ~Load() = default;

  // Errors: kInvalidArgument (limits.h, or the load has ended), kReadOnly, kShuttingDown, kIoError, kNoSpace,
  // kAlreadyExists as Finish. After an error only the destructor may follow.
  virtual Status Add(Slice key, Slice value) = 0;

  // Writes the entries to sorted files, which takes most of a load's time. Commit does it if you do not. No Add may
  // follow.
  // Errors: kAlreadyExists (two entries have the same key), kIoError, kNoSpace, kCorruption.
  virtual Status Finish() = 0;

  // Of Db::BeginLoad: makes all entries visible and durable, with every earlier commit; waits for the disk and for
  // compactions of this family. Of Transaction::BeginLoad: gives the entries to the transaction; the load may then
  // be destroyed.
  // Errors: those of Finish; kInvalidArgument (the family was dropped), kBusy (all its levels are full), kIoError
  // (the entries may be there after the next open).
  virtual Status Commit() = 0;

  // After Finish and before Commit: whether the key is there, and its value. Used to report a duplicate in another
  // family.
  // Errors: kInvalidArgument (at any other time), kIoError, kCorruption.
  virtual Result<bool> Find(Slice key, std::string* value) = 0;

  // After kAlreadyExists: the key, and the value of one of its entries.
  virtual const std::string& duplicate_key() const = 0;
  virtual const std::string& duplicate_value() const = 0;
};

}  // namespace tidesdb
