// Prepared XA branches: those of users, which any connection may end once their own is about to
// close, and those that the last run of the server left prepared.
//
// Threads: any number at once.
#pragma once

#include "base/server_port.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/latch.h"
#include "dictionary/touched_table.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

// An XID as the name of a transaction in the log.
std::string NameOfXid(const XID& xid);
// False if it is not such a name.
bool XidOfName(Slice name, XID* xid);

struct Branch {
  std::unique_ptr<Transaction> transaction;
  std::vector<TouchedTable> touched;
  bool recovered = false;  // By the database at its open: the touched tables are unknown.
};

class Branches {
 public:
  // Takes over the prepared transactions that the database found at its open.
  Status Recover(Db* db);
  void Park(Branch branch);
  // Takes the branch out; its transaction is null if there is none.
  Branch Take(Slice name);
  // Call after the end of a branch that was taken out. `sequence`: of its commit; 0: rolled back.
  void Ended(Branch* branch, uint64_t sequence);
  // Fills the list with recovered branches and returns their number. If the list is full the next
  // call continues; otherwise it starts over.
  uint List(XID* list, uint size);
  // The ids of their transactions, and the names that NameOfXid() made.
  std::vector<std::pair<uint64_t, std::string>> All();
  // Forgets them. They stay prepared for the next open of the database.
  void Clear();
  // Whether there are any; one atomic load.
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  // Whether a recovered branch may still change any table.
  bool any_recovered() const { return recovered_.load(std::memory_order_acquire) != 0; }
  // At least the sequence of the last commit of a recovered branch, once it no longer counts.
  uint64_t recovered_version() const { return recovered_version_.load(std::memory_order_acquire); }

 private:
  Latch latch_{LatchOf::kBranches};
  // By name without the format, which the server does not compare. Guarded by latch_.
  std::map<std::string, Branch> branches_;
  std::string listed_;  // The last one returned in a full list. Guarded by latch_.
  std::atomic<size_t> count_{0};
  std::atomic<size_t> recovered_{0};
  std::atomic<uint64_t> recovered_version_{0};
};

}  // namespace tidesdb::plugin
