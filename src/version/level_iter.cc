#include "version/level_iter.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {
namespace {

class LevelIterator final : public InternalIterator {
 public:
  LevelIterator(std::span<const FileRef> files, TableCache* tables, const LevelIterOptions& options)
      : files_(files), tables_(tables), options_(options) {}

  void SetBounds(Slice lower, Slice upper) override {
    lower_ = lower;
    upper_ = upper;
    if (table_iter_ != nullptr) table_iter_->SetBounds(lower, upper);
  }

  bool Valid() const override { return table_iter_ != nullptr && table_iter_->Valid(); }

  void SeekToFirst() override {
    Open(0);
    if (table_iter_ != nullptr) table_iter_->SeekToFirst();
    SkipForward();
  }
  void SeekToLast() override {
    Open(files_.size() - 1);
    if (table_iter_ != nullptr) table_iter_->SeekToLast();
    SkipBackward();
  }
  void Seek(Slice user_key, Trailer trailer) override {
    OpenForward(FindFileByKey(files_, user_key));
    if (table_iter_ != nullptr) table_iter_->Seek(user_key, trailer);
    SkipForward();
  }
  void SeekForPrev(Slice user_key, Trailer trailer) override {
    size_t at = FindFileByKey(files_, user_key);
    if (at == files_.size() || user_key < files_[at]->key_min()) --at;  // Wraps to "no file".
    OpenBackward(at);
    if (table_iter_ != nullptr) table_iter_->SeekForPrev(user_key, trailer);
    SkipBackward();
  }
  void Next() override {
    DCHECK(Valid());
    table_iter_->Next();
    SkipForward();
  }
  bool NextKeyOrVersion() override {
    DCHECK(Valid());
    const bool left = table_iter_->NextKeyOrVersion();
    if (table_iter_->Valid()) return left;
    // It was on the file's last key, or the bounds end the rest: then no other file is opened.
    const size_t index = index_;
    SkipForward();
    return !Valid() || user_key() != files_[index]->key_max();
  }
  void Prev() override {
    DCHECK(Valid());
    table_iter_->Prev();
    SkipBackward();
  }

  bool StepInMemory() override { return table_iter_->StepInMemory(); }
  bool ReadAhead(const AheadLimits& limits, EntryBatch* batch) override {
    return table_iter_->ReadAhead(limits, batch);
  }
  void ReadVersionsAhead(const AheadLimits& limits, VersionBatch* batch) override {
    table_iter_->ReadVersionsAhead(limits, batch);
  }

  Slice user_key() const override { return table_iter_->user_key(); }
  Trailer trailer() const override { return table_iter_->trailer(); }
  Slice value() const override { return table_iter_->value(); }
  bool InUse() const override { return table_iter_->InUse(); }
  Status status() const override {
    if (!status_.ok() || table_iter_ == nullptr) return status_;
    return table_iter_->status();
  }

 private:
  // Makes the file at `index` the current one; none if there is no such file.
  void Open(size_t index) {
    status_ = Status::Ok();
    if (index >= files_.size()) {
      Close();
      return;
    }
    if (table_iter_ != nullptr && index == index_) return;
    Close();
    const FileMeta& file = *files_[index];
    Result<TableRef> table = Find(file);
    if (!table.ok()) {
      status_ = std::move(table).status();
      return;
    }
    index_ = index;
    table_ = std::move(table).value();
    table_iter_ = table_->NewIterator({.fill_cache = options_.fill_cache});
    table_iter_->SetBounds(lower_, upper_);
  }
  // As Open, but opens none if this file, and so those after it, is outside of the bounds.
  void OpenForward(size_t index) {
    const bool beyond =
        !upper_.empty() && index < files_.size() && files_[index]->key_min() >= upper_;
    Open(beyond ? files_.size() : index);
  }
  void OpenBackward(size_t index) {
    const bool beyond = index < files_.size() && files_[index]->key_max() < lower_;
    Open(beyond ? files_.size() : index);
  }

  Result<TableRef> Find(const FileMeta& file) {
    switch (options_.readers) {
      case Readers::kShared:
        return tables_->Find(file);
      case Readers::kOnce:
        return tables_->FindUncached(file);
      case Readers::kTemporary:
        return tables_->OpenTemporary(file);
    }
    CHECK(false);
  }

  void Close() {
    table_iter_ = nullptr;  // Before its table.
    table_ = nullptr;
  }

  // At the end of the current file, continues in the next one.
  void SkipForward() {
    while (table_iter_ != nullptr && !table_iter_->Valid() && table_iter_->status().ok()) {
      OpenForward(index_ + 1);
      if (table_iter_ != nullptr) table_iter_->SeekToFirst();
    }
  }
  void SkipBackward() {
    while (table_iter_ != nullptr && !table_iter_->Valid() && table_iter_->status().ok()) {
      OpenBackward(index_ - 1);  // Wraps to "no file".
      if (table_iter_ != nullptr) table_iter_->SeekToLast();
    }
  }

  const std::span<const FileRef> files_;
  TableCache* const tables_;
  const LevelIterOptions options_;
  Slice lower_;  // Of SetBounds.
  Slice upper_;

  size_t index_ = 0;  // Of the open file.
  TableRef table_;
  std::unique_ptr<InternalIterator> table_iter_;  // Null: no file is open.
  Status status_;                                 // Of opening a file.
};

}  // namespace

bool FileMeetsRange(const FileMeta& file, Slice lower, Slice upper) {
  return file.key_max() >= lower && (upper.empty() || file.key_min() < upper);
}

std::unique_ptr<InternalIterator> NewLevelIterator(std::span<const FileRef> files,
                                                   TableCache* tables,
                                                   const LevelIterOptions& options) {
  // The wanted files are adjacent: cut the list once, so that no seek opens another.
  size_t begin = options.lower.empty() ? 0 : FindFileByKey(files, options.lower);
  size_t end = begin;
  if (options.upper.empty()) {
    end = files.size();
  } else {
    const auto first_beyond =
        std::partition_point(files.begin() + static_cast<ptrdiff_t>(begin), files.end(),
                             [&](const FileRef& file) { return file->key_min() < options.upper; });
    end = static_cast<size_t>(first_beyond - files.begin());
  }
  return std::make_unique<LevelIterator>(files.subspan(begin, end - begin), tables, options);
}

}  // namespace tidesdb
