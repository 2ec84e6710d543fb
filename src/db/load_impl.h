// A load: sorts its entries into table files, and hands them to the tree.
//
// Threads: as Load.
// Owns: its files until they are installed, and a transaction, which keeps the engine open.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "db/db_impl.h"
#include "lsm/load_sorter.h"
#include "tidesdb/load.h"

namespace tidesdb {

class LoadImpl final : public Load {
 public:
  // The load has begun at `sequence`. `transaction`: empty.
  LoadImpl(DbImpl* db, const ColumnFamily* family, SequenceNumber sequence,
           std::unique_ptr<Transaction> transaction, LoadSorterOptions options);
  ~LoadImpl() override;

  Status Add(Slice key, Slice value) override;
  Status Finish() override;
  Status Commit() override;
  const std::string& duplicate_key() const override { return sorter_.duplicate_key(); }
  const std::string& duplicate_value() const override { return sorter_.duplicate_value(); }

 private:
  enum class State : uint8_t { kAdding, kSorted, kFailed, kEnded };

  Status CheckState(State wanted) const;
  // Keeps an error: nothing may follow it.
  Status Note(Status status);

  DbImpl* const db_;
  const ColumnFamily* const family_;
  const FamilyId id_;
  const SequenceNumber sequence_;
  const std::unique_ptr<Transaction> transaction_;  // Before what it keeps alive is used last.
  const std::function<Status(uint64_t)> on_written_;
  LoadSorter sorter_;
  State state_ = State::kAdding;
};

}  // namespace tidesdb
