// The nodes of a KeyTree: sorted slots under a version number, read without a lock.
//
// Threads: any. A reader notes the version (BeginRead), reads, and checks that the version is
//   unchanged (StillAt); only then is its data valid. Until then it may be torn, but every pointer in
//   it leads to memory that lives as long as the tree. A writer holds the lock, which is the
//   version's lowest bit. All fields that change are atomic; acquire loads by readers and release
//   stores by writers keep the order of fields and version.
// Owns: nothing; nodes are the arena's and are never freed.
// Invariants:
//   1. A node holds the keys in [low, high). `low` never changes; `high` only falls, when the node is
//      split. Keys beyond it are then to the right (next).
//   2. `low` is null in the first node of a level, `high` in the last; all others are keys of the
//      tree.
//   3. The keys of a node share the first skip() bytes; heads are of the bytes after these.
//   4. A slot that was ever below count() never becomes null again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/check.h"
#include "base/mutex.h"
#include "memtable/key_node.h"

namespace tidesdb {

class alignas(64) TreeNode {
 public:
  TreeNode(KeyNode* low, uint32_t level) : low_(low), level_(level) {}
  TreeNode(const TreeNode&) = delete;
  TreeNode& operator=(const TreeNode&) = delete;

  // For readers.

  // The version to read at; waits while a writer is in the node.
  uint64_t BeginRead() const {
    const uint64_t version = version_.load(std::memory_order_acquire);
    SchedulingPoint();
    return (version & kLocked) == 0 ? version : AwaitUnlocked();
  }
  // Whether all data read since BeginRead() is valid.
  bool StillAt(uint64_t version) const {
    SchedulingPoint();
    return version_.load(std::memory_order_relaxed) == version;
  }

  KeyNode* low() const { return low_; }
  uint32_t level() const { return level_; }  // 0: a leaf.
  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  size_t skip() const { return skip_.load(std::memory_order_acquire); }
  KeyNode* high() const { return high_.load(std::memory_order_acquire); }
  TreeNode* next() const { return next_.load(std::memory_order_acquire); }

  // For writers.

  // False if another thread is writing or has written since.
  bool TryLock(uint64_t version) {
    SchedulingPoint();
    return version_.compare_exchange_strong(version, version + kLocked, std::memory_order_acquire,
                                            std::memory_order_relaxed);
  }
  void Unlock() {
    version_.store(version_.load(std::memory_order_relaxed) + kLocked, std::memory_order_release);
  }

 protected:
  // REQUIRES (all below): locked, or not yet linked.
  void SetCount(uint32_t count) { count_.store(count, std::memory_order_release); }
  void SetSkip(size_t skip) { skip_.store(static_cast<uint32_t>(skip), std::memory_order_release); }
  void SetHigh(KeyNode* high) { high_.store(high, std::memory_order_release); }
  void SetNext(TreeNode* next) { next_.store(next, std::memory_order_release); }

  // The common prefix length of all keys in [low, high).
  size_t CommonBytes() const {
    const KeyNode* high = this->high();
    if (low_ == nullptr || high == nullptr) return 0;
    const Slice a = low_->key();
    const Slice b = high->key();
    const auto end = a.begin() + static_cast<ptrdiff_t>(std::min(a.size(), b.size()));
    return static_cast<size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
  }

  void NoteInsert(uint32_t slot) {
    if (slot == last_insert_ + 1) {
      run_ = std::max(run_, 0) + 1;
    } else if (slot == last_insert_) {
      run_ = std::min(run_, 0) - 1;
    } else {
      run_ = 0;
    }
    last_insert_ = slot;
  }
  // Whether an insert into this slot continues the order of the last ones.
  bool IsSorted(uint32_t slot) const {
    return run_ > 0 ? slot == last_insert_ + 1 && run_ >= kRunMin
                    : slot == last_insert_ && run_ <= -kRunMin;
  }

 private:
  static constexpr uint64_t kLocked = 1;

  uint64_t AwaitUnlocked() const {
    SpinWait wait;
    for (;;) {
      wait.Pause();
      const uint64_t version = version_.load(std::memory_order_acquire);
      if ((version & kLocked) == 0) return version;
    }
  }

  static constexpr int kRunMin = 2;

  std::atomic<uint64_t> version_ = 0;
  std::atomic<KeyNode*> high_ = nullptr;
  std::atomic<TreeNode*> next_ = nullptr;
  KeyNode* const low_;
  std::atomic<uint32_t> count_ = 0;
  std::atomic<uint32_t> skip_ = 0;
  const uint32_t level_;
  // For writers only.
  uint32_t last_insert_ = 0;  // Slot.
  int run_ = 0;               // Number of last inserts in ascending order; below zero: descending.
};

// A key of the tree.
struct LeafSlot {
  static constexpr uint32_t kPerNode = 28;

  void Set(const LeafSlot& from) {
    head.store(from.head.load(std::memory_order_relaxed), std::memory_order_release);
    key.store(from.key.load(std::memory_order_relaxed), std::memory_order_release);
  }

  std::atomic<uint64_t> head = 0;
  std::atomic<KeyNode*> key = nullptr;
};

// A child and its first key: its low(), or in slot 0 that of its parent.
struct InnerSlot {
  static constexpr uint32_t kPerNode = 40;

