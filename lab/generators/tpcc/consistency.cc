#include "lab/generators/tpcc/consistency.h"

#include <algorithm>

#include "lab/generators/common/stage.h"
#include "lab/generators/tpcc/district_scan.h"
#include "lab/generators/tpcc/rules.h"

namespace tidesdb::lab::tpcc {
namespace {

constexpr size_t kSamplesMax = 5;

struct District {
  int64_t next_o_id = 0;
  int64_t ytd_cents = 0;
};

std::string Money(int64_t cents) {
  const std::string sign = cents < 0 ? "-" : "";
  const std::string fraction = std::to_string(std::abs(cents) % 100 + 100).substr(1);
  return sign + std::to_string(std::abs(cents) / 100) + "." + fraction;
}

// The secondary index of a table, whatever its name.
Outcome SecondaryIndex(Client* client, std::string_view table, std::string* name) {
  return client->QueryText(
      "SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE()"
      " AND table_name = " +
          QuoteText(table) + " AND index_name <> 'PRIMARY' LIMIT 1",
      name);
}

// One run over the database; results collect in the report.
class Checker {
 public:
  Checker(Client* client, const CheckOptions& options, ConsistencyReport* report)
      : client_(client), options_(options), report_(report) {
    // Created up front, because others point to them.
    report_->checks = {
        {"1", "w_ytd = sum(d_ytd)", {}, 0, {}},
        {"2", "d_next_o_id - 1 = max(o_id) = max(no_o_id)", {}, 0, {}},
        {"3", "the numbers of new orders have no gaps", {}, 0, {}},
        {"4", "sum(o_ol_cnt) = number of order lines, per district", {}, 0, {}},
        {"5", "an order has no carrier exactly when it is a new order", {}, 0, {}},
        {"6", "o_ol_cnt = number of order lines, per order", {}, 0, {}},
        {"7", "a line has no delivery date exactly when its order has no carrier", {}, 0, {}},
        {"8", "w_ytd = sum(h_amount)", {}, 0, {}},
        {"9", "d_ytd = sum(h_amount)", {}, 0, {}},
        {"11", "orders - new orders = 2100, per district", {}, 0, {}},
        {"balance", "sum(c_balance) = load + payments + deliveries, per district", {}, 0, {}},
        {"rows",
         "warehouse, district, customer, stock and item have their number of rows",
         {},
         0,
         {}},
        {"indexes", "secondary indexes hold what the tables hold", {}, 0, {}},
    };
    if (!options_.after_load) Skip("11", "holds after the load only");
    if (!options_.balance) Skip("balance", options_.balance_skipped);
  }

  Outcome Run() {
    LAB_TRY(LoadWarehouses());
    LAB_TRY(CheckYtd());
    LAB_TRY(SecondaryIndex(client_, "orders", &orders_index_));
    LAB_TRY(SecondaryIndex(client_, "customer", &customer_index_));
    if (options_.balance) LAB_TRY(LoadPayments());
    for (const auto& [id, district] : districts_) LAB_TRY(CheckDistrict(id, district));
    for (const auto& [w_id, ytd] : warehouses_) LAB_TRY(CheckWarehouseRows(w_id));
    return CheckItems();
  }

  const BalanceGaps& gaps() const { return gaps_; }

 private:
  CheckResult* Find(std::string_view name) {
    return &*std::find_if(report_->checks.begin(), report_->checks.end(),
                          [name](const CheckResult& check) { return check.name == name; });
  }

  void Skip(std::string_view name, const std::string& why) {
    CheckResult* check = Find(name);
    check->state = CheckState::kSkipped;
    check->samples = {why};
  }

  Outcome LoadWarehouses() {
    LAB_TRY(client_->Stream(
        "SELECT w_id, CAST(w_ytd * 100 AS SIGNED) FROM warehouse",
        [this](const Row& row) { warehouses_[static_cast<int>(ToInt(row[0]))] = ToInt(row[1]); }));
    LAB_TRY(client_->Stream(
        "SELECT d_w_id, d_id, d_next_o_id, CAST(d_ytd * 100 AS SIGNED) FROM district",
        [this](const Row& row) {
          districts_[DistrictIn(row)] = {ToInt(row[2]), ToInt(row[3])};
        }));
    if (warehouses_.empty()) Find("rows")->Violation("there is no warehouse");
    if (!warehouses_.empty() &&
        warehouses_.rbegin()->first != static_cast<int>(warehouses_.size())) {
      Find("rows")->Violation("warehouses are missing");
    }
    if (districts_.size() != warehouses_.size() * kDistricts) {
      Find("rows")->Violation(std::to_string(districts_.size()) + " districts of " +
                              std::to_string(warehouses_.size()) + " warehouses");
    }
    return {};
  }

