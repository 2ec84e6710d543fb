// The client's own commit log: one line for each transaction whose COMMIT was acknowledged. All users append to it,
// and the check reads it.
//
// Format: text, one record per line, fields separated by blanks, the first field is the kind.
//   H tproc-c-commit-log 1 <users>             the head: format version, number of users
//   B <w> <d> <next_o_id> <new_orders> <payments> <paid>
//                                              a district before the run: counts, paid in cents
//   N <user> <w> <d> <o_id> <c_id> <lines>     a new order
//   P <user> <w> <d> <c_w> <c_d> <c_id> <amount> <YYYY-MM-DDThh:mm:ss>
//                                              a payment, amount in whole units; c_id 0: unknown
//   D <user> <w> <carrier> <d>:<o_id>,...      a delivery; "-" if its orders are unknown
//   L <user>                                   a broken connection, or an error that is not a
//                                              conflict: one unlogged transaction may exist
//   E                                          the run ended in order: nothing else was in flight
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/generators/common/outcome.h"

namespace tidesdb::lab::tpcc {

enum class CommitKind : char {
  kNone = ' ',  // Nothing has changed.
  kHead = 'H',
  kBase = 'B',
  kNewOrder = 'N',
  kPayment = 'P',
  kDelivery = 'D',
  kLost = 'L',
  kEnd = 'E',
};

// Fields that a kind does not use are 0 or empty.
struct CommitRecord {
  CommitKind kind = CommitKind::kNone;
  int user = 0;
  int w_id = 0;
  int d_id = 0;
  int o_id = 0;  // The base's is next_o_id.
  int c_w_id = 0;
  int c_d_id = 0;
  int c_id = 0;
  int lines = 0;
  int64_t amount = 0;
  int carrier = 0;
  std::string date;                            // "2026-01-31 12:00:00".
  std::vector<std::pair<int, int>> delivered;  // (district, order).
  bool delivered_known = true;
  int users = 0;           // The head's.
  int64_t new_orders = 0;  // The base's.
  int64_t payments = 0;
  int64_t paid_cents = 0;
};

// The record's line, with its line end. REQUIRES: something has changed.
std::string FormatRecord(const CommitRecord& record);

// The record of a line without its line end; nullopt if it is invalid.
std::optional<CommitRecord> ParseRecord(std::string_view line);

// DELIVERY's "1:2101,2:2101,"; nullopt for any other text.
std::optional<std::vector<std::pair<int, int>>> ParseDelivered(std::string_view text);

// Threads: any. A record is one write() on a descriptor opened with O_APPEND, so records of different users do not
//   mix. The write is done when Append returns, so the log survives the end of this program and the death of the
//   server, which never sees it. (It may not survive a power loss.)
class CommitLog {
 public:
  CommitLog() = default;
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;
  ~CommitLog();

  // Creates the file. An existing file is an error: it may be the evidence of an earlier run.
  Outcome Create(const std::string& path);
  bool open() const { return descriptor_ >= 0; }
  Outcome Append(const CommitRecord& record);

 private:
  int descriptor_ = -1;
  std::string path_;
};

// The whole text of a log file.
Outcome ReadCommitLog(const std::string& path, std::string* text);

// Passes on each record of a log's text; `name` is for messages. Ignores an unfinished last line (the client was
// killed); any other invalid line is an error with file and line.
Outcome ReadCommitLogText(std::string_view text, const std::string& name,
                          const std::function<void(const CommitRecord&)>& on_record);

}  // namespace tidesdb::lab::tpcc
