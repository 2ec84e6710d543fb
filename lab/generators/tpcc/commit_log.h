// The commit log's file: appended by all users, one write() a record, and read back for the check.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lab/generators/common/outcome.h"
#include "lab/generators/tpcc/commit_record.h"

namespace tidesdb::lab::tpcc {

// Threads: any; a record is one write() on a descriptor opened with O_APPEND, so records of
//   different users do not mix. The write is done when Append returns, so the log survives this
//   program's end, and the death of the server, which never sees it. (Not a power loss: the log is
//   no database.)
class CommitLog {
 public:
  CommitLog() = default;
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;
  ~CommitLog();

  // Makes the file. One that is there already is refused: it may be the witness of an earlier run.
  Outcome Create(const std::string& path);
  bool open() const { return descriptor_ >= 0; }
  Outcome Append(const CommitRecord& record);

 private:
  int descriptor_ = -1;
  std::string path_;
};

// Hands over each record of a log file. An unfinished last line (the client was killed) is left
// out; any other line that is no record is an error naming the file and the line.
Outcome ReadCommitLog(const std::string& path,
                      const std::function<void(const CommitRecord&)>& on_record);

// The same for the text of a log; `name` is for messages.
Outcome ReadCommitLogText(std::string_view text, const std::string& name,
                          const std::function<void(const CommitRecord&)>& on_record);

}  // namespace tidesdb::lab::tpcc