  // Conditions 1, 8 and 9: the year-to-date sums.
  Outcome CheckYtd() {
    std::map<DistrictId, int64_t> paid;
    LAB_TRY(
        client_->Stream("SELECT h_w_id, h_d_id, CAST(SUM(h_amount) * 100 AS SIGNED) FROM history"
                        " GROUP BY h_w_id, h_d_id",
                        [&paid](const Row& row) { paid[DistrictIn(row)] = ToInt(row[2]); }));
    std::map<int, int64_t> district_sums;
    std::map<int, int64_t> history_sums;
    for (const auto& [id, cents] : paid) {
      history_sums[id.first] += cents;
      if (!districts_.contains(id)) {
        Find("9")->Violation(DistrictText(id) + ": payments to no district");
      }
    }
    for (const auto& [id, district] : districts_) {
      district_sums[id.first] += district.ytd_cents;
      if (district.ytd_cents != paid[id]) {
        Find("9")->Violation(DistrictText(id) + ": d_ytd " + Money(district.ytd_cents) +
                             ", sum(h_amount) " + Money(paid[id]));
      }
    }
    for (const auto& [w_id, ytd] : warehouses_) {
      const std::string head = "w " + std::to_string(w_id) + ": w_ytd " + Money(ytd);
      if (ytd != district_sums[w_id]) {
        Find("1")->Violation(head + ", sum(d_ytd) " + Money(district_sums[w_id]));
      }
      if (ytd != history_sums[w_id]) {
        Find("8")->Violation(head + ", sum(h_amount) " + Money(history_sums[w_id]));
      }
    }
    return {};
  }

  // The total payments of each district's customers, in any district.
  Outcome LoadPayments() {
    return client_->Stream(
        "SELECT h_c_w_id, h_c_d_id, CAST(SUM(h_amount) * 100 AS SIGNED) FROM history"
        " GROUP BY h_c_w_id, h_c_d_id",
        [this](const Row& row) { payments_[DistrictIn(row)] = ToInt(row[2]); });
  }

  Outcome CheckDistrict(DistrictId id, const District& district) {
    DistrictFacts facts;
    LAB_TRY(ScanDistrict(client_, id, &facts));
    JudgeDistrict(id, district.next_o_id, facts,
                  {Find("2"), Find("3"), Find("4"), Find("5"), Find("6"), Find("7"),
                   options_.after_load ? Find("11") : nullptr});
    const std::string where = " WHERE o_w_id = " + std::to_string(id.first) +
                              " AND o_d_id = " + std::to_string(id.second);
    Rows rows;
    LAB_TRY(
        client_->Query("SELECT COUNT(*), SUM(o_id), SUM(o_c_id), SUM(o_id * o_c_id) FROM orders"
                       " FORCE INDEX (" +
                           QuoteName(orders_index_) + ")" + where,
                       &rows));
    if (ToInt(rows[0][0]) != facts.order_count || ToInt(rows[0][1]) != facts.id_sum ||
        ToInt(rows[0][2]) != facts.customer_sum || ToInt(rows[0][3]) != facts.product_sum) {
      Find("indexes")->Violation(DistrictText(id) + ": orders has " +
                                 std::to_string(facts.order_count) + " rows, its index " +
                                 rows[0][0].value_or("NULL") + " entries, or they differ");
    }
    return CheckCustomers(id, facts.DeliveredAmount() * 100);
  }

  Outcome CheckCustomers(DistrictId id, int64_t delivered_cents) {
    const std::string columns =
        "SELECT COUNT(*), SUM(c_id), SUM(CRC32(CONCAT_WS(',', c_last, c_first, c_id)))";
    const std::string where = ") WHERE c_w_id = " + std::to_string(id.first) +
                              " AND c_d_id = " + std::to_string(id.second);
    Rows table;
    Rows index;
    LAB_TRY(client_->Query(columns +
                               ", CAST(SUM(c_balance) * 100 AS SIGNED)"
                               " FROM customer FORCE INDEX (PRIMARY" +
                               where,
                           &table));
    LAB_TRY(client_->Query(
        columns + " FROM customer FORCE INDEX (" + QuoteName(customer_index_) + where, &index));
    if (!std::equal(index[0].begin(), index[0].end(), table[0].begin())) {
      Find("indexes")->Violation(DistrictText(id) + ": customer has " +
                                 table[0][0].value_or("NULL") + " rows, its index " +
                                 index[0][0].value_or("NULL") + " entries, or they differ");
    }
    if (ToInt(table[0][0]) != kCustomersPerDistrict) {
      Find("rows")->Violation(DistrictText(id) + ": " + table[0][0].value_or("NULL") +
                              " customers");
    }
    if (options_.balance) CheckBalance(id, ToInt(table[0][3]), delivered_cents);
    return {};
  }

