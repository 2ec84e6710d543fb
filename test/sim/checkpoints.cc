#include "sim/checkpoints.h"

#include <memory>

#include "io/file_util.h"

namespace tidesdb::simtest {
namespace {

// Reads a copy. `last`: its newest commit. Returns the fault, or nothing.
std::string Read(const Options& options, const std::string& directory, int families,
                 Contents* found, uint64_t* last) {
  auto opened = Db::Open(options, directory);
  if (!opened.ok()) return "open: " + opened.status().ToString();
  Db* const db = opened->get();
  *last = db->GetStats().last_sequence;
  {
    auto txn = db->Begin({});
    for (int f = 0; f < families; ++f) {
      ColumnFamily* const family = db->FindFamily(Slice("family" + std::to_string(f)));
      if (family == nullptr) continue;
      auto it = txn->NewIterator(family, {});
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        (*found)[{f, std::string(it->key())}] = std::string(it->value());
      }
      if (!it->status().ok()) return "scan: " + it->status().ToString();
    }
  }
  const Status closed = db->Close();
  return closed.ok() ? "" : "close: " + closed.ToString();
}

}  // namespace

Status Checkpoints::Make(Db* db, Random* random) {
  const size_t place = copies_.size();
  copies_.push_back({"/copy" + std::to_string(next_++), std::nullopt});
  const auto files = random->OneIn(4) ? CheckpointFiles::kCopy : CheckpointFiles::kLink;
  const std::string directory = copies_[place].directory;
  const Result<uint64_t> made = db->Checkpoint(directory, files);
  if (!made.ok()) return made.status();
  copies_[place].sequence = *made;
  ++made_total_;
  return Status::Ok();
}

std::string Checkpoints::CheckAll(MemFs* disk, const Options& options, int families,
                                  const History& history) {
  std::vector<Copy> copies;
  copies.swap(copies_);
  for (const Copy& copy : copies) {
    const std::string which = "checkpoint " + copy.directory + ": ";
    const Result<bool> exists = disk->Exists(copy.directory);
    if (!exists.ok()) return which + exists.status().ToString();
    if (!*exists && copy.sequence.has_value()) return which + "is gone";
    if (*exists) {
      Contents found;
      uint64_t last = 0;
      std::string wrong = Read(options, copy.directory, families, &found, &last);
      if (!wrong.empty()) return which + wrong;
      if (copy.sequence.has_value()) {
        if (last != *copy.sequence) return which + "ends at sequence " + std::to_string(last);
        const Contents wanted = history.ContentsAt(last);
        if (wanted != found) return which + Difference(wanted, found);
      }
    }
    for (const char* end : {"", ".incomplete"}) {
      const Status removed = RemoveTree(*disk, copy.directory + end);
      if (!removed.ok()) return which + removed.ToString();
    }
  }
  return "";
}

}  // namespace tidesdb::simtest
