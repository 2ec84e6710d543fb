#include "io/mem_disk.h"

#include <cstring>
#include <set>
#include <utility>

#include "base/check.h"

namespace tidesdb {
namespace {

// The unit of disk writes: sectors of one write may arrive in any order, or not at all.
constexpr uint64_t kSectorBytes = 512;

// Keeps one in 8, half, or seven in 8: losing few of many is a different test from losing most.
struct KeepRate {
  explicit KeepRate(Random* random) {
    static constexpr uint64_t kRates[] = {1, 4, 7};
    of_eight = kRates[random->Uniform(3)];
  }
  bool Keep(Random* random) const { return random->Uniform(8) < of_eight; }
  uint64_t of_eight;
};

}  // namespace

void MemInode::Write(uint64_t offset, Slice data) {
  if (data.empty()) return;
  ApplyWrite(offset, data, &current_);
  pending_.push_back({++change_count_, false, false, offset, std::string(data)});
}

void MemInode::Resize(uint64_t size) {
  if (size == current_.size()) return;
  current_.resize(size);
  reserved_bytes_ = std::min(reserved_bytes_, size);
  pending_.push_back({++change_count_, true, false, size, {}});
}

void MemInode::EndSync(uint64_t begun) {
  size_t covered = 0;
  for (; covered < pending_.size() && pending_[covered].number <= begun; ++covered) {
    if (!pending_[covered].doomed) Apply(pending_[covered], &durable_);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(covered));
}

void MemInode::FailSync(uint64_t begun, Random* random) {
  for (Change& change : pending_) {
    if (change.number <= begun && random->OneIn(2)) change.doomed = true;
  }
}

void MemInode::Flip(uint64_t offset, uint8_t mask) {
  CHECK(offset < current_.size());
  current_[offset] = static_cast<char>(current_[offset] ^ mask);
  if (offset < durable_.size()) durable_[offset] = static_cast<char>(durable_[offset] ^ mask);
}

std::string MemInode::AfterPowerCut(Loss loss, Random* random) const {
  std::string contents = durable_;
  if (pending_.empty()) return contents;
  if (loss == Loss::kRandom) {
    switch (random->Uniform(4)) {
      case 0:
        loss = Loss::kAll;
        break;
      case 1:
        loss = Loss::kNothing;
        break;
      case 2:
        AfterOrderedLoss(random, &contents);
        break;
      default:
        AfterReorderedLoss(random, &contents);
        break;
    }
  }
  if (loss == Loss::kNothing) {
    for (const Change& change : pending_) {
      if (!change.doomed) Apply(change, &contents);
    }
  }
  return contents;
}

// The changes reached the disk in order up to one of them, which is torn.
void MemInode::AfterOrderedLoss(Random* random, std::string* contents) const {
  const size_t whole = random->Uniform(pending_.size());
  for (size_t i = 0; i < whole; ++i) {
    if (!pending_[i].doomed) Apply(pending_[i], contents);
  }
  const Change& torn = pending_[whole];
  if (torn.is_resize || torn.doomed) return;
  uint64_t end = torn.offset + random->Uniform(torn.data.size() + 1);
  if (random->OneIn(2)) end -= std::min(end % kSectorBytes, end - torn.offset);
  ApplyWrite(torn.offset, Slice(torn.data).substr(0, end - torn.offset), contents);
}

// Each sector of each change is kept or lost independently; some are torn inside.
void MemInode::AfterReorderedLoss(Random* random, std::string* contents) const {
  const KeepRate rate(random);
  uint64_t size_max = 0;
  for (const Change& change : pending_) {
    if (change.doomed) continue;
    if (change.is_resize) {
      const bool keep = rate.Keep(random);
      if (keep) Apply(change, contents);
      size_max = keep ? change.offset : std::max(size_max, change.offset);
      continue;
    }
    const uint64_t end = change.offset + change.data.size();
    size_max = std::max(size_max, end);
    for (uint64_t at = change.offset; at < end;) {
      const uint64_t sector_end = std::min(end, at - at % kSectorBytes + kSectorBytes);
      Slice piece = Slice(change.data).substr(at - change.offset, sector_end - at);
      if (random->OneIn(8)) piece = piece.substr(0, random->Uniform(piece.size() + 1));
      if (rate.Keep(random)) ApplyWrite(at, piece, contents);
      at = sector_end;
    }
  }
  // The new size may be durable without the data: the rest reads as zeros.
  if (contents->size() < size_max && random->OneIn(2)) contents->resize(size_max);
}

std::shared_ptr<MemInode> MemInode::Durable(std::string contents) {
  auto inode = std::make_shared<MemInode>();
  inode->current_ = contents;
  inode->durable_ = std::move(contents);
  return inode;
}

void MemInode::Apply(const Change& change, std::string* contents) {
  if (change.is_resize) {
    contents->resize(change.offset);
  } else {
    ApplyWrite(change.offset, change.data, contents);
  }
}

void MemInode::ApplyWrite(uint64_t offset, Slice data, std::string* contents) {
  if (data.empty()) return;
  if (offset == contents->size()) {
    contents->append(data);
    return;
  }
  if (offset + data.size() > contents->size()) contents->resize(offset + data.size());
  std::memcpy(contents->data() + offset, data.data(), data.size());
}

MemNode MemDir::Find(Slice name) const {
  const auto found = current_.find(name);
  return found == current_.end() ? MemNode() : found->second;
}

void MemDir::Set(const std::string& name, const MemNode& node) {
  Change change;
  change.name = name;
  change.node = node;
  Apply(change, &current_, nullptr);
  AddPending(std::move(change));
}

void MemDir::Erase(const std::string& name) {
  Change change;
  change.name = name;
  change.node = Find(name);
  change.erased = true;
  Apply(change, &current_, nullptr);
  AddPending(std::move(change));
}

void MemDir::MoveHere(MemDir* from_dir, const std::string& from, const std::string& to) {
  Change change;
  change.name = to;
  change.node = from_dir->Find(from);
  change.from_dir = from_dir->weak_from_this();
  change.from_name = from;
  Apply(change, &current_, &from_dir->current_);
  AddPending(std::move(change));
}

void MemDir::AddPending(Change change) {
  change.number = ++change_count_;
  pending_.push_back(std::move(change));
}

void MemDir::EndSync(uint64_t begun) {
  for (Change& change : std::exchange(pending_, {})) {
    if (change.number <= begun) {
      MakeDurable(change);
    } else {
      pending_.push_back(std::move(change));
    }
  }
}

void MemDir::MakeDurable(const Change& change) {
  const std::shared_ptr<MemDir> from = change.from_dir.lock();
  if (from != nullptr && from.get() != this) {
    // The move makes earlier changes of the file durable too; otherwise a later sync of the other
    // directory would restore the old name.
    std::vector<Change> rest;
    for (Change& earlier : std::exchange(from->pending_, {})) {
      if (earlier.node.id() == change.node.id()) {
        from->MakeDurable(earlier);
      } else {
        rest.push_back(std::move(earlier));
      }
    }
    from->pending_ = std::move(rest);
  }
  Apply(change, &durable_, from != nullptr ? &from->durable_ : nullptr);
}

void MemDir::Apply(const Change& change, Entries* entries, Entries* from_entries) {
  if (change.erased) {
    EraseIfSame(change.name, change.node.id(), entries);
    return;
  }
  if (from_entries != nullptr) EraseIfSame(change.from_name, change.node.id(), from_entries);
  (*entries)[change.name] = change.node;
}

void MemDir::EraseIfSame(const std::string& name, const void* id, Entries* entries) {
  const auto found = entries->find(name);
  if (found != entries->end() && found->second.id() == id) entries->erase(found);
}

// Decides which parts of a tree survive, then builds the result.
class MemCrash {
 public:
  explicit MemCrash(Random* random)
      : random_(random), dir_loss_(PickLoss()), file_loss_(PickLoss()) {}

