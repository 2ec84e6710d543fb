#include "lab/generators/tpcc/load_task.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lab/generators/tpcc/rules.h"

namespace tidesdb::lab::tpcc {
namespace {

constexpr char kDate[] = "2026-01-31 12:00:00";

using Table = std::vector<std::vector<std::string>>;

// The rows of "INSERT INTO t (...) VALUES (1,'a'),(2,'b')", texts without their quotes. The load's
// texts contain no comma and no parenthesis.
void AddRows(const std::string& statement, std::map<std::string, Table>* tables) {
  constexpr std::string_view kHead = "INSERT INTO ";
  ASSERT_EQ(statement.substr(0, kHead.size()), kHead);
  const size_t name_end = statement.find(' ', kHead.size());
  Table& table = (*tables)[statement.substr(kHead.size(), name_end - kHead.size())];
  size_t at = statement.find(" VALUES ") + 8;
  while (at < statement.size()) {
    const size_t end = statement.find(')', at);
    std::vector<std::string> row;
    std::string field;
    for (const char c : statement.substr(at + 1, end - at - 1)) {
      if (c == ',') {
        row.push_back(std::exchange(field, ""));
      } else if (c != '\'') {
        field += c;
      }
    }
    row.push_back(field);
    table.push_back(row);
    at = end + 2;
  }
}

std::map<std::string, Table> Generate(const LoadTask& task, uint64_t seed = 1) {
  std::map<std::string, Table> tables;
  int64_t rows = 0;
  const Outcome outcome = RunLoadTask(task, seed, kDate, [&](const LoadBatch& batch) -> Outcome {
    int64_t in_batch = 0;
    for (const auto& [name, table] : tables) in_batch -= static_cast<int64_t>(table.size());
    for (const std::string& statement : batch.statements) AddRows(statement, &tables);
    for (const auto& [name, table] : tables) in_batch += static_cast<int64_t>(table.size());
    EXPECT_EQ(in_batch, batch.rows);
    rows += batch.rows;
    return {};
  });
  EXPECT_TRUE(outcome.ok());
  return tables;
}

int Int(const std::string& text) { return std::stoi(text); }

TEST(LoadTaskTest, ThePlanHasEveryPartOnce) {
  const std::vector<LoadTask> tasks = PlanLoad(3);
  std::set<std::tuple<int, int, int>> seen;
  int64_t rows = 0;
  for (const LoadTask& task : tasks) {
    EXPECT_TRUE(seen.insert({static_cast<int>(task.kind), task.w_id, task.part}).second);
    rows += task.rows;
  }
  EXPECT_EQ(tasks.size(), 10u + 3u * (1 + 10 + 10 + 10));
  // 100,000 items; a warehouse: 1 + 10 + 100,000 + 60,000 + 30,000 * 11 + 9,000.
  EXPECT_EQ(rows, 100000 + 3 * 499011);
}

TEST(LoadTaskTest, OneSeedMakesOneLoad) {
  const LoadTask task{TaskKind::kOrders, 2, 3, 0};
  EXPECT_EQ(Generate(task, 7), Generate(task, 7));
  EXPECT_NE(Generate(task, 7), Generate(task, 8));
  EXPECT_NE(Generate(task, 7), Generate({TaskKind::kOrders, 2, 4, 0}, 7));
}

TEST(LoadTaskTest, Items) {
  const Table items = Generate({TaskKind::kItems, 0, 3, 0})["item"];
  ASSERT_EQ(items.size(), 10000u);
  int original = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(Int(items[i][0]), static_cast<int>(30001 + i));
    EXPECT_GE(std::stod(items[i][3]), 1.0);
    EXPECT_LE(std::stod(items[i][3]), 100.0);
    original += items[i][4].find("ORIGINAL") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(original, 1000);
}

TEST(LoadTaskTest, Stock) {
  const Table stock = Generate({TaskKind::kStock, 5, 9, 0})["stock"];
  ASSERT_EQ(stock.size(), 10000u);
  EXPECT_EQ(stock.back()[0], "100000");
  int original = 0;
  for (const auto& row : stock) {
    EXPECT_EQ(row[1], "5");
    EXPECT_GE(Int(row[2]), 10);
    EXPECT_LE(Int(row[2]), 100);
    for (size_t dist = 3; dist < 13; ++dist) EXPECT_EQ(row[dist].size(), 24u);
    EXPECT_EQ(row[13] + row[14] + row[15], "000");
    original += row[16].find("ORIGINAL") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(original, 1000);
}

TEST(LoadTaskTest, WarehouseAndDistricts) {
  const auto tables = Generate({TaskKind::kWarehouse, 4, 0, 0});
  ASSERT_EQ(tables.at("warehouse").size(), 1u);
  EXPECT_EQ(tables.at("warehouse")[0][1], "300000.00");
  ASSERT_EQ(tables.at("district").size(), 10u);
  for (const auto& row : tables.at("district")) {
    EXPECT_EQ(row[1], "4");
    EXPECT_EQ(row[2], "30000.00");
    EXPECT_EQ(row[4], "3001");
    EXPECT_GE(std::stod(row[3]), 0.10);
    EXPECT_LE(std::stod(row[3]), 0.20);
  }
}

TEST(LoadTaskTest, CustomersAndTheirFirstPayment) {
  const auto tables = Generate({TaskKind::kCustomers, 1, 6, 0});
  const Table& customers = tables.at("customer");
  ASSERT_EQ(customers.size(), 3000u);
  int good = 0;
  std::set<std::string> names;
  for (size_t i = 0; i < customers.size(); ++i) {
    const auto& row = customers[i];
    EXPECT_EQ(Int(row[0]), static_cast<int>(i + 1));
    EXPECT_EQ(row[1], "6");
    EXPECT_EQ(row[4], "OE");
    if (i < 1000) {
      EXPECT_EQ(row[5], LastName(static_cast<int>(i)));
    }
    names.insert(row[5]);
    EXPECT_EQ(row[11].size(), 16u);
    EXPECT_EQ(row[12], kDate);
    good += row[13] == "GC" ? 1 : 0;
    EXPECT_EQ(row[16], "-10.00");
    EXPECT_GE(row[20].size(), 300u);
    EXPECT_LE(row[20].size(), 500u);
  }
  EXPECT_EQ(names.size(), 1000u);
  EXPECT_NEAR(good, 1500, 150);
  const Table& history = tables.at("history");
  ASSERT_EQ(history.size(), 3000u);
  for (const auto& row : history) EXPECT_EQ(row[6], "10.00");
}

TEST(LoadTaskTest, OrdersLinesAndNewOrders) {
  const auto tables = Generate({TaskKind::kOrders, 1, 2, 0});
  const Table& orders = tables.at("orders");
  ASSERT_EQ(orders.size(), 3000u);
  std::set<int> customers;
  std::map<int, int> wanted_lines;
  for (const auto& row : orders) {
    const int o_id = Int(row[0]);
    customers.insert(Int(row[3]));
    EXPECT_EQ(row[4] == "NULL", o_id >= 2101) << o_id;
    wanted_lines[o_id] = Int(row[5]);
    EXPECT_GE(Int(row[5]), 5);
    EXPECT_LE(Int(row[5]), 15);
  }
  EXPECT_EQ(customers.size(), 3000u) << "each customer has one order";
  const Table& new_orders = tables.at("new_order");
  ASSERT_EQ(new_orders.size(), 900u);
  EXPECT_EQ(new_orders.front()[2], "2101");
  EXPECT_EQ(new_orders.back()[2], "3000");
  std::map<int, int> lines;
  for (const auto& row : tables.at("order_line")) {
    const int o_id = Int(row[2]);
    EXPECT_EQ(Int(row[3]), ++lines[o_id]);
    EXPECT_EQ(row[5] == "NULL", o_id >= 2101);
    EXPECT_EQ(row[6] == "0", o_id >= 2101) << row[6];
    EXPECT_EQ(row[8], "5");
  }
  EXPECT_EQ(lines, wanted_lines);
}

TEST(LoadTaskTest, AFailingSinkEndsTheTask) {
  int calls = 0;
  const Outcome outcome =
      RunLoadTask({TaskKind::kStock, 1, 0, 0}, 1, kDate, [&calls](const LoadBatch&) -> Outcome {
        return ++calls == 3 ? Outcome::Fail("disk full") : Outcome();
      });
  EXPECT_EQ(outcome.message, "disk full");
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace tidesdb::lab::tpcc
