#include "writes/write_set.h"

#include <algorithm>
#include <memory>

#include "base/check.h"

namespace tidesdb {
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
  FamilyWrites* const writes = MakeFamily(family);
  const size_t index_bytes = writes->index_bytes();
  WriteNode* node = writes->FindOrInsert(key);
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
  // Does not distinguish a new node from an old one: exact for new ones, too high for old ones.
  used_bytes_ += sizeof(WriteNode) + sizeof(WriteOp) + key.size() + value.size() +
                 (writes->index_bytes() - index_bytes);
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
  constexpr int kAhead = 8;  // Operations not asked for, between those that are.
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

// A put that was deleted since returns if the deletion is undone.
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
