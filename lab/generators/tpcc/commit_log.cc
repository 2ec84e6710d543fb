#include "lab/generators/tpcc/commit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tidesdb::lab::tpcc {

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
  // A short write leaves half a line, which the reader would take for damage: the run must end
  // here.
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
      return Outcome::Fail("commit log " + name + ", line " + std::to_string(number) +
                           (number == 1 ? ": no commit log of this version" : ": no valid record"));
    }
    on_record(*record);
    text.remove_prefix(end + 1);
  }
  if (number == 0) return Outcome::Fail("commit log " + name + " is empty");
  return {};
}

Outcome ReadCommitLog(const std::string& path,
                      const std::function<void(const CommitRecord&)>& on_record) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Outcome::Fail("commit log " + path + ": " + std::strerror(errno));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return ReadCommitLogText(text, path, on_record);
}

}  // namespace tidesdb::lab::tpcc
