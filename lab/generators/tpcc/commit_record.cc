#include "lab/generators/tpcc/commit_record.h"

#include <algorithm>
#include <charconv>

namespace tidesdb::lab::tpcc {
namespace {

constexpr std::string_view kHeadName = "tproc-c-commit-log";
constexpr int kVersion = 1;

// Takes fields off the front of a line; once one does not fit, the whole line is bad.
class FieldReader {
 public:
  explicit FieldReader(std::string_view line) : rest_(line) {}

  std::string_view Text() {
    const size_t blank = rest_.find(' ');
    const std::string_view field = rest_.substr(0, blank);
    rest_ = blank == std::string_view::npos ? std::string_view() : rest_.substr(blank + 1);
    // A blank is between two fields: nothing before it, or nothing after it, is no record.
    if (field.empty() || (blank != std::string_view::npos && rest_.empty())) good_ = false;
    return field;
  }
  template <typename T>
  void Number(T* value) {
    const std::string_view field = Text();
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), *value);
    if (error != std::errc() || end != field.data() + field.size()) good_ = false;
  }
  // True when all fields fitted and none is left.
  bool Done() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

void Append(std::string* line, int64_t number) {
  *line += ' ';
  *line += std::to_string(number);
}

void ReadDate(FieldReader* fields, CommitRecord* record) {
  record->date = fields->Text();
  std::replace(record->date.begin(), record->date.end(), 'T', ' ');
}

bool ReadDelivered(FieldReader* fields, CommitRecord* record) {
  const std::string_view list = fields->Text();
  record->delivered_known = list != "-";
  if (!record->delivered_known) return true;
  auto delivered = ParseDelivered(list == "none" ? std::string_view() : list);
  if (!delivered) return false;
  record->delivered = std::move(*delivered);
  return true;
}

void FormatDelivery(const CommitRecord& record, std::string* line) {
  Append(line, record.carrier);
  if (!record.delivered_known) {
    *line += " -";
  } else if (record.delivered.empty()) {
    *line += " none";
  } else {
    *line += ' ';
    for (const auto& [d_id, o_id] : record.delivered) {
      *line += std::to_string(d_id) + ":" + std::to_string(o_id) + ",";
    }
  }
}

}  // namespace

std::string FormatRecord(const CommitRecord& record) {
  std::string line(1, static_cast<char>(record.kind));
  switch (record.kind) {
    case CommitKind::kHead:
      line += ' ';
      line += kHeadName;
      Append(&line, kVersion);
      Append(&line, record.users);
      break;
    case CommitKind::kBase:
      for (const int64_t field : {int64_t{record.w_id}, int64_t{record.d_id}, int64_t{record.o_id},
                                  record.new_orders, record.payments, record.paid_cents}) {
        Append(&line, field);
      }
      break;
    case CommitKind::kNewOrder:
      for (const int field :
           {record.user, record.w_id, record.d_id, record.o_id, record.c_id, record.lines}) {
        Append(&line, field);
      }
      break;
    case CommitKind::kPayment: {
      for (const int64_t field :
           {int64_t{record.user}, int64_t{record.w_id}, int64_t{record.d_id},
            int64_t{record.c_w_id}, int64_t{record.c_d_id}, int64_t{record.c_id}, record.amount}) {
        Append(&line, field);
      }
      std::string date = record.date;
      std::replace(date.begin(), date.end(), ' ', 'T');
      line += ' ' + date;
      break;
    }
    case CommitKind::kDelivery:
      Append(&line, record.user);
      Append(&line, record.w_id);
      FormatDelivery(record, &line);
      break;
    case CommitKind::kLost:
      Append(&line, record.user);
      break;
    case CommitKind::kEnd:
    case CommitKind::kNone:
      break;
  }
  return line + "\n";
}

std::optional<CommitRecord> ParseRecord(std::string_view line) {
  FieldReader fields(line);
  const std::string_view kind = fields.Text();
  if (kind.size() != 1) return std::nullopt;
  CommitRecord record;
  record.kind = static_cast<CommitKind>(kind[0]);
  switch (record.kind) {
    case CommitKind::kHead: {
      int version = 0;
      if (fields.Text() != kHeadName) return std::nullopt;
      fields.Number(&version);
      fields.Number(&record.users);
      if (version != kVersion) return std::nullopt;
      break;
    }
    case CommitKind::kBase:
      fields.Number(&record.w_id);
      fields.Number(&record.d_id);
      fields.Number(&record.o_id);
      fields.Number(&record.new_orders);
      fields.Number(&record.payments);
      fields.Number(&record.paid_cents);
      break;
    case CommitKind::kNewOrder:
      for (int* field :
           {&record.user, &record.w_id, &record.d_id, &record.o_id, &record.c_id, &record.lines}) {
        fields.Number(field);
      }
      break;
    case CommitKind::kPayment:
      for (int* field : {&record.user, &record.w_id, &record.d_id, &record.c_w_id, &record.c_d_id,
                         &record.c_id}) {
        fields.Number(field);
      }
      fields.Number(&record.amount);
      ReadDate(&fields, &record);
      break;
    case CommitKind::kDelivery:
      for (int* field : {&record.user, &record.w_id, &record.carrier}) fields.Number(field);
      if (!ReadDelivered(&fields, &record)) return std::nullopt;
      break;
    case CommitKind::kLost:
      fields.Number(&record.user);
      break;
    case CommitKind::kEnd:
      break;
    default:
      return std::nullopt;
  }
  if (!fields.Done()) return std::nullopt;
  return record;
}

std::optional<std::vector<std::pair<int, int>>> ParseDelivered(std::string_view text) {
  std::vector<std::pair<int, int>> delivered;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    std::pair<int, int> entry;
    const auto district = std::from_chars(at, end, entry.first);
    if (district.ec != std::errc() || district.ptr == end || *district.ptr != ':')
      return std::nullopt;
    const auto order = std::from_chars(district.ptr + 1, end, entry.second);
    if (order.ec != std::errc() || order.ptr == end || *order.ptr != ',') return std::nullopt;
    delivered.push_back(entry);
    at = order.ptr + 1;
  }
  return delivered;
}

}  // namespace tidesdb::lab::tpcc
