#include "lab/generators/tpcc/commit_record.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <variant>

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

// A record's number, by its member.
using Number = std::variant<int CommitRecord::*, int64_t CommitRecord::*>;

// The numbers of each kind, in the order of its line; what a kind has besides comes before or after.
const std::map<CommitKind, std::vector<Number>>& Numbers() {
  using R = CommitRecord;
  static const std::map<CommitKind, std::vector<Number>> numbers = {
      {CommitKind::kHead, {&R::users}},
      {CommitKind::kBase,
       {&R::w_id, &R::d_id, &R::o_id, &R::new_orders, &R::payments, &R::paid_cents}},
      {CommitKind::kNewOrder, {&R::user, &R::w_id, &R::d_id, &R::o_id, &R::c_id, &R::lines}},
      {CommitKind::kPayment,
       {&R::user, &R::w_id, &R::d_id, &R::c_w_id, &R::c_d_id, &R::c_id, &R::amount}},
      {CommitKind::kDelivery, {&R::user, &R::w_id, &R::carrier}},
      {CommitKind::kLost, {&R::user}},
      {CommitKind::kEnd, {}}};
  return numbers;
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

std::string DeliveredText(const CommitRecord& record) {
  if (!record.delivered_known) return "-";
  if (record.delivered.empty()) return "none";
  std::string text;
  for (const auto& [d_id, o_id] : record.delivered) {
    text += std::to_string(d_id) + ":" + std::to_string(o_id) + ",";
  }
  return text;
}

}  // namespace

std::string FormatRecord(const CommitRecord& record) {
  std::string line(1, static_cast<char>(record.kind));
  if (record.kind == CommitKind::kHead) {
    line += ' ' + std::string(kHeadName) + ' ' + std::to_string(kVersion);
  }
  for (const Number& number : Numbers().at(record.kind)) {
    line += ' ';
    std::visit([&](auto member) { line += std::to_string(record.*member); }, number);
  }
  if (record.kind == CommitKind::kPayment) {
    std::string date = record.date;
    std::replace(date.begin(), date.end(), ' ', 'T');
    line += ' ' + date;
  }
  if (record.kind == CommitKind::kDelivery) line += ' ' + DeliveredText(record);
  return line + "\n";
}

std::optional<CommitRecord> ParseRecord(std::string_view line) {
  FieldReader fields(line);
  const std::string_view kind = fields.Text();
  if (kind.size() != 1) return std::nullopt;
  CommitRecord record;
  record.kind = static_cast<CommitKind>(kind[0]);
  const auto numbers = Numbers().find(record.kind);
  if (numbers == Numbers().end()) return std::nullopt;
  if (record.kind == CommitKind::kHead) {
    int version = 0;
    if (fields.Text() != kHeadName) return std::nullopt;
    fields.Number(&version);
    if (version != kVersion) return std::nullopt;
  }
  for (const Number& number : numbers->second) {
    std::visit([&](auto member) { fields.Number(&(record.*member)); }, number);
  }
  if (record.kind == CommitKind::kPayment) ReadDate(&fields, &record);
  if (record.kind == CommitKind::kDelivery && !ReadDelivered(&fields, &record)) {
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
