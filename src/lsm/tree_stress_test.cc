// Writers, readers, flushes and compactions at once, on real threads; mainly for the thread
// sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "base/thread.h"
#include "lsm/tree_harness.h"

namespace tidesdb {
namespace {

constexpr uint64_t kKeys = 200;

std::string Key(uint64_t i) { return "key" + std::to_string(1000 + i); }

// Every commit writes one round number to all keys of a group of four, so that a reader can detect
// a torn state.
class Stress : private LsmEnv {
 public:
  Stress() {
    CHECK_OK(fs_.CreateDir("/db"));
    cache_ = NewClockCache(1 << 20, 1 << 10);
    LsmOptions options;
    options.env = this;
    options.fs = &fs_;
    options.directory = "/db";
    options.block_cache = cache_.get();
    options.open_files_max = 4;
    auto tree = LsmTree::Open(options, true);
    CHECK_OK(tree.status());
    tree_ = std::move(tree).value();
    CatalogEdit edit;
    family_ = tree_->versions().NewFamilyId();
    ColumnFamilyOptions family_options;
    family_options.target_file_bytes = 8 << 10;
    family_options.level0_file_trigger = 2;
    family_options.block_bytes = 1 << 10;
    edit.create.push_back({family_, family_options});
    CHECK_OK(tree_->ApplyCatalog(edit, 0));
  }

  void Run(uint64_t rounds) {
    std::vector<std::unique_ptr<Thread>> threads;
    // The writer needs a few milliseconds: without the latch it would finish before the others
    // begin.
    std::latch running(4);
    const auto start = [&](const char* name, std::function<void()> body) {
      threads.push_back(std::make_unique<Thread>(name, [&running, body = std::move(body)] {
        running.count_down();
        body();
      }));
    };
    for (int i = 0; i < 2; ++i) start("background", [this] { Background(); });
    start("snapshots", [this] { ReadSnapshots(); });
    start("newest", [this] { ReadNewest(); });
    running.wait();
    Write(rounds);
    done_ = true;
    for (const auto& thread : threads) thread->Join();
    EXPECT_EQ(errors_, 0);
    EXPECT_TRUE(tree_->Verify(family_, VerifyDepth::kAll, nullptr).ok());
  }

 private:
  Status SyncWalTo(SequenceNumber) override { return Status::Ok(); }
  SnapshotView Snapshots() override {
    MutexLock lock(snapshot_mutex_);
    SnapshotView view = {{}, visible_.load()};
    if (open_snapshot_ != 0) view.live.push_back(open_snapshot_);
    return view;
  }
  std::unique_ptr<MemTable> NewMemTable() override { return tidesdb::NewMemTable(4 << 10); }

  void Write(uint64_t rounds) {
    Random random(1);
    for (uint64_t round = 1; round <= rounds; ++round) {
      const SequenceNumber sequence = visible_.load() + 1;
      const uint64_t group = random.Uniform(kKeys / 4);
      for (uint64_t i = 0; i < 4; ++i) {
        tree_->active()->Add(family_, Key(group * 4 + i), ValueType::kPut, sequence,
                             std::to_string(sequence) + std::string(40, '.'));
      }
      visible_.store(sequence);
      if (round % 50 == 0) tree_->Rotate(round, sequence);
    }
  }

  // This and the readers make at least one round, however early the writer finishes.
  void Background() {
    do {
      const Result<bool> flushed = tree_->FlushOne(nullptr);
      Expect(flushed.status().ok());
      auto task = tree_->PickCompaction();
      if (task != nullptr) Expect(tree_->RunCompaction(std::move(task), nullptr).ok());
      tree_->DeleteObsolete(2);
      SpinPause();
    } while (!done_);
  }

  // All four keys of a group must show the same commit at a registered snapshot.
  void ReadSnapshots() {
    Random random(2);
    do {
      SequenceNumber snapshot = 0;
      {
        MutexLock lock(snapshot_mutex_);
        snapshot = open_snapshot_ = visible_.load();
      }
      const ReadStateRef state = tree_->Acquire();
      const uint64_t group = random.Uniform(kKeys / 4);
      std::string first;
      for (uint64_t i = 0; i < 4; ++i) {
        const std::string value = Read(*state, Key(group * 4 + i), snapshot);
        if (i == 0) first = value;
        Expect(value == first);
      }
    } while (!done_);
  }

  // A scan of a state is sorted and has each key's versions newest first.
  void ReadNewest() {
    do {
      const auto iter = tree_->Acquire()->NewIterator(family_, {});
      Expect(iter.status().ok());
      std::string last_key;
      Trailer last_trailer = 0;
      for ((*iter)->SeekToFirst(); (*iter)->Valid(); (*iter)->Next()) {
        const std::string key((*iter)->user_key());
        Expect(last_key.empty() ||
               CompareVersions(last_key, last_trailer, key, (*iter)->trailer()) < 0);
        last_key = key;
        last_trailer = (*iter)->trailer();
      }
      Expect((*iter)->status().ok());
    } while (!done_);
  }

  std::string Read(const ReadState& state, const std::string& key, SequenceNumber snapshot) {
    VersionHit hit;
    const Result<bool> found = state.Get(family_, key, snapshot, &hit);
    Expect(found.status().ok());
    std::string value = *found ? std::string(hit.value) : "";
    if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
    return value;
  }

  void Expect(bool condition) {
    if (!condition) ++errors_;
  }

  MemFs fs_{1};
  std::unique_ptr<BlockCache> cache_;
  std::unique_ptr<LsmTree> tree_;
  FamilyId family_ = 0;
  std::atomic<SequenceNumber> visible_ = 0;
  Mutex snapshot_mutex_;
  SequenceNumber open_snapshot_ GUARDED_BY(snapshot_mutex_) = 0;
  std::atomic<bool> done_ = false;
  std::atomic<int> errors_ = 0;
};

TEST(TreeStress, ReadersSeeWholeCommitsWhileFilesComeAndGo) { Stress().Run(4000); }

}  // namespace
}  // namespace tidesdb
