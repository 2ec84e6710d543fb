// The two-phase transactions of a simulated life, with a coordinator whose memory is durable: after
// a crash its decisions are looked up by name.
//
// Threads: one at a time, as History.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "sim/history.h"
#include "tidesdb/db.h"

namespace tidesdb::simtest {

class TwoPhaseClients {
 public:
  explicit TwoPhaseClients(History* history) : history_(history) {}

  // Prepares the transaction, then commits it, rolls it back, or leaves it prepared.
  Status Run(Random* random, std::unique_ptr<Transaction> txn, Writes writes);

  // After a crash: whether the prepared transactions and the contents match the decisions. `all`:
  // no acknowledged commit may be lost. Call it before History::CheckRecovered.
  std::string Recovered(std::vector<std::unique_ptr<Transaction>> prepared, const Contents& found,
                        bool all);
  // Call it afterwards: commits the decided ones, and some of the rest.
  std::string Resolve(Random* random);
  // The process is about to die: prepared transactions stay prepared.
  void ForgetHandles();

  uint64_t commits() const { return commits_; }
  uint64_t found() const { return found_; }
  uint64_t recommits() const { return recommits_; }

 private:
  struct Client {
    Writes writes;
    bool prepared = false;     // PrepareNamed returned OK.
    bool decided = false;      // To be committed.
    bool rolled_back = false;  // Or was about to be.
    bool acked = false;
    size_t ticket = 0;  // Set at the decision, in this life.
    std::unique_ptr<Transaction> handle;
  };

  static bool IsThere(const Client& client, const Contents& found);
  Status Commit(Client* client, Transaction* txn, bool ordered);

  History* const history_;
  std::map<std::string, Client> clients_;  // By name; includes prepared ones of earlier lives.
  uint64_t next_ = 0;
  uint64_t commits_ = 0;
  uint64_t found_ = 0;
  uint64_t recommits_ = 0;
};

}  // namespace tidesdb::simtest
