#include "lab/generators/tpcc/verify.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "lab/generators/tpcc/commit_log.h"
#include "lab/generators/tpcc/district_scan.h"

namespace tidesdb::lab::tpcc {
namespace {

DistrictId IdOf(const CommitRecord& record) { return {record.w_id, record.d_id}; }

std::string Join(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

// One payment's columns as text, in the order of the SELECT from history below.
std::string PaymentKey(const CommitRecord& record) {
  return Join({std::to_string(record.w_id), std::to_string(record.d_id),
               std::to_string(record.c_w_id), std::to_string(record.c_d_id),
               std::to_string(record.c_id), std::to_string(record.amount), record.date});
}

// The records' facts about one district.
struct Acknowledged {
  std::map<int64_t, const CommitRecord*> new_orders;  // By o_id.
  std::map<int64_t, std::set<int>> delivered;         // By o_id: the carriers.
  int64_t payments = 0;
  int64_t paid_cents = 0;
};

class Verifier {
 public:
  Verifier(Client* client, const LogContents& contents, VerifyReport* report)
      : client_(client), contents_(contents), report_(report) {}

  Outcome Run() {
    report_->in_flight_max = contents_.in_flight_max;
    Collect();
    LAB_TRY(client_->Exec("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
    LAB_TRY(client_->Exec("START TRANSACTION WITH CONSISTENT SNAPSHOT"));
    std::vector<CommitRecord> now;
    LAB_TRY(ReadBases(client_, &now));
    for (const CommitRecord& base : now) now_[IdOf(base)] = base;
    for (const CommitRecord& base : contents_.bases) LAB_TRY(VerifyDistrict(base));
    LAB_TRY(VerifyPayments());
    JudgeDeliveryCounts();
    LAB_TRY(client_->Exec("COMMIT"));
    if (report_->unacknowledged > report_->in_flight_max) {
      report_->extra.Violation(std::to_string(report_->unacknowledged) +
                               " transactions are in no log, in flight were at most " +
                               std::to_string(report_->in_flight_max));
    }
    return {};
  }

 private:
  void Collect() {
    report_->new_orders = static_cast<int64_t>(contents_.new_orders.size());
    report_->payments = static_cast<int64_t>(contents_.payments.size());
    report_->deliveries = static_cast<int64_t>(contents_.deliveries.size());
    for (const CommitRecord& record : contents_.new_orders) {
      if (!districts_[IdOf(record)].new_orders.emplace(record.o_id, &record).second) {
        report_->missing.Violation(DistrictText(IdOf(record)) + ", order " +
                                   std::to_string(record.o_id) + ": acknowledged twice");
      }
    }
    for (const CommitRecord& record : contents_.payments) {
      Acknowledged& district = districts_[IdOf(record)];
      ++district.payments;
      district.paid_cents += record.amount * 100;
    }
    for (const CommitRecord& record : contents_.deliveries) {
      ++deliveries_[record.w_id];
      for (const auto& [d_id, o_id] : record.delivered) {
        districts_[{record.w_id, d_id}].delivered[o_id].insert(record.carrier);
      }
    }
  }

  Outcome VerifyDistrict(const CommitRecord& base) {
    const DistrictId id = IdOf(base);
    const auto it = now_.find(id);
    if (it == now_.end()) {
      report_->missing.Violation(DistrictText(id) + ": the district is missing");
      return {};
    }
    const CommitRecord& now = it->second;
    const Acknowledged& acknowledged = districts_[id];
    DistrictFacts facts;
    LAB_TRY(ScanDistrict(client_, id, &facts));
    for (const auto& [o_id, record] : acknowledged.new_orders) VerifyNewOrder(id, *record, facts);
    for (const auto& [o_id, carriers] : acknowledged.delivered) VerifyDelivered(id, o_id, facts);
    LAB_TRY(VerifyCarriers(id, acknowledged));
    CountExtra(id, "orders", now.o_id - base.o_id,
               static_cast<int64_t>(acknowledged.new_orders.size()));
    CountExtra(id, "payments", now.payments - base.payments, acknowledged.payments);
    VerifyPaid(id, now.paid_cents - base.paid_cents, now.payments - base.payments, acknowledged);
    // Delivered since: the old new orders plus the added ones minus those left now.
    const int64_t delivered = base.new_orders + (now.o_id - base.o_id) - now.new_orders;
    auto& most = delivered_most_[id.first];
    most = std::max(most, delivered);
    if (delivered < static_cast<int64_t>(acknowledged.delivered.size())) {
      report_->missing.Violation(DistrictText(id) + ": " + std::to_string(delivered) +
                                 " orders delivered, acknowledged were " +
                                 std::to_string(acknowledged.delivered.size()));
    }
    return {};
  }

  void VerifyNewOrder(DistrictId id, const CommitRecord& record, const DistrictFacts& facts) {
    const auto it = facts.orders.find(record.o_id);
    const std::string what = DistrictText(id) + ", order " + std::to_string(record.o_id);
    if (it == facts.orders.end() || !it->second.in_orders) {
      report_->missing.Violation(what + ": lost");
    } else if (it->second.wanted_lines != record.lines || it->second.lines != record.lines) {
      report_->missing.Violation(what + ": " + std::to_string(it->second.lines) +
                                 " lines, acknowledged " + std::to_string(record.lines));
    }
  }

  void VerifyDelivered(DistrictId id, int64_t o_id, const DistrictFacts& facts) {
    const auto it = facts.orders.find(o_id);
    const std::string what = DistrictText(id) + ", order " + std::to_string(o_id);
    if (it == facts.orders.end() || it->second.carrier_null || it->second.in_new_order ||
        it->second.delivered_lines != it->second.lines) {
      report_->missing.Violation(what + ": its delivery is lost completely or in part");
    }
  }

  // The carrier is one that an acknowledged delivery set. READ COMMITTED lets two deliveries take
  // one order, so it may be either's. The transactions in flight, at most, may have set others.
  Outcome VerifyCarriers(DistrictId id, const Acknowledged& acknowledged) {
    if (acknowledged.delivered.empty()) return {};
    return client_->Stream(
        "SELECT o_id, o_carrier_id, o_c_id FROM orders FORCE INDEX (PRIMARY) WHERE o_w_id = " +
            std::to_string(id.first) + " AND o_d_id = " + std::to_string(id.second) +
            " AND o_carrier_id IS NOT NULL",
        [&](const Row& row) {
          const auto it = acknowledged.delivered.find(ToInt(row[0]));
          if (it == acknowledged.delivered.end()) return;
          if (it->second.contains(static_cast<int>(ToInt(row[1])))) return;
          if (++foreign_carriers_[id] <= contents_.in_flight_max) return;
          report_->missing.Violation(DistrictText(id) + ", order " + row[0].value_or("") +
                                     ": carrier " + row[1].value_or("") +
                                     " was never acknowledged");
        });
  }

  void CountExtra(DistrictId id, const std::string& what, int64_t found, int64_t acknowledged) {
    if (found < acknowledged) {
      report_->missing.Violation(DistrictText(id) + ": " + std::to_string(found) + " " + what +
                                 " since the log began, acknowledged were " +
                                 std::to_string(acknowledged));
    } else {
      report_->unacknowledged += found - acknowledged;
    }
  }

  // Each unlogged payment paid between 1 and 5000.
  void VerifyPaid(DistrictId id, int64_t paid_cents, int64_t payments,
                  const Acknowledged& acknowledged) {
    const int64_t over = paid_cents - acknowledged.paid_cents;
    const int64_t extra = std::max<int64_t>(payments - acknowledged.payments, 0);
    if (over < extra * 100 || over > extra * 500000) {
      report_->missing.Violation(DistrictText(id) + ": paid since the log began " +
                                 std::to_string(paid_cents / 100) + ", acknowledged " +
                                 std::to_string(acknowledged.paid_cents / 100));
    }
  }

  // Every acknowledged payment has its own row of history.
  Outcome VerifyPayments() {
    std::map<std::string, int64_t> wanted;
    for (const CommitRecord& record : contents_.payments) {
      if (record.c_id != 0) ++wanted[PaymentKey(record)];
    }
    LAB_TRY(
        client_->Stream("SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, CAST(h_amount AS "
                        "SIGNED), h_date FROM history",
                        [&wanted](const Row& row) {
                          std::vector<std::string> fields;
                          for (const auto& field : row) fields.push_back(field.value_or("NULL"));
                          const auto it = wanted.find(Join(fields));
                          if (it != wanted.end()) --it->second;
                        }));
    for (const auto& [key, count] : wanted) {
      for (int64_t i = 0; i < count; ++i) {
        report_->missing.Violation("payment (w, d, customer's w, d, c, amount, date) " + key +
                                   ": lost");
      }
    }
    return {};
  }

  // One delivery covers all districts of its warehouse, so the district with the most deliveries
  // shows how many there were. At READ COMMITTED two may share their orders: fewer is not a loss by
  // itself.
  void JudgeDeliveryCounts() {
    for (const auto& [w_id, most] : delivered_most_) {
      report_->unacknowledged += std::max<int64_t>(most - deliveries_[w_id], 0);
    }
  }

  Client* const client_;
  const LogContents& contents_;
  VerifyReport* const report_;
  std::map<DistrictId, Acknowledged> districts_;
  std::map<DistrictId, CommitRecord> now_;
  std::map<int, int64_t> deliveries_;      // Acknowledged, by warehouse.
  std::map<int, int64_t> delivered_most_;  // Orders of one district, by warehouse.
  std::map<DistrictId, int64_t> foreign_carriers_;
};

}  // namespace

Outcome AddLog(std::string_view text, const std::string& name, LogContents* contents) {
  int users = 0;
  int64_t lost = 0;
  bool ended = false;
  LAB_TRY(ReadCommitLogText(text, name, [&](const CommitRecord& record) {
    switch (record.kind) {
      case CommitKind::kHead:
        users = record.users;
        break;
      case CommitKind::kBase:
        if (contents->logs == 0) contents->bases.push_back(record);
        break;
      case CommitKind::kNewOrder:
        contents->new_orders.push_back(record);
        break;
      case CommitKind::kPayment:
        contents->payments.push_back(record);
        break;
      case CommitKind::kDelivery:
        contents->deliveries.push_back(record);
        break;
      case CommitKind::kLost:
        ++lost;
        break;
      case CommitKind::kEnd:
        ended = true;
        break;
      case CommitKind::kNone:
        break;
    }
  }));
  contents->in_flight_max += ended ? lost : users;
  ++contents->logs;
  return {};
}

Outcome ReadLogs(const std::vector<std::string>& paths, LogContents* contents) {
  for (const std::string& path : paths) {
    std::string text;
    LAB_TRY(ReadCommitLog(path, &text));
    LAB_TRY(AddLog(text, path, contents));
  }
  return {};
}

Outcome VerifyLog(Client* client, const LogContents& contents, VerifyReport* report) {
  return Verifier(client, contents, report).Run();
}

Outcome ReadBases(Client* client, std::vector<CommitRecord>* bases) {
  std::map<DistrictId, CommitRecord> districts;
  LAB_TRY(client->Stream("SELECT d_w_id, d_id, d_next_o_id FROM district",
                         [&districts](const Row& row) {
                           CommitRecord base;
                           base.kind = CommitKind::kBase;
                           std::tie(base.w_id, base.d_id) = DistrictIn(row);
                           base.o_id = static_cast<int>(ToInt(row[2]));
                           districts[IdOf(base)] = base;
                         }));
  LAB_TRY(client->Stream(
      "SELECT no_w_id, no_d_id, COUNT(*) FROM new_order GROUP BY no_w_id, no_d_id",
      [&districts](const Row& row) { districts[DistrictIn(row)].new_orders = ToInt(row[2]); }));
  LAB_TRY(client->Stream(
      "SELECT h_w_id, h_d_id, COUNT(*), CAST(SUM(h_amount) * 100 AS SIGNED) FROM history"
      " GROUP BY h_w_id, h_d_id",
      [&districts](const Row& row) {
        CommitRecord& base = districts[DistrictIn(row)];
        base.payments = ToInt(row[2]);
        base.paid_cents = ToInt(row[3]);
      }));
  bases->clear();
  for (const auto& [id, base] : districts) bases->push_back(base);
  return {};
}

}  // namespace tidesdb::lab::tpcc