  std::shared_ptr<MemDir> Crash(const MemDir& root) {
    Discover(root);
    for (const MemDir* dir : dirs_) DecideChanges(*dir);
    return Build(root);
  }

 private:
  using Loss = MemInode::Loss;

  // With many files, independent draws would almost never give "all lost" or "nothing lost".
  Loss PickLoss() {
    switch (random_->Uniform(4)) {
      case 0:
        return Loss::kAll;
      case 1:
        return Loss::kNothing;
      default:
        return Loss::kRandom;
    }
  }

  // Finds every directory that may survive, in an order that depends only on names.
  void Discover(const MemDir& dir) {
    if (!entries_.emplace(&dir, dir.durable_).second) return;
    dirs_.push_back(&dir);
    for (const auto& [name, node] : dir.durable_) {
      if (node.dir != nullptr) Discover(*node.dir);
    }
    for (const MemDir::Change& change : dir.pending_) {
      if (change.node.dir != nullptr) Discover(*change.node.dir);
    }
  }

  void DecideChanges(const MemDir& dir) {
    if (dir.pending_.empty()) return;
    const Loss loss = dir_loss_;
    const bool in_order = random_->OneIn(2);
    const size_t kept_in_order = random_->Uniform(dir.pending_.size() + 1);
    const KeepRate rate(random_);
    std::set<const void*> lost;
    for (size_t i = 0; i < dir.pending_.size(); ++i) {
      const MemDir::Change& change = dir.pending_[i];
      bool keep = loss == Loss::kNothing;
      if (loss == Loss::kRandom) keep = in_order ? i < kept_in_order : rate.Keep(random_);
      // Compared, not ordered: addresses must not affect the result.
      if (!keep || lost.contains(change.node.id())) {
        lost.insert(change.node.id());
        continue;
      }
      const auto from = change.from_dir.lock();
      const auto from_entries = entries_.find(from.get());
      MemDir::Apply(change, &entries_[&dir],
                    from_entries != entries_.end() ? &from_entries->second : nullptr);
    }
  }

