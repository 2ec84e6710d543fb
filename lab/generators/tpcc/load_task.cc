#include "lab/generators/tpcc/load_task.h"

#include <cstdio>
#include <numeric>
#include <string_view>
#include <utility>

#include "lab/generators/common/random.h"
#include "lab/generators/tpcc/rules.h"

namespace tidesdb::lab::tpcc {
namespace {

constexpr int kChunks = 10;  // Of items, and of each warehouse's stock.
constexpr int kRowsPerChunk = kItems / kChunks;
constexpr int kRowsPerBatch = 1000;
constexpr int kOrdersPerBatch = 100;  // About 1,000 order lines.
constexpr int kAverageLines = (kLinesMin + kLinesMax) / 2;

// "INSERT INTO t (columns) VALUES (...),(...)", built value by value.
class InsertBuilder {
 public:
  explicit InsertBuilder(std::string_view head) : head_(head) {}

  InsertBuilder& Row() {
    text_ += rows_ == 0 ? "INSERT INTO " + std::string(head_) + " VALUES (" : "),(";
    ++rows_;
    first_ = true;
    return *this;
  }
  InsertBuilder& Number(int64_t value) {
    Comma();
    text_ += std::to_string(value);
    return *this;
  }
  // A value in SQL form: a decimal, or NULL.
  InsertBuilder& Raw(std::string_view value) {
    Comma();
    text_ += value;
    return *this;
  }
  // Hundredths, as a decimal.
  InsertBuilder& Cents(int64_t cents) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%02lld", static_cast<long long>(cents / 100),
                  static_cast<long long>(cents % 100));
    return Raw(text);
  }
  // REQUIRES: no quote and no backslash in it; the load's texts are letters, digits and blanks.
  InsertBuilder& Text(std::string_view value) {
    Comma();
    text_ += '\'';
    text_ += value;
    text_ += '\'';
    return *this;
  }
  int64_t rows() const { return rows_; }
  // Returns the statement and empties the builder.
  std::string Take() {
    text_ += ')';
    rows_ = 0;
    return std::exchange(text_, std::string());
  }

 private:
  void Comma() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  const std::string_view head_;
  std::string text_;
  int64_t rows_ = 0;
  bool first_ = true;
};

// Moves the builders' contents into one batch for the sink.
Outcome Flush(std::initializer_list<InsertBuilder*> builders, const BatchSink& sink) {
  LoadBatch batch;
  for (InsertBuilder* builder : builders) {
    if (builder->rows() == 0) continue;
    batch.rows += builder->rows();
    batch.statements.push_back(builder->Take());
  }
  if (batch.statements.empty()) return {};
  return sink(batch);
}

void AddAddress(Random* random, InsertBuilder* insert) {
  for (int i = 0; i < 3; ++i) insert->Text(AlphaString(random, 10, 20));  // Two streets, the city.
  insert->Text(AlphaString(random, 2, 2)).Text(Zip(random));
}

Outcome LoadItems(const LoadTask& task, Random* random, const BatchSink& sink) {
  InsertBuilder insert("item (i_id,i_im_id,i_name,i_price,i_data)");
  Sampler original(kRowsPerChunk / 10, kRowsPerChunk);
  const int first = task.part * kRowsPerChunk + 1;
  for (int i_id = first; i_id < first + kRowsPerChunk; ++i_id) {
    insert.Row().Number(i_id).Number(random->Uniform(1, 10000)).Text(AlphaString(random, 14, 24));
    insert.Cents(random->Uniform(100, 10000)).Text(ItemData(random, original.Take(random)));
    if (insert.rows() == kRowsPerBatch) LAB_TRY(Flush({&insert}, sink));
  }
  return Flush({&insert}, sink);
}

