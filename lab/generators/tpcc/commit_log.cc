#include "lab/generators/tpcc/commit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <variant>

namespace tidesdb::lab::tpcc {
namespace {

constexpr std::string_view kHeadName = "tproc-c-commit-log";
constexpr int kVersion = 1;

// Takes fields off the front of a line; once one does not fit, the whole line is invalid.
class FieldReader {
 public:
  explicit FieldReader(std::string_view line) : rest_(line) {}

  std::string_view Text() {
    const size_t blank = rest_.find(' ');
    const std::string_view field = rest_.substr(0, blank);
    rest_ = blank == std::string_view::npos ? std::string_view() : rest_.substr(blank + 1);
    // A blank separates two fields: a line with nothing before or after it is not a record.
    if (field.empty() || (blank != std::string_view::npos && rest_.empty())) good_ = false;
    return field;
  }
  template <typename T>
  void Number(T* value) {
    const std::string_view field = Text();
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), *value);
    if (error != std::errc() || end != field.data() + field.size()) good_ = false;
  }
  // True if all fields were valid and none is left.
  bool Done() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// A record's number, as a pointer to its member.
using Number = std::variant<int CommitRecord::*, int64_t CommitRecord::*>;

// The numbers of each kind, in the order of its line; other fields come before or after them.
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

CommitLog::~CommitLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Outcome CommitLog::Create(const std::string& path) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) return Outcome::Fail("commit log " + path + ": " + std::strerror(errno));
  return {};
}

Outcome CommitLog::Append(const CommitRecord& record) {
  const std::string line = FormatRecord(record);
  const ssize_t written = ::write(descriptor_, line.data(), line.size());
  // A short write leaves half a line, which the reader would report as damage: the run must end here.
  if (written != static_cast<ssize_t>(line.size())) {
    return Outcome::Fail("commit log " + path_ + ": " +
                         (written < 0 ? std::strerror(errno) : "the disk is full"));
  }
  return {};
}

Outcome ReadCommitLogText(std::string_view text, const std::string& name,
                          const std::function<void(const CommitRecord&)>& on_record) {
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    ++number;
    const std::optional<CommitRecord> record = ParseRecord(text.substr(0, end));
    const bool head = record && record->kind == CommitKind::kHead;
    if (!record || head != (number == 1)) {
      return Outcome::Fail(
          "commit log " + name + ", line " + std::to_string(number) +
          (number == 1 ? ": not a commit log of this version" : ": not a valid record"));
    }
    on_record(*record);
    text.remove_prefix(end + 1);
  }
  if (number == 0) return Outcome::Fail("commit log " + name + " is empty");
  return {};
}

Outcome ReadCommitLog(const std::string& path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Outcome::Fail("commit log " + path + ": " + std::strerror(errno));
  text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return {};
}

}  // namespace tidesdb::lab::tpcc