  std::shared_ptr<MemDir> Build(const MemDir& dir) {
    auto clone = std::make_shared<MemDir>();
    for (const auto& [name, node] : entries_[&dir]) {
      MemNode copy;
      if (node.dir != nullptr) {
        copy.dir = Build(*node.dir);
      } else {
        std::shared_ptr<MemInode>& inode = inodes_[node.file.get()];
        if (inode == nullptr) {
          inode = MemInode::Durable(node.file->AfterPowerCut(file_loss_, random_));
        }
        copy.file = inode;
      }
      clone->current_[name] = copy;
    }
    clone->durable_ = clone->current_;
    return clone;
  }

  Random* const random_;
  const Loss dir_loss_;
  const Loss file_loss_;
  std::vector<const MemDir*> dirs_;
  std::map<const MemDir*, MemDir::Entries> entries_;
  std::map<const MemInode*, std::shared_ptr<MemInode>> inodes_;  // Keeps hard links together.
};

std::shared_ptr<MemDir> MemDir::AfterPowerCut(Random* random) const {
  return MemCrash(random).Crash(*this);
}

std::shared_ptr<MemDir> MemDir::Copy() const {
  std::map<const MemInode*, std::shared_ptr<MemInode>> inodes;
  const auto copy_dir = [&inodes](const MemDir& dir, const auto& self) -> std::shared_ptr<MemDir> {
    auto clone = std::make_shared<MemDir>();
    for (const auto& [name, node] : dir.current_) {
      MemNode copy;
      if (node.dir != nullptr) {
        copy.dir = self(*node.dir, self);
      } else {
        std::shared_ptr<MemInode>& inode = inodes[node.file.get()];
        if (inode == nullptr) inode = MemInode::Durable(node.file->current());
        copy.file = inode;
      }
      clone->current_[name] = copy;
    }
    clone->durable_ = clone->current_;
    return clone;
  };
  return copy_dir(*this, copy_dir);
}

}  // namespace tidesdb
