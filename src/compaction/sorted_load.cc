#include "compaction/sorted_load.h"

#include <utility>

#include "tidesdb/limits.h"

namespace tidesdb {

SortedLoad::SortedLoad(Maker maker, const JobContext* context, LoadSorterOptions options)
    : context_(context),
      maker_(std::move(maker)),
      on_written_(options.on_written),
      sorter_(context, std::move(options)) {}

SortedLoad::~SortedLoad() {
  if (state_ != State::kEnded && maker_.give_up) maker_.give_up();
}

Status SortedLoad::CheckState(State wanted) const {
  if (state_ == wanted) return maker_.check();
  return Status::InvalidArgument(state_ == State::kEnded    ? "the load has ended"
                                 : state_ == State::kFailed ? "the load has failed"
                                 : state_ == State::kSorted ? "the load is already sorted"
                                                            : "the load is not sorted yet");
}

Status SortedLoad::Note(Status status) {
  if (!status.ok()) state_ = State::kFailed;
  return status;
}

Status SortedLoad::Add(Slice key, Slice value) {
  TIDESDB_TRY(CheckState(State::kAdding));
  if (key.size() > kKeyBytesMax || value.size() > kEntryBytesMax - key.size()) {
    return Status::InvalidArgument("an entry of a load with a key of " +
                                   std::to_string(key.size()) + " bytes and a value of " +
                                   std::to_string(value.size()) + ": over the limits of limits.h");
  }
  return Note(sorter_.Add(key, value));
}

Status SortedLoad::Finish() {
  TIDESDB_TRY(CheckState(State::kAdding));
  TIDESDB_TRY(Note(sorter_.Finish()));
  state_ = State::kSorted;
  return Status::Ok();
}

Status SortedLoad::Commit() {
  if (state_ == State::kAdding) TIDESDB_TRY(Finish());
  TIDESDB_TRY(CheckState(State::kSorted));
  const auto look = [this] { return on_written_ ? on_written_(sorter_.written()) : Status::Ok(); };
  TIDESDB_TRY(Note(maker_.take(sorter_.Release(), look)));
  state_ = State::kEnded;
  if (context_->metrics != nullptr) context_->metrics->Add(Counter::kLoads);
  return Status::Ok();
}

Result<bool> SortedLoad::Find(Slice key, std::string* value) {
  TIDESDB_TRY(CheckState(State::kSorted));
  return sorter_.Find(key, value);
}

}  // namespace tidesdb
