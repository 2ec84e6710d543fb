// In-memory files and random entries, for the tests and benchmarks of this folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/test_seed.h"
#include "io/file_system.h"
#include "table/table_reader.h"
#include "table/table_writer.h"

namespace tidesdb {

class StringWritableFile final : public WritableFile {
 public:
  explicit StringWritableFile(std::shared_ptr<std::string> bytes) : bytes_(std::move(bytes)) {}
  Status Append(Slice data) override {
    if (bytes_->size() + data.size() > fail_after_) return Status::NoSpace("test file is full");
    bytes_->append(data);
    return Status::Ok();
  }
  Status Sync() override { return Status::Ok(); }
  Status Preallocate(uint64_t) override { return Status::Ok(); }
  Status Truncate(uint64_t size) override {
    bytes_->resize(size);
    return Status::Ok();
  }
  Status Close() override { return Status::Ok(); }
  uint64_t size() const override { return bytes_->size(); }

  void FailAfter(uint64_t bytes) { fail_after_ = bytes; }

 private:
  const std::shared_ptr<std::string> bytes_;
  uint64_t fail_after_ = UINT64_MAX;
};

class StringRandomAccessFile final : public RandomAccessFile {
 public:
  explicit StringRandomAccessFile(std::shared_ptr<const std::string> bytes)
      : bytes_(std::move(bytes)) {}
  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    if (offset >= bytes_->size()) return Slice(scratch, 0);
    n = std::min(n, bytes_->size() - static_cast<size_t>(offset));
    std::memcpy(scratch, bytes_->data() + offset, n);
    return Slice(scratch, n);
  }
  uint64_t size() const override { return bytes_->size(); }

 private:
  const std::shared_ptr<const std::string> bytes_;
};

// Counts the reads.
class CountingFile final : public RandomAccessFile {
 public:
  CountingFile(std::shared_ptr<std::string> bytes, uint64_t* reads, uint64_t* bytes_read = nullptr)
      : file_(std::move(bytes)), reads_(reads), bytes_read_(bytes_read) {}
  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    ++*reads_;
    if (bytes_read_ != nullptr) *bytes_read_ += n;
    return file_.ReadAt(offset, n, scratch);
  }
  uint64_t size() const override { return file_.size(); }

 private:
  const StringRandomAccessFile file_;
  uint64_t* const reads_;
  uint64_t* const bytes_read_;
};

struct TestEntry {
  std::string key;
  Trailer trailer;
  std::string value;
};

struct EntryLess {
  bool operator()(const std::pair<std::string, Trailer>& a,
                  const std::pair<std::string, Trailer>& b) const {
    return CompareVersions(a.first, a.second, b.first, b.second) < 0;
  }
};
using EntryMap = std::map<std::pair<std::string, Trailer>, std::string, EntryLess>;

// Keys that share prefixes, extend each other, and contain zero and 0xff bytes; some have several
// versions.
inline std::string RandomKey(Random* random, size_t bytes_max) {
  static constexpr char kAlphabet[] = {'\0', 'a', 'b', '\x7f', '\x80', '\xff'};
  std::string key(random->Uniform(bytes_max + 1), '\0');
  for (char& c : key) c = kAlphabet[random->Uniform(sizeof(kAlphabet))];
  if (random->OneIn(2)) key.insert(0, "common prefix/");
  return key;
}

inline EntryMap RandomEntries(Random* random, size_t count, size_t key_bytes_max,
                              size_t value_bytes_max) {
  EntryMap entries;
  std::string key;
  while (entries.size() < count) {
    if (key.empty() || !random->OneIn(3)) key = RandomKey(random, key_bytes_max);
    const auto type = random->OneIn(5)
                          ? (random->OneIn(2) ? ValueType::kDelete : ValueType::kSingleDelete)
                          : ValueType::kPut;
    const SequenceNumber sequence =
        random->OneIn(10) ? random->Uniform(kSequenceMax) : 1 + random->Uniform(1000);
    std::string value;
    if (type == ValueType::kPut) {
      value.assign(random->Uniform(value_bytes_max + 1), static_cast<char>(random->Next()));
      for (size_t i = 0; i < value.size(); i += 3) value[i] = static_cast<char>(random->Next());
    }
    const Trailer trailer = PackTrailer(sequence, type);
    // (key, sequence) is unique.
    const auto at = entries.lower_bound({key, SeekTrailer(sequence)});
    if (at != entries.end() && at->first.first == key &&
        TrailerSequence(at->first.second) == sequence) {
      continue;
    }
    entries[{key, trailer}] = value;
  }
  return entries;
}

inline void ExpectAt(const InternalIterator& iter, const EntryMap& entries,
                     EntryMap::const_iterator at) {
  ASSERT_TRUE(iter.status().ok()) << iter.status().ToString();
  ASSERT_EQ(iter.Valid(), at != entries.end());
  if (at == entries.end()) return;
  ASSERT_EQ(iter.user_key(), at->first.first);
  ASSERT_EQ(iter.trailer(), at->first.second);
  ASSERT_EQ(iter.value(), at->second);
}

inline EntryMap::const_iterator LastAtOrBefore(const EntryMap& entries, const std::string& key,
                                               Trailer trailer) {
  auto at = entries.upper_bound({key, trailer});
  return at == entries.begin() ? entries.end() : std::prev(at);
}

inline std::shared_ptr<std::string> WriteTable(const TableWriteOptions& options,
                                               const EntryMap& entries,
                                               TableProperties* properties = nullptr) {
  auto bytes = std::make_shared<std::string>();
  auto writer = NewTableWriter(options, std::make_unique<StringWritableFile>(bytes), "test.tdb");
  for (const auto& [position, value] : entries) {
    CHECK_OK(writer->Add(position.first, position.second, value));
  }
  Result<TableProperties> result = writer->Finish();
  CHECK_OK(result.status());
  if (properties != nullptr) *properties = *result;
  return bytes;
}

inline Result<std::shared_ptr<TableReader>> OpenTable(std::shared_ptr<const std::string> bytes,
                                                      BlockCache* cache, SequenceNumber global = 0,
                                                      uint64_t file_number = 7) {
  return TableReader::Open(std::make_unique<StringRandomAccessFile>(std::move(bytes)), "test.tdb",
                           file_number, global, cache);
}

}  // namespace tidesdb
