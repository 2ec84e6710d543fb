#include "lab/generators/tpcc/transactions.h"

#include <ctime>

#include "lab/generators/tpcc/rules.h"

namespace tidesdb::lab::tpcc {
namespace {

constexpr std::string_view kPaymentOutputs =
    "@p_w_street_1,@p_w_street_2,@p_w_city,@p_w_state,@p_w_zip,"
    "@p_d_street_1,@p_d_street_2,@p_d_city,@p_d_state,@p_d_zip,"
    "@p_c_first,@p_c_middle,@p_c_street_1,@p_c_street_2,@p_c_city,@p_c_state,@p_c_zip,@p_c_phone,"
    "@p_c_since,@p_c_credit,@p_c_credit_lim,@p_c_discount,@p_c_balance,@p_c_data";

std::string Now() { return DateText(std::time(nullptr)); }

// A date in HammerDB's form: "str_to_date(20261122154938,'%Y%m%d%H%i%s')".
std::string SqlDate(std::string_view date) {
  std::string sql = "str_to_date(";
  for (const char c : date) {
    if (c >= '0' && c <= '9') sql += c;
  }
  return sql + ",'%Y%m%d%H%i%s')";
}

// "CALL NAME(1,2,3": the numbers first; the caller appends the rest.
std::string CallHead(std::string_view name, std::initializer_list<int64_t> numbers) {
  std::string call = "CALL ";
  call += name;
  char separator = '(';
  for (const int64_t number : numbers) {
    call += separator;
    call += std::to_string(number);
    separator = ',';
  }
  return call;
}

}  // namespace

Transaction ChooseTransaction(Random* random) {
  const int64_t choice = random->Uniform(1, 23);
  if (choice <= 10) return Transaction::kNewOrder;
  if (choice <= 20) return Transaction::kPayment;
  if (choice == 21) return Transaction::kDelivery;
  if (choice == 22) return Transaction::kStockLevel;
  return Transaction::kOrderStatus;
}

std::vector<int> HomeWarehouses(Random* random, int user, int users, int warehouses,
                                bool all_warehouses) {
  if (!all_warehouses) return {static_cast<int>(random->Uniform(1, warehouses))};
  std::vector<int> homes;
  const int wanted = (warehouses + users - 1) / users;
  homes.reserve(static_cast<size_t>(wanted));
  for (int i = 0; i < wanted; ++i) homes.push_back((user + i * users) % warehouses + 1);
  return homes;
}

Outcome TransactionRunner::Run(Transaction transaction, int w_id, int stock_level_d_id,
                               CommitRecord* record) {
  *record = CommitRecord();
  rolled_back_ = false;
  switch (transaction) {
    case Transaction::kNewOrder:
      return NewOrder(w_id, record);
    case Transaction::kPayment:
      return Payment(w_id, record);
    case Transaction::kDelivery:
      return Delivery(w_id, record);
    case Transaction::kStockLevel:
      return StockLevel(w_id, stock_level_d_id);
    case Transaction::kOrderStatus:
      return OrderStatus(w_id);
  }
  return Outcome::Fail("no such transaction");
}

Outcome TransactionRunner::NewOrder(int w_id, CommitRecord* record) {
  const int d_id = static_cast<int>(random_->Uniform(1, kDistricts));
  const int c_id = static_cast<int>(random_->Uniform(1, kCustomersPerDistrict));
  const int lines = static_cast<int>(random_->Uniform(kLinesMin, kLinesMax));
  LAB_TRY(client_->Exec("SET @o_id = 0"));
  LAB_TRY(client_->Exec(CallHead("NEWORD", {w_id, warehouses_, d_id, c_id, lines}) +
                        ",@discount,@last,@credit,@d_tax,@w_tax,@o_id," + SqlDate(Now()) + ")"));
  // If the next round trip fails, it is unknown whether this was one of the 1 % that roll back.
  record->kind = CommitKind::kLost;
  LAB_TRY(client_->Query("SELECT @discount,@last,@credit,@d_tax,@w_tax,@o_id", &rows_));
  const int o_id = rows_.empty() ? 0 : static_cast<int>(ToInt(rows_[0][5]));
  rolled_back_ = o_id == 0;
  record->kind = rolled_back_ ? CommitKind::kNone : CommitKind::kNewOrder;
  record->w_id = w_id;
  record->d_id = d_id;
  record->o_id = o_id;
  record->c_id = c_id;
  record->lines = lines;
  return {};
}

Outcome TransactionRunner::Payment(int w_id, CommitRecord* record) {
  const int d_id = static_cast<int>(random_->Uniform(1, kDistricts));
  int c_w_id = w_id;
  int c_d_id = d_id;
  if (random_->Uniform(1, 100) > 85) {  // A customer of another warehouse, clause 2.5.1.2.
    c_d_id = static_cast<int>(random_->Uniform(1, kDistricts));
    while (c_w_id == w_id && warehouses_ != 1) {
      c_w_id = static_cast<int>(random_->Uniform(1, warehouses_));
    }
  }
  const bool by_name = random_->Uniform(1, 100) <= 60;
  const std::string last = by_name ? RandomLastName(random_) : std::string();
  const int c_id = static_cast<int>(random_->Uniform(1, kCustomersPerDistrict));
  const int64_t amount = random_->Uniform(1, 5000);
  const std::string date = Now();
  LAB_TRY(client_->Exec("SET @p_c_id = " + std::to_string(c_id) + ", @p_c_last = '" + last +
                        "', @p_c_credit = 0, @p_c_balance = 0"));
  std::string call = CallHead("PAYMENT", {w_id, d_id, c_w_id, c_d_id});
  call +=
      ",@p_c_id," + std::to_string(by_name ? 1 : 0) + "," + std::to_string(amount) + ",@p_c_last,";
  call += kPaymentOutputs;
  call += "," + SqlDate(date) + ")";
  LAB_TRY(client_->Exec(call));
  record->kind = CommitKind::kPayment;
  record->w_id = w_id;
  record->d_id = d_id;
  record->c_w_id = c_w_id;
  record->c_d_id = c_d_id;
  record->c_id = by_name ? 0 : c_id;
  record->amount = amount;
  record->date = date;
  std::string outputs = "SELECT @p_c_id,@p_c_last,";
  outputs += kPaymentOutputs;
  LAB_TRY(client_->Query(outputs, &rows_));
  if (!rows_.empty()) record->c_id = static_cast<int>(ToInt(rows_[0][0]));
  return {};
}

Outcome TransactionRunner::OrderStatus(int w_id) {
  const int64_t d_id = random_->Uniform(1, kDistricts);
  const bool by_name = random_->Uniform(1, 100) <= 60;
  const std::string last = by_name ? RandomLastName(random_) : std::string();
  const int64_t c_id = random_->Uniform(1, kCustomersPerDistrict);
  LAB_TRY(client_->Exec("SET @c_id = " + std::to_string(c_id) + ", @c_last = '" + last + "'"));
  LAB_TRY(client_->Exec(CallHead("OSTAT", {w_id, d_id}) + ",@c_id," + (by_name ? "1" : "0") +
                        ",@c_last,@c_first,@c_middle,@c_balance,@o_id,@entry_d,@carrier_id)"));
  return client_->Query(
      "SELECT @c_id,@c_last,@c_first,@c_middle,@c_balance,@o_id,@entry_d,@carrier_id", &rows_);
}

Outcome TransactionRunner::Delivery(int w_id, CommitRecord* record) {
  const int carrier = static_cast<int>(random_->Uniform(1, 10));
  LAB_TRY(
      client_->Exec(CallHead("DELIVERY", {w_id, carrier}) + "," + SqlDate(Now()) + ",@delivered)"));
  record->kind = CommitKind::kDelivery;
  record->w_id = w_id;
  record->carrier = carrier;
  record->delivered_known = false;
  if (!log_deliveries_) return {};
  LAB_TRY(client_->Query("SELECT @delivered", &rows_));
  if (rows_.empty() || !rows_[0][0]) return {};
  auto delivered = ParseDelivered(*rows_[0][0]);
  if (!delivered) return Outcome::Fail("DELIVERY returned '" + *rows_[0][0] + "'");
  record->delivered = std::move(*delivered);
  record->delivered_known = true;
  return {};
}

Outcome TransactionRunner::StockLevel(int w_id, int d_id) {
  const int64_t threshold = random_->Uniform(10, 20);
  LAB_TRY(client_->Exec(CallHead("SLEV", {w_id, d_id, threshold}) + ",@stock_count)"));
  return client_->Query("SELECT @stock_count", &rows_);
}

}  // namespace tidesdb::lab::tpcc
