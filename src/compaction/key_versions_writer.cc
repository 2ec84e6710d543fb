#include "compaction/key_versions_writer.h"

#include "base/check.h"

namespace tidesdb {

bool DeeperFiles::MayHold(Slice key) {
  for (const FileRef& file : overlapping_) {
    if (file->key_min() <= key && key <= file->key_max()) return true;
  }
  if (version_ == nullptr) return false;
  for (int level = level_; level < kLevels; ++level) {
    const FileList& files = version_->files(level);
    size_t& at = position_[level];
    while (at < files.size() && files[at]->key_max() < key) ++at;
    if (at < files.size() && files[at]->key_min() <= key) return true;
  }
  return false;
}

Status KeyVersionsWriter::Add(Slice user_key, Trailer trailer, Slice value,
                              const std::function<Status(Slice user_key)>& before_key) {
  ++entries_in_;
  if (!in_key_ || user_key != key_) {
    TIDESDB_TRY(FinishKey());
    TIDESDB_TRY(before_key(user_key));
    key_.assign(user_key);
    in_key_ = true;
    asked_ = false;
    rule_.StartKey();
  }
  if (!asked_ && DropRule::NeedsBottom(trailer)) {
    asked_ = true;
    bottom_ = everything_below_is_known_ && !deeper_->MayHold(user_key);
  }
  const DropRule::Step step = rule_.Feed(trailer, asked_ && bottom_);
  for (const Trailer held : step.released) TIDESDB_TRY(Write(key_, held, Slice()));
  if (step.keep) TIDESDB_TRY(Write(key_, trailer, value));
  return Status::Ok();
}

Status KeyVersionsWriter::Finish() { return FinishKey(); }

Status KeyVersionsWriter::FinishKey() {
  if (!in_key_) return Status::Ok();
  in_key_ = false;
  for (const Trailer held : rule_.FinishKey()) TIDESDB_TRY(Write(key_, held, Slice()));
  return Status::Ok();
}

Status KeyVersionsWriter::Write(Slice user_key, Trailer trailer, Slice value) {
  ++entries_out_;
  return output_->Add(user_key, trailer, value);
}

}  // namespace tidesdb
