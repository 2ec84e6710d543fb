#include "lab/generators/iibench/rows.h"

#include <string_view>

#include "lab/generators/common/client.h"
#include "lab/generators/iibench/schema.h"

namespace tidesdb::lab::iibench {
namespace {

constexpr std::string_view kCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

}  // namespace

RowMaker::RowMaker(const RowRules& rules, uint64_t phase, uint64_t client)
    : rules_(rules), phase_(phase), client_(client) {}

const std::string& RowMaker::Insert(const std::string& table, int64_t batch, int64_t rows,
                                    std::time_t when) {
  Random random =
      Random::Derived(rules_.seed, {phase_ + 1, client_ + 1, static_cast<uint64_t>(batch)});
  const std::string time = DateText(when);
  sql_ = "INSERT INTO " + table +
         " (dateandtime, cashregisterid, customerid, productid, price, data) VALUES ";
  for (int64_t row = 0; row < rows; ++row) {
    if (row != 0) sql_ += ',';
    AppendRow(&random, time);
  }
  return sql_;
}

void RowMaker::AppendRow(Random* random, const std::string& when) {
  sql_ += "('" + when + "'";
  for (const int64_t values : {kCashRegisters, kCustomers, kProducts, kPrices}) {
    sql_ += ',';
    sql_ += std::to_string(random->Uniform(0, values - 1));
  }
  const int64_t length = random->Uniform(rules_.data_min, rules_.data_max);
  sql_ += ",'";
  sql_.append(static_cast<size_t>(length - length / 2), 'a');
  for (int64_t i = 0; i < length / 2; ++i) {
    const int64_t at = random->Uniform(0, static_cast<int64_t>(kCharacters.size()) - 1);
    sql_ += kCharacters[static_cast<size_t>(at)];
  }
  sql_ += "')";
}

}  // namespace tidesdb::lab::iibench
