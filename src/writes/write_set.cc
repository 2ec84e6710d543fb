#include "writes/write_set.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/coding.h"
#include "tidesdb/limits.h"

namespace tidesdb {
namespace {

uint64_t HeadOf(Slice key) {
  char bytes[8] = {};
  key.copy(bytes, sizeof bytes);  // Unlike memcpy, fine with the null of an empty key.
  return DecodeBigEndian64(bytes);
}

}  // namespace

FamilyWrites::FamilyWrites(FamilyId family, Arena* arena)
    : family_(family), arena_(arena), random_(family * 0x9e3779b97f4a7c15 + 1) {
  head_node_ = NewNode(Slice(), 0, kHeightMax);
  std::fill(before_, before_ + kHeightMax, head_node_);
}

int FamilyWrites::Compare(const WriteNode& node, uint64_t head, Slice key) {
  if (node.head != head) return node.head < head ? -1 : 1;
  return node.key().compare(key);
}

WriteNode* FamilyWrites::NewNode(Slice key, uint64_t head, uint32_t height) {
  const size_t bytes = sizeof(WriteNode) + height * sizeof(void*) + key.size();
  char* memory = arena_->AllocateAligned(bytes, alignof(WriteNode));
  auto* node = std::construct_at(reinterpret_cast<WriteNode*>(memory));
  node->head = head;
  node->key_bytes = static_cast<uint32_t>(key.size()) & kKeyBytesMax;
  node->height = height & 15;
  node->family = family_;
  std::fill(node->links(), node->links() + height, nullptr);
  key.copy(const_cast<char*>(node->key().data()), key.size());
  return node;
}

uint32_t FamilyWrites::RandomHeight() {
  // xorshift64: good enough for a list that nobody outside can shape.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  uint32_t height = 1;
  for (uint64_t bits = random_ >> 20; height < kHeightMax && (bits & 3) == 0; bits >>= 2) ++height;
  return height;
}

void FamilyWrites::FindPlace(uint64_t head, Slice key) {
  if (inserted_ != nullptr && Compare(*inserted_, head, key) < 0) {
    const WriteNode* next = inserted_->links()[0];
    if (next == nullptr || Compare(*next, head, key) >= 0) {
      // Right behind the last insertion, as keys in order are.
      std::fill(before_, before_ + inserted_->height, inserted_);
      return;
    }
  }
  WriteNode* node = head_node_;
  for (uint32_t level = kHeightMax; level-- > 0;) {
    while (node->links()[level] != nullptr && Compare(*node->links()[level], head, key) < 0) {
      node = node->links()[level];
    }
    before_[level] = node;
  }
  inserted_ = nullptr;  // before_ is not its place any more.
}

WriteNode* FamilyWrites::FindOrInsert(Slice key) {
  const uint64_t head = HeadOf(key);
  FindPlace(head, key);
  WriteNode* next = before_[0]->links()[0];
  if (next != nullptr && Compare(*next, head, key) == 0) {
    inserted_ = nullptr;
    return next;
  }
  WriteNode* node = NewNode(key, head, RandomHeight());
  for (uint32_t level = 0; level < node->height; ++level) {
    node->links()[level] = before_[level]->links()[level];
    before_[level]->links()[level] = node;
  }
  node->prev = before_[0] == head_node_ ? nullptr : before_[0];
  if (next != nullptr) {
    next->prev = node;
  } else {
    last_ = node;
  }
  inserted_ = node;
  return node;
}

const WriteNode* FamilyWrites::LastLess(Slice key) const {
  const uint64_t head = HeadOf(key);
  const WriteNode* node = head_node_;
  for (uint32_t level = kHeightMax; level-- > 0;) {
    while (node->links()[level] != nullptr && Compare(*node->links()[level], head, key) < 0) {
      node = node->links()[level];
    }
  }
  return node == head_node_ ? nullptr : node;
}

const WriteNode* FamilyWrites::SkipForward(const WriteNode* node) {
  while (node != nullptr && node->newest == nullptr) node = node->links()[0];
  return node;
}

const WriteNode* FamilyWrites::SkipBackward(const WriteNode* node) {
  while (node != nullptr && node->newest == nullptr) node = node->prev;
  return node;
}

const WriteNode* FamilyWrites::Find(Slice key) const {
  const WriteNode* before = LastLess(key);
  const WriteNode* node = before == nullptr ? head_node_->links()[0] : before->links()[0];
  return node != nullptr && node->key() == key ? node : nullptr;
}

const WriteNode* FamilyWrites::First() const { return SkipForward(head_node_->links()[0]); }
const WriteNode* FamilyWrites::Last() const { return SkipBackward(last_); }
const WriteNode* FamilyWrites::Before(Slice key) const { return SkipBackward(LastLess(key)); }

const WriteNode* FamilyWrites::AtLeast(Slice key) const {
  const WriteNode* before = LastLess(key);
  return SkipForward(before == nullptr ? head_node_->links()[0] : before->links()[0]);
}

const WriteNode* FamilyWrites::AtMost(Slice key) const {
  const WriteNode* before = LastLess(key);
  const WriteNode* next = before == nullptr ? head_node_->links()[0] : before->links()[0];
  const bool exact = next != nullptr && next->key() == key && next->newest != nullptr;
  return exact ? next : SkipBackward(before);
}

const WriteNode* FamilyWrites::Next(const WriteNode* node) { return SkipForward(node->links()[0]); }
const WriteNode* FamilyWrites::Prev(const WriteNode* node) { return SkipBackward(node->prev); }

const FamilyWrites* WriteSet::FindFamily(FamilyId family) const {
  auto it = std::lower_bound(families_.begin(), families_.end(), family,
                             [](const auto& writes, FamilyId id) { return writes->family() < id; });
  return it != families_.end() && (*it)->family() == family ? it->get() : nullptr;
}

FamilyWrites* WriteSet::MakeFamily(FamilyId family) {
  auto it = std::lower_bound(families_.begin(), families_.end(), family,
                             [](const auto& writes, FamilyId id) { return writes->family() < id; });
  if (it == families_.end() || (*it)->family() != family) {
    it = families_.insert(it, std::make_unique<FamilyWrites>(family, &arena_));
  }
  return it->get();
}

void WriteSet::Add(FamilyId family, Slice key, ValueType type, Slice value) {
  MutexLock lock(look_mutex_);
  WriteNode* node = MakeFamily(family)->FindOrInsert(key);
  if (type == ValueType::kSingleDelete && node->newest != nullptr) type = ValueType::kDelete;
  char* memory = arena_.AllocateAligned(sizeof(WriteOp), alignof(WriteOp));
  auto* op = std::construct_at(reinterpret_cast<WriteOp*>(memory));
  char* value_data = value.empty() ? nullptr : arena_.Allocate(value.size());
  value.copy(value_data, value.size());
  op->number = ++last_number_;
  op->older = node->newest;
  op->before = newest_op_;
  op->node = node;
  op->value_data = value_data;
  op->value_bytes = static_cast<uint32_t>(value.size());
  op->type = type;
  if (node->newest == nullptr) {
    ++live_keys_;
  } else {
    live_bytes_ -= RecordBytes(key, node->newest->value());
  }
  live_bytes_ += RecordBytes(key, value);
  // A new node and an old one are not told apart: a bound for the one, an overestimate for the
  // other.
  used_bytes_ +=
      sizeof(WriteNode) + sizeof(WriteOp) + 2 * sizeof(void*) + key.size() + value.size();
  node->newest = op;
  newest_op_ = op;
  ++changes_;
}

const WriteOp* WriteSet::Find(FamilyId family, Slice key) const {
  const FamilyWrites* writes = FindFamily(family);
  if (writes == nullptr) return nullptr;
  const WriteNode* node = writes->Find(key);
  return node == nullptr ? nullptr : node->newest;
}

bool WriteSet::NewestFirst::Has(FamilyId family, Slice key) {
  constexpr int kAhead = 8;  // Operations that nobody asks for, between those that are.
  const WriteOp* op = next_;
  for (int i = 0; i < kAhead && op != nullptr; ++i, op = op->before) {
    if (op->node->family != family || op->node->key() != key) continue;
    next_ = op->before;
    return true;
  }
  const WriteOp* const found = set_.Find(family, key);
  if (found != nullptr && next_ != nullptr && found->number < next_->number) next_ = found->before;
  return found != nullptr;
}

// One that was deleted since comes back when that is undone.
bool WriteSet::HasPut(const WriteNode& node) {
  for (const WriteOp* op = node.newest; op != nullptr; op = op->older) {
    if (op->type == ValueType::kPut) return true;
  }
  return false;
}

WriteSet::Look WriteSet::LookAt(FamilyId family, Slice start, Slice end, RangeHold hold) const {
  Look look;
  MutexLock lock(look_mutex_);
  const FamilyWrites* writes = FindFamily(family);
  if (writes == nullptr) return look;
  if (const WriteNode* before = writes->Before(start); before != nullptr) {
    look.has_before = true;
    look.before.assign(before->key());
  }
  for (auto* node = writes->AtLeast(start); node != nullptr; node = FamilyWrites::Next(node)) {
    if (!end.empty() && node->key() >= end) {
      look.has_after = true;
      look.after.assign(node->key());
      break;
    }
    if (hold == RangeHold::kWrites || HasPut(*node)) {
      look.conflict = true;
      break;
    }
  }
  return look;
}

void WriteSet::UndoTo(uint64_t number) {
  MutexLock lock(look_mutex_);
  ++changes_;
  while (newest_op_ != nullptr && newest_op_->number > number) {
    const WriteOp* op = newest_op_;
    DCHECK(op->node->newest == op);
    const Slice key = op->node->key();
    live_bytes_ -= RecordBytes(key, op->value());
    op->node->newest = op->older;
    if (op->older == nullptr) {
      --live_keys_;
    } else {
      live_bytes_ += RecordBytes(key, op->older->value());
    }
    newest_op_ = op->before;
  }
}

void WriteSet::Clear() {
  MutexLock lock(look_mutex_);
  families_.clear();
  arena_.Reset();
  newest_op_ = nullptr;
  live_keys_ = 0;
  live_bytes_ = 0;
  used_bytes_ = 0;
  ++changes_;
  ++generation_;
}

void WriteSet::Reset() {
  Clear();
  last_number_ = 0;
}

}  // namespace tidesdb
