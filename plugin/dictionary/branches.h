// Prepared XA branches of users, which any connection may end as soon as their own is about to go,
// and what the last run of the server left prepared.
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
// False: it is no such name.
bool XidOfName(Slice name, XID* xid);

struct Branch {
  std::unique_ptr<Transaction> transaction;
  std::vector<TouchedTable> touched;
  bool recovered = false;  // By the database, when it was opened: nobody knows what it touched.
};

class Branches {
 public:
  // Takes over what the database found when it was opened.
  Status Recover(Db* db);
  void Park(Branch branch);
  // Takes it out; without a transaction: there is none.
  Branch Take(Slice name);
  // For one that was taken out and has ended. `sequence`: of its commit; 0: it is rolled back.
  void Ended(Branch* branch, uint64_t sequence);
  // Fills the list with recovered ones and returns how many. Where the list is full the next call
  // goes on; else it begins again.
  uint List(XID* list, uint size);
  // Their transactions' ids, and names as NameOfXid() made them.
  std::vector<std::pair<uint64_t, std::string>> All();
  // They stay prepared, for the next time the database is opened.
  void Clear();
  // Whether there is any; one atomic load.
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  // Whether a recovered one may still change any table.
  bool any_recovered() const { return recovered_.load(std::memory_order_acquire) != 0; }
  // At least the sequence of the last commit of a recovered one, once that counts no more.
  uint64_t recovered_version() const { return recovered_version_.load(std::memory_order_acquire); }

 private:
  Latch latch_{LatchOf::kBranches};
  // By name without the format, which the server does not compare. Guarded by latch_.
  std::map<std::string, Branch> branches_;
  std::string listed_;  // The last one of a full list. Guarded by latch_.
  std::atomic<size_t> count_{0};
  std::atomic<size_t> recovered_{0};
  std::atomic<uint64_t> recovered_version_{0};
};

}  // namespace tidesdb::plugin
