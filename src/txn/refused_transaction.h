// The result of a failed Begin: a transaction whose calls all return the reason.
#pragma once

#include <memory>

#include "tidesdb/transaction.h"

namespace tidesdb {

// REQUIRES: an error.
std::unique_ptr<Transaction> NewRefusedTransaction(Status reason);

}  // namespace tidesdb