  // The load gives each customer a balance of -10.00, and history one payment of 10.00 that is not
  // part of the balance. From then on HammerDB's payments and deliveries both add to the balance.
  void CheckBalance(DistrictId id, int64_t balance_cents, int64_t delivered_cents) {
    constexpr int64_t kLoaded = int64_t{1000} * kCustomersPerDistrict;
    const int64_t wanted = -kLoaded + (payments_[id] - kLoaded) + delivered_cents;
    gaps_[id] = balance_cents - wanted;
    const auto before = options_.gaps_before.find(id);
    const int64_t allowed = before == options_.gaps_before.end() ? 0 : before->second;
    if (gaps_[id] != allowed) {
      Find("balance")->Violation(DistrictText(id) + ": sum(c_balance) " + Money(balance_cents) +
                                 ", payments and deliveries make " + Money(wanted + allowed));
    }
  }

  Outcome CheckWarehouseRows(int w_id) {
    int64_t stock = 0;
    LAB_TRY(client_->QueryInt("SELECT COUNT(*) FROM stock WHERE s_w_id = " + std::to_string(w_id),
                              &stock));
    if (stock != kStockPerWarehouse) {
      Find("rows")->Violation("w " + std::to_string(w_id) + ": " + std::to_string(stock) +
                              " rows of stock");
    }
    return {};
  }

  Outcome CheckItems() {
    int64_t items = 0;
    LAB_TRY(client_->QueryInt("SELECT COUNT(*) FROM item", &items));
    if (items != kItems) Find("rows")->Violation(std::to_string(items) + " items");
    return {};
  }

  Client* const client_;
  const CheckOptions& options_;
  ConsistencyReport* const report_;
  std::map<int, int64_t> warehouses_;  // w_ytd in cents.
  std::map<DistrictId, District> districts_;
  std::map<DistrictId, int64_t> payments_;
  BalanceGaps gaps_;
  std::string orders_index_;
  std::string customer_index_;
};

// One snapshot for all statements, so that a check beside running transactions is also right.
Outcome RunOnSnapshot(Client* client, Checker* checker) {
  LAB_TRY(client->Exec("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
  LAB_TRY(client->Exec("START TRANSACTION WITH CONSISTENT SNAPSHOT"));
  LAB_TRY(checker->Run());
  return client->Exec("COMMIT");
}

}  // namespace

void CheckResult::Violation(std::string what) {
  state = CheckState::kBroken;
  if (violations++ < kSamplesMax) samples.push_back(std::move(what));
}

bool ConsistencyReport::holds() const {
  return std::none_of(checks.begin(), checks.end(),
                      [](const CheckResult& check) { return check.state == CheckState::kBroken; });
}

Outcome CheckConsistency(Client* client, const CheckOptions& options, ConsistencyReport* report) {
  const SteadyClock::time_point begin = SteadyClock::now();
  Checker checker(client, options, report);
  LAB_TRY(RunOnSnapshot(client, &checker));
  report->seconds = SecondsSince(begin);
  return {};
}

Outcome MeasureBalanceGaps(Client* client, BalanceGaps* gaps) {
  gaps->clear();
  // No order and no payment since the load: there is nothing to explain.
  int64_t touched = 0;
  LAB_TRY(client->QueryInt(
      "SELECT COUNT(*) FROM district WHERE d_next_o_id <> 3001 OR d_ytd <> 30000", &touched));
  if (touched == 0) return {};
  CheckOptions options;
  options.balance = true;
  ConsistencyReport ignored;
  Checker checker(client, options, &ignored);
  LAB_TRY(RunOnSnapshot(client, &checker));
  *gaps = checker.gaps();
  return {};
}

std::string FormatReport(const ConsistencyReport& report) {
  size_t width = 0;
  for (const CheckResult& check : report.checks) width = std::max(width, check.name.size());
  std::string text;
  for (const CheckResult& check : report.checks) {
    const bool skipped = check.state == CheckState::kSkipped;
    const char* state = skipped                             ? "skipped"
                        : check.state == CheckState::kHolds ? "holds"
                                                            : "BROKEN";
    std::string name = check.name;
    name.resize(width, ' ');
    std::string padded = state;
    padded.resize(8, ' ');
    text += "  " + name + "  " + padded + check.title;
    if (skipped) text += " (" + check.samples.front() + ")";
    text += "\n";
    if (check.state != CheckState::kBroken) continue;
    for (const std::string& sample : check.samples) text += "      " + sample + "\n";
    if (check.violations > check.samples.size()) {
      text += "      and " + std::to_string(check.violations - check.samples.size()) + " more\n";
    }
  }
  return text;
}

}  // namespace tidesdb::lab::tpcc