Outcome LoadStock(const LoadTask& task, Random* random, const BatchSink& sink) {
  InsertBuilder insert(
      "stock (s_i_id,s_w_id,s_quantity,s_dist_01,s_dist_02,s_dist_03,s_dist_04,s_dist_05,s_dist_06,"
      "s_dist_07,s_dist_08,s_dist_09,s_dist_10,s_ytd,s_order_cnt,s_remote_cnt,s_data)");
  Sampler original(kRowsPerChunk / 10, kRowsPerChunk);
  const int first = task.part * kRowsPerChunk + 1;
  for (int i_id = first; i_id < first + kRowsPerChunk; ++i_id) {
    insert.Row().Number(i_id).Number(task.w_id).Number(random->Uniform(10, 100));
    for (int d_id = 1; d_id <= kDistricts; ++d_id) insert.Text(AlphaString(random, 24, 24));
    insert.Number(0).Number(0).Number(0).Text(ItemData(random, original.Take(random)));
    if (insert.rows() == kRowsPerBatch) LAB_TRY(Flush({&insert}, sink));
  }
  return Flush({&insert}, sink);
}

Outcome LoadWarehouse(const LoadTask& task, Random* random, const BatchSink& sink) {
  InsertBuilder warehouse(
      "warehouse (w_id,w_ytd,w_tax,w_name,w_street_1,w_street_2,w_city,w_state,w_zip)");
  // The load contains a payment of 10.00 by each customer: 10 * 3000 a district, 10 districts.
  warehouse.Row().Number(task.w_id).Raw("300000.00").Cents(random->Uniform(10, 20));
  warehouse.Text(AlphaString(random, 6, 10));
  AddAddress(random, &warehouse);
  InsertBuilder district(
      "district (d_id,d_w_id,d_ytd,d_tax,d_next_o_id,d_name,d_street_1,d_street_2,d_city,d_state,"
      "d_zip)");
  for (int d_id = 1; d_id <= kDistricts; ++d_id) {
    district.Row().Number(d_id).Number(task.w_id).Raw("30000.00").Cents(random->Uniform(10, 20));
    district.Number(kOrdersPerDistrict + 1).Text(AlphaString(random, 6, 10));
    AddAddress(random, &district);
  }
  return Flush({&warehouse, &district}, sink);
}

Outcome LoadCustomers(const LoadTask& task, Random* random, const std::string& date,
                      const BatchSink& sink) {
  InsertBuilder customer(
      "customer (c_id,c_d_id,c_w_id,c_first,c_middle,c_last,c_street_1,c_street_2,c_city,c_state,"
      "c_zip,c_phone,c_since,c_credit,c_credit_lim,c_discount,c_balance,c_ytd_payment,c_payment_"
      "cnt,"
      "c_delivery_cnt,c_data)");
  InsertBuilder history("history (h_c_id,h_c_d_id,h_c_w_id,h_d_id,h_w_id,h_date,h_amount,h_data)");
  for (int c_id = 1; c_id <= kCustomersPerDistrict; ++c_id) {
    // Each of the 1,000 names occurs once; the rest are drawn as for a lookup.
    const std::string last = c_id <= 1000 ? LastName(c_id - 1) : RandomLastName(random);
    customer.Row().Number(c_id).Number(task.part).Number(task.w_id);
    customer.Text(AlphaString(random, 8, 16)).Text("OE").Text(last);
    AddAddress(random, &customer);
    customer.Text(NumberString(random, 16)).Text(date);
    // HammerDB gives bad credit to half of the customers. (The specification: to a tenth.)
    customer.Text(random->Uniform(0, 1) == 1 ? "GC" : "BC").Raw("50000.00");
    customer.Cents(random->Uniform(0, 50)).Raw("-10.00").Raw("10.00").Number(1).Number(0);
    customer.Text(AlphaString(random, 300, 500));
    history.Row().Number(c_id).Number(task.part).Number(task.w_id).Number(task.part);
    history.Number(task.w_id).Text(date).Raw("10.00").Text(AlphaString(random, 12, 24));
    if (customer.rows() == kRowsPerBatch) LAB_TRY(Flush({&customer, &history}, sink));
  }
  return Flush({&customer, &history}, sink);
}

// The customers of a district in random order: each has one order (clause 4.3.3.1).
std::vector<int> ShuffledCustomers(Random* random) {
  std::vector<int> customers(kCustomersPerDistrict);
  std::iota(customers.begin(), customers.end(), 1);
  for (size_t i = customers.size() - 1; i > 0; --i) {
    std::swap(customers[i],
              customers[static_cast<size_t>(random->Uniform(0, static_cast<int64_t>(i)))]);
  }
  return customers;
}

