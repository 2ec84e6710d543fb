// A transaction that was not to be had: each of its calls says why.
#pragma once

#include <memory>

#include "tidesdb/transaction.h"

namespace tidesdb {

// REQUIRES: an error.
std::unique_ptr<Transaction> NewRefusedTransaction(Status reason);

}  // namespace tidesdb