  void Set(const InnerSlot& from) {
    head.store(from.head.load(std::memory_order_relaxed), std::memory_order_release);
    key.store(from.key.load(std::memory_order_relaxed), std::memory_order_release);
    child.store(from.child.load(std::memory_order_relaxed), std::memory_order_release);
  }

  std::atomic<uint64_t> head = 0;
  std::atomic<KeyNode*> key = nullptr;
  std::atomic<TreeNode*> child = nullptr;
};

template <typename Slot>
class SlotNode : public TreeNode {
 public:
  static constexpr uint32_t kSlots = Slot::kPerNode;

  SlotNode(KeyNode* low, uint32_t level) : TreeNode(low, level) {}

  uint64_t head(uint32_t slot) const { return slots_[slot].head.load(std::memory_order_acquire); }
  // Acquire: a thread that sees a key or a child sees its bytes.
  KeyNode* key(uint32_t slot) const { return slots_[slot].key.load(std::memory_order_acquire); }
  TreeNode* child(uint32_t slot) const {
    return slots_[slot].child.load(std::memory_order_acquire);
  }
  SlotNode* next() const { return static_cast<SlotNode*>(TreeNode::next()); }

  void Prefetch() const {
    const char* at = reinterpret_cast<const char*>(this);
    for (size_t line = 0; line < sizeof(SlotNode); line += 64) __builtin_prefetch(at + line);
  }

  struct Place {
    uint32_t slot;  // From the requested one on, the first whose key is not less.
    uint32_t count;
    KeyNode* equal;  // The key of that slot; null: it is greater.
  };

  // REQUIRES: the key is in [low, high], or the version has changed.
  Place Search(Slice wanted, uint32_t first) const {
    const uint32_t count = this->count();
    const size_t skip = this->skip();
    const uint64_t head = KeyHead(wanted, skip);
    const Slot* at = slots_ + first;
    uint32_t left = count - first;
    while (left > 1) {
      const uint32_t half = left / 2;
      at += at[half - 1].head.load(std::memory_order_acquire) < head ? half : 0;
      left -= half;
    }
    if (left == 1 && at->head.load(std::memory_order_acquire) < head) at++;
    auto low = static_cast<uint32_t>(at - slots_);
    // Usually the head differs or the key is the wanted one; otherwise keys decide.
    uint32_t high = count;
    uint32_t probe = low;
    while (low < high) {
      const int order = CompareAt(wanted, head, skip, probe);
      if (order == 0) return {probe, count, key(probe)};
      if (order < 0) {
        high = probe;
      } else {
        low = probe + 1;
      }
      probe = low + (high - low) / 2;
    }
    return {low, count, nullptr};
  }

  // REQUIRES (all below): locked, or not yet linked.

  // REQUIRES: count() < kSlots.
  void Insert(uint32_t slot, KeyNode* key, TreeNode* child) {
    const uint32_t count = this->count();
    DCHECK(count < kSlots && slot <= count);
    for (uint32_t i = count; i > slot; i--) slots_[i].Set(slots_[i - 1]);
    SetSlot(slot, key, child);
    SetCount(count + 1);
    NoteInsert(slot);
  }

  // The slot to split at when all are in use and `slot` is to be inserted: the middle. For sorted
  // inserts it is after the new key, so that they leave full nodes behind.
  uint32_t SplitSlot(uint32_t slot) const { return IsSorted(slot) ? slot : count() / 2; }

  // Moves the slots from `split` on to `right`, which must be new and empty. Its low() is the first
  // key to move, or the new key. The new key goes left unless it is after the split.
  void Split(uint32_t split, SlotNode* right, uint32_t slot, KeyNode* key, TreeNode* child) {
    const uint32_t count = this->count();
    for (uint32_t i = split; i < count; i++) right->slots_[i - split].Set(slots_[i]);
    right->SetCount(count - split);
    right->SetHigh(high());
    right->SetNext(next());
    right->Rehead(skip());
    SetCount(split);
    SetHigh(right->low());
    SetNext(right);
    Rehead(skip());
    if (slot > split || split == count) {
      right->Insert(slot - split, key, child);
    } else {
      Insert(slot, key, child);
    }
  }

 private:
  int CompareAt(Slice wanted, uint64_t head, size_t skip, uint32_t slot) const {
    const uint64_t other = this->head(slot);
    if (head != other) return head < other ? -1 : 1;
    return key(slot)->CompareBehindHead(wanted, skip);
  }

  void SetSlot(uint32_t slot, KeyNode* key, TreeNode* child) {
    Slot& at = slots_[slot];
    // The first slot of a level has no key.
    at.head.store(key == nullptr ? 0 : KeyHead(key->key(), skip()), std::memory_order_release);
    at.key.store(key, std::memory_order_release);
    if constexpr (std::is_same_v<Slot, InnerSlot>) {
      at.child.store(child, std::memory_order_release);
    }
  }

  // Call after the bounds of the node have moved. `old_skip`: the common bytes of its keys before.
  void Rehead(size_t old_skip) {
    const size_t common = CommonBytes();
    SetSkip(common);
    if (common == old_skip) return;
    for (uint32_t i = 0; i < count(); i++) {
      slots_[i].head.store(KeyHead(key(i)->key(), common), std::memory_order_release);
    }
  }

  Slot slots_[kSlots];
};

using Leaf = SlotNode<LeafSlot>;
using Inner = SlotNode<InnerSlot>;
static_assert(sizeof(Leaf) == 512 && sizeof(Inner) == 1024);

}  // namespace tidesdb