Outcome LoadOrders(const LoadTask& task, Random* random, const std::string& date,
                   const BatchSink& sink) {
  InsertBuilder orders(
      "orders (o_id,o_w_id,o_d_id,o_c_id,o_carrier_id,o_ol_cnt,o_all_local,o_entry_d)");
  InsertBuilder new_order("new_order (no_w_id,no_d_id,no_o_id)");
  InsertBuilder line(
      "order_line (ol_w_id,ol_d_id,ol_o_id,ol_number,ol_i_id,ol_delivery_d,ol_amount,"
      "ol_supply_w_id,ol_quantity,ol_dist_info)");
  const std::vector<int> customers = ShuffledCustomers(random);
  for (int o_id = 1; o_id <= kOrdersPerDistrict; ++o_id) {
    const bool delivered = o_id < kFirstNewOrder;
    const int64_t line_count = random->Uniform(kLinesMin, kLinesMax);
    orders.Row().Number(o_id).Number(task.w_id).Number(task.part);
    orders.Number(customers[static_cast<size_t>(o_id - 1)]);
    const int64_t carrier = random->Uniform(1, 10);
    orders.Raw(delivered ? std::to_string(carrier) : "NULL")
        .Number(line_count)
        .Number(1)
        .Text(date);
    if (!delivered) new_order.Row().Number(task.w_id).Number(task.part).Number(o_id);
    for (int64_t number = 1; number <= line_count; ++number) {
      line.Row().Number(task.w_id).Number(task.part).Number(o_id).Number(number);
      line.Number(random->Uniform(1, kItems));
      // HammerDB: delivered orders have amounts, the others do not.
      if (delivered) {
        line.Text(date).Cents(random->Uniform(10, 10000));
      } else {
        line.Raw("NULL").Number(0);
      }
      line.Number(task.w_id).Number(5).Text(AlphaString(random, 24, 24));
    }
    if (orders.rows() == kOrdersPerBatch) LAB_TRY(Flush({&orders, &new_order, &line}, sink));
  }
  return Flush({&orders, &new_order, &line}, sink);
}

}  // namespace

std::vector<LoadTask> PlanLoad(int warehouses) {
  std::vector<LoadTask> tasks;
  tasks.reserve(kChunks);
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    tasks.push_back({TaskKind::kItems, 0, chunk, kRowsPerChunk});
  }
  for (int w_id = 1; w_id <= warehouses; ++w_id) {
    tasks.push_back({TaskKind::kWarehouse, w_id, 0, 1 + kDistricts});
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      tasks.push_back({TaskKind::kStock, w_id, chunk, kRowsPerChunk});
    }
    for (int d_id = 1; d_id <= kDistricts; ++d_id) {
      tasks.push_back({TaskKind::kCustomers, w_id, d_id, 2 * kCustomersPerDistrict});
    }
    for (int d_id = 1; d_id <= kDistricts; ++d_id) {
      const int64_t rows = kOrdersPerDistrict * (1 + kAverageLines) + kNewOrdersPerDistrict;
      tasks.push_back({TaskKind::kOrders, w_id, d_id, rows});
    }
  }
  return tasks;
}

Outcome RunLoadTask(const LoadTask& task, uint64_t seed, const std::string& date,
                    const BatchSink& sink) {
  Random random =
      Random::Derived(seed, {static_cast<uint64_t>(task.kind), static_cast<uint64_t>(task.w_id),
                             static_cast<uint64_t>(task.part)});
  switch (task.kind) {
    case TaskKind::kItems:
      return LoadItems(task, &random, sink);
    case TaskKind::kWarehouse:
      return LoadWarehouse(task, &random, sink);
    case TaskKind::kStock:
      return LoadStock(task, &random, sink);
    case TaskKind::kCustomers:
      return LoadCustomers(task, &random, date, sink);
    case TaskKind::kOrders:
      return LoadOrders(task, &random, date, sink);
  }
  return Outcome::Fail("no such load task");
}

}  // namespace tidesdb::lab::tpcc
