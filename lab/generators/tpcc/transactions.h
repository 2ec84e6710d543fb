// The client's side of the five transactions: draws the inputs, CALLs the procedure, reads its
// outputs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/common/random.h"
#include "lab/generators/tpcc/commit_log.h"

namespace tidesdb::lab::tpcc {

enum class Transaction : uint8_t { kNewOrder, kPayment, kDelivery, kStockLevel, kOrderStatus };
inline constexpr size_t kTransactions = 5;
inline constexpr std::array<std::string_view, kTransactions> kTransactionNames = {
    "NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT"};

// HammerDB's mix: 10, 10, 1, 1 and 1 of 23 (43.5 % new orders and payments, 4.3 % each other).
Transaction ChooseTransaction(Random* random);

// The home warehouses of a user. HammerDB draws one for each user. With `all_warehouses`, the user
// with number `user` of `users` (from 0) has every users-th one and draws one of them each time.
std::vector<int> HomeWarehouses(Random* random, int user, int users, int warehouses,
                                bool all_warehouses);

// Threads: one, its user's.
class TransactionRunner {
 public:
  // With `log_deliveries` a delivery costs a second round trip to learn the delivered orders.
  TransactionRunner(Client* client, Random* random, int warehouses, bool log_deliveries)
      : client_(client),
        random_(random),
        warehouses_(warehouses),
        log_deliveries_(log_deliveries) {}

  // Runs one transaction. The statements and round trips are HammerDB's: SET of the procedure's
  // in-out variables, CALL, SELECT of its outputs. `record` says what was committed (kNone:
  // nothing), even if the SELECT fails.
  Outcome Run(Transaction transaction, int w_id, int stock_level_d_id, CommitRecord* record);

  // Whether the last Run was a new order that rolled back because of the unused item.
  bool rolled_back() const { return rolled_back_; }

 private:
  Outcome NewOrder(int w_id, CommitRecord* record);
  Outcome Payment(int w_id, CommitRecord* record);
  Outcome OrderStatus(int w_id);
  Outcome Delivery(int w_id, CommitRecord* record);
  Outcome StockLevel(int w_id, int d_id);

  Client* const client_;
  Random* const random_;
  const int warehouses_;
  const bool log_deliveries_;
  bool rolled_back_ = false;
  Rows rows_;  // Kept to reuse its memory.
};

}  // namespace tidesdb::lab::tpcc
