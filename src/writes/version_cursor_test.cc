#include "writes/version_cursor.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "base/test_seed.h"
#include "memtable/memtable.h"
#include "version/merging_iter.h"

namespace tidesdb {
namespace {

struct Shown {
  ValueType type;
  SequenceNumber sequence;
  std::string value;
};
using View = std::map<std::string, Shown>;

class FlagInterrupt final : public InterruptCheck {
 public:
  bool Interrupted() const override { return on; }
  bool on = false;
};

// Versions of few keys, with many versions of one key, spread over several memtables.
struct History {
  explicit History(Random* random) : memtables(1 + random->Uniform(4)) {
    for (auto& memtable : memtables) memtable = NewMemTable();
    for (SequenceNumber sequence = 1; sequence <= 200; ++sequence) {
      const std::string key = std::to_string(random->Uniform(random->OneIn(2) ? 3 : 20));
      const ValueType type = random->OneIn(3) ? ValueType::kDelete : ValueType::kPut;
      const std::string value = type == ValueType::kPut ? std::to_string(sequence) : "";
      memtables[random->Uniform(memtables.size())]->Add(1, key, type, sequence, value);
      versions[key][sequence] = {type, sequence, value};
    }
  }

  View Visible(const Visibility& visibility, bool tombstones, Slice lower, Slice upper) const {
    View view;
    for (const auto& [key, all] : versions) {
      if (key < lower || (!upper.empty() && key >= upper)) continue;
      for (auto it = all.rbegin(); it != all.rend(); ++it) {
        const bool voided =
            visibility.voided != nullptr && visibility.voided->LiveAtMost(it->first) != it->first;
        if (it->first > visibility.snapshot || voided) continue;
        if (tombstones || it->second.type == ValueType::kPut) view[key] = it->second;
        break;
      }
    }
    return view;
  }

  std::unique_ptr<InternalIterator> NewIterator() const {
    std::vector<std::unique_ptr<InternalIterator>> sources;
    sources.reserve(memtables.size());
    for (const auto& memtable : memtables) sources.push_back(memtable->NewIterator(1));
    return NewMergingIterator(std::move(sources), nullptr);
  }

  std::vector<std::unique_ptr<MemTable>> memtables;
  std::map<std::string, std::map<SequenceNumber, Shown>> versions;
};

void ExpectAt(const VersionCursor& cursor, const View& view, View::const_iterator it) {
  ASSERT_TRUE(cursor.status().ok());
  ASSERT_EQ(cursor.Valid(), it != view.end());
  if (!cursor.Valid()) return;
  EXPECT_EQ(cursor.key(), it->first);
  EXPECT_EQ(cursor.value(), it->second.value);
  EXPECT_EQ(cursor.type(), it->second.type);
}

View::const_iterator Before(const View& view, View::const_iterator it) {
  return it == view.begin() ? view.end() : std::prev(it);
}

// Reads ahead from `it`. Returns the cursor's place afterwards.
View::const_iterator ReadAhead(VersionCursor* cursor, const View& view, View::const_iterator it,
                               Random* random) {
  EntryBatch batch;
  batch.Reset(1 + random->Uniform(EntryBatch::kEntriesMax));
  cursor->ReadAhead(&batch);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (i > 0) ++it;
    if (it == view.end()) {
      ADD_FAILURE() << "read beyond the end";
      break;
    }
    EXPECT_EQ(batch[i].key, it->first);
    EXPECT_EQ(batch[i].value, it->second.value);
  }
  return it;
}

// Walks at random and compares each step.
void Walk(VersionCursor* cursor, const View& view, Random* random) {
  auto it = view.end();
  for (int step = 0; step < 60; ++step) {
    const std::string key = std::to_string(random->Uniform(22));
    switch (random->Uniform(cursor->Valid() ? 12 : 5)) {
      case 0:
        cursor->SeekToFirst();
        it = view.begin();
        break;
      case 1:
        cursor->SeekToLast();
        it = Before(view, view.end());
        break;
      case 2:
        cursor->Seek(key);
        it = view.lower_bound(key);
        break;
      case 3:
        cursor->SeekForPrev(key);
        it = Before(view, view.upper_bound(key));
        break;
      case 4:
        cursor->SeekBefore(key);
        it = Before(view, view.lower_bound(key));
        break;
      case 5:
      case 6:
      case 7:
        cursor->Prev();
        it = Before(view, it);
        break;
      case 8:
        it = ReadAhead(cursor, view, it, random);
        break;
      default:
        cursor->Next();
        ++it;
        break;
    }
    ExpectAt(*cursor, view, it);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(VersionCursorTest, RandomWalksMatchTheModel) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + 150; ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Random random(seed);
    const History history(&random);
    VoidedOps voided;
    Visibility visibility;
    if (random.OneIn(2)) {
      visibility.snapshot = random.Uniform(210);
    } else {
      visibility.voided = &voided;
      for (uint64_t high = random.Uniform(50) + 1; high <= 200; high += random.Uniform(60) + 1) {
        voided.Add(random.Uniform(high), high);
      }
    }
    const bool tombstones = random.OneIn(2);
    const std::string lower = random.OneIn(2) ? std::to_string(random.Uniform(20)) : "";
    std::string upper = random.OneIn(2) ? std::to_string(random.Uniform(20)) : "";
    VersionCursor cursor(
        history.NewIterator(), visibility,
        tombstones ? VersionCursor::Tombstones::kShow : VersionCursor::Tombstones::kSkip, nullptr);
    cursor.SetBounds(lower, upper);
    Walk(&cursor, history.Visible(visibility, tombstones, lower, upper), &random);
    if (HasFailure()) return;
  }
}

TEST(VersionCursorTest, LongSkipsCanBeInterrupted) {
  auto memtable = NewMemTable();
  for (int i = 0; i < 5000; ++i) {
    memtable->Add(1, std::to_string(i), ValueType::kDelete, static_cast<uint64_t>(i) + 1, "");
  }
  FlagInterrupt interrupt;
  VersionCursor cursor(memtable->NewIterator(1), Visibility(), VersionCursor::Tombstones::kSkip,
                       &interrupt);
  cursor.SeekToFirst();
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(cursor.status().ok());
  interrupt.on = true;
  cursor.SeekToFirst();
  EXPECT_EQ(cursor.status().code(), Code::kInterrupted);
  cursor.SeekToLast();
  EXPECT_EQ(cursor.status().code(), Code::kInterrupted);
  interrupt.on = false;
  cursor.SeekToLast();
  EXPECT_TRUE(cursor.status().ok());
}

TEST(VoidedOpsTest, MatchesASet) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + 200; ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Random random(seed);
    VoidedOps voided;
    std::vector<bool> is_void(1, false);
    for (int i = 0; i < 20; ++i) {
      is_void.resize(is_void.size() + random.Uniform(5) + 1, false);
      if (random.OneIn(2)) continue;
      const uint64_t high = is_void.size() - 1;
      const uint64_t low = random.Uniform(high);
      voided.Add(low, high);
      for (uint64_t n = low + 1; n <= high; ++n) is_void[n] = true;
    }
    for (uint64_t n = 0; n < is_void.size(); ++n) {
      uint64_t live = n;
      while (live > 0 && is_void[live]) --live;
      ASSERT_EQ(voided.LiveAtMost(n), live) << n;
      for (uint64_t m = n; m < is_void.size() && n > 0; ++m) {
        bool all = true;
        for (uint64_t k = n; k <= m; ++k) all = all && is_void[k];
        ASSERT_EQ(voided.Covers(n, m), all) << n << " " << m;
      }
    }
  }
}

}  // namespace
}  // namespace tidesdb
