// An in-memory database with one family, for tests of transactions on one thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "tidesdb/transaction.h"
#include "txn/test_env.h"

namespace tidesdb {

class TransactionTest : public testing::TestWithParam<Concurrency> {
 protected:
  TransactionTest() {
    TestEnv::Options options;
    options.clock = &clock_;
    options.lock_wait_timeout_us = 0;  // One thread: no other can release a lock.
    env_ = std::make_unique<TestEnv>(options);
    family_ = env_->family(1);
  }

  std::unique_ptr<Transaction> Begin(bool conflict_on_changed = true) {
    return env_->Begin(GetParam(), conflict_on_changed);
  }
  bool optimistic() const { return GetParam() == Concurrency::kOptimistic; }

  // The value, or "-" if there is none, or the kind of the error.
  static std::string Text(const Result<bool>& found, const PinnedValue& value) {
    if (!found.ok()) return CodeName(found.status().code());
    return *found ? std::string(value.slice()) : "-";
  }
  std::string Get(Transaction* txn, Slice key) {
    PinnedValue value;
    return Text(txn->Get(family_, key, &value), value);
  }
  std::string GetForUpdate(Transaction* txn, Slice key, LockMode mode = LockMode::kExclusive) {
    PinnedValue value;
    return Text(txn->GetForUpdate(family_, key, mode, LockWait::kNoWait, &value), value);
  }
  std::string Committed(Slice key) { return Get(Begin().get(), key); }
  void Write(Slice key, Slice value) {
    auto txn = Begin();
    ASSERT_TRUE(txn->Put(family_, key, value).ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  void Remove(Slice key) {
    auto txn = Begin();
    ASSERT_TRUE(txn->Delete(family_, key).ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  static std::string Code(const Status& status) { return CodeName(status.code()); }

  FakeClock clock_;
  std::unique_ptr<TestEnv> env_;
  ColumnFamily* family_ = nullptr;
};

}  // namespace tidesdb
