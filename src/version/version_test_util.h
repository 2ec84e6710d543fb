// Shared helpers of tests: keys, versions, files and iterators made from text.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/test_seed.h"
#include "format/internal_iter.h"
#include "io/file_names.h"
#include "io/mem_fs.h"
#include "table/table_writer.h"
#include "version/version.h"

namespace tidesdb {

struct TestEntry {
  std::string key;
  Trailer trailer = 0;
  std::string value;

  friend bool operator==(const TestEntry&, const TestEntry&) = default;
};

class VectorIterator final : public InternalIterator {
 public:
  VectorIterator(std::vector<TestEntry> entries, int fail_after)
      : entries_(std::move(entries)), moves_left_(fail_after) {}

  bool Valid() const override { return status_.ok() && at_ < entries_.size(); }
  void SeekToFirst() override { MoveTo(0); }
  void SeekToLast() override { MoveTo(entries_.size() - 1); }
  void Seek(Slice user_key, Trailer trailer) override { MoveTo(LowerBound(user_key, trailer)); }
  void SeekForPrev(Slice user_key, Trailer trailer) override {
    size_t at = LowerBound(user_key, trailer);
    if (at == entries_.size() || entries_[at].key != user_key || entries_[at].trailer != trailer) {
      --at;
    }
    MoveTo(at);
  }
  void Next() override { MoveTo(at_ + 1); }
  bool NextKeyOrVersion() override {
    size_t at = at_;
    while (at < entries_.size() && entries_[at].key == entries_[at_].key) ++at;
    MoveTo(at);
    return true;
  }
  bool StepInMemory() override {
    if (at_ % 5 == 4) return false;
    MoveTo(at_ + 1);
    return true;
  }
  bool ReadAhead(const AheadLimits& limits, EntryBatch* batch) override {
    if (!batch->Add(user_key(), value())) return false;
    for (size_t next = at_ + 1; next < entries_.size(); at_ = next++) {
      const TestEntry& entry = entries_[next];
      if (entry.key == entries_[at_].key || !limits.Allow(entry.trailer) ||
          !limits.Allow(Slice(entry.key)) || !batch->Add(entry.key, entry.value)) {
        break;
      }
    }
    return at_ % 3 == 0 && NextKeyOrVersion();
  }
  void ReadVersionsAhead(const AheadLimits& limits, VersionBatch* batch) override {
    if (at_ % 7 == 6) return;  // As if it had no room for the key.
    batch->AddStable(user_key(), trailer(), value());
    for (size_t next = at_ + 1; next < entries_.size() && next % 6 != 0; at_ = next++) {
      const TestEntry& entry = entries_[next];
      if (entry.key == entries_[at_].key || !limits.Allow(entry.trailer) ||
          !limits.Allow(Slice(entry.key)) ||
          !batch->AddStable(entry.key, entry.trailer, entry.value)) {
        break;
      }
    }
  }
  void Prev() override { MoveTo(at_ - 1); }
  Slice user_key() const override { return entries_[at_].key; }
  Trailer trailer() const override { return entries_[at_].trailer; }
  Slice value() const override { return entries_[at_].value; }
  Status status() const override { return status_; }

 private:
  size_t LowerBound(Slice user_key, Trailer trailer) const {
    size_t at = 0;
    while (at < entries_.size() &&
           CompareVersions(entries_[at].key, entries_[at].trailer, user_key, trailer) < 0) {
      ++at;
    }
    return at;
  }
  void MoveTo(size_t at) {
    at_ = at;
    if (moves_left_ == 0) status_ = Status::IoError("planned");
    if (moves_left_ > 0) --moves_left_;
  }

  const std::vector<TestEntry> entries_;
  int moves_left_;
  size_t at_ = SIZE_MAX;
  Status status_;
};

// "P30", "D20", "S10" and back.
inline Trailer ParseVersion(const std::string& text) {
  CHECK(text.size() >= 2);
  const SequenceNumber sequence = std::stoull(text.substr(1));
  switch (text[0]) {
    case 'P':
      return PackTrailer(sequence, ValueType::kPut);
    case 'D':
      return PackTrailer(sequence, ValueType::kDelete);
    default:
      CHECK(text[0] == 'S');
      return PackTrailer(sequence, ValueType::kSingleDelete);
  }
}

inline std::string DescribeVersion(Trailer trailer) {
  static constexpr char kLetters[] = "DPS";
  return kLetters[static_cast<size_t>(TrailerType(trailer))] +
         std::to_string(TrailerSequence(trailer));
}

// Sorts like iterators.
inline void SortEntries(std::vector<TestEntry>* entries) {
  std::sort(entries->begin(), entries->end(), [](const TestEntry& a, const TestEntry& b) {
    return CompareVersions(a.key, a.trailer, b.key, b.trailer) < 0;
  });
}

// Over a vector, with an error after `fail_after` entries if that is not negative.
inline std::unique_ptr<InternalIterator> NewVectorIterator(std::vector<TestEntry> entries,
                                                           int fail_after = -1) {
  return std::make_unique<VectorIterator>(std::move(entries), fail_after);
}

// "key:P30" for each entry, forward from the first.
inline std::string ReadAll(InternalIterator* iter) {
  std::string out;
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
    out += (out.empty() ? "" : " ") + std::string(iter->user_key()) + ":" +
           DescribeVersion(iter->trailer());
  }
  if (const Status status = iter->status(); !status.ok()) out += " " + status.ToString();
  return out;
}

// A file that does not exist on disk.
inline FileRef FakeFile(FileRecord record) {
  return std::make_shared<const FileMeta>(std::move(record), nullptr);
}

// Writes a table file. REQUIRES: entries are sorted and not empty.
inline FileRecord WriteTable(FileSystem* fs, const std::string& directory, FamilyId family,
                             const std::vector<TestEntry>& entries, uint64_t number) {
  const std::string path = TableFileName(directory, number);
  auto file = fs->NewWritableFile(path, OpenMode::kCreate);
  CHECK_OK(file.status());
  TableWriteOptions options;
  options.family = family;
  const auto writer = NewTableWriter(options, std::move(file).value(), path);
  for (const TestEntry& entry : entries) {
    CHECK_OK(writer->Add(entry.key, entry.trailer, entry.value));
  }
  auto properties = writer->Finish();
  CHECK_OK(properties.status());
  FileRecord record;
  record.number = number;
  record.bytes = writer->FileBytes();
  record.properties = std::move(properties).value();
  return record;
}

}  // namespace tidesdb
