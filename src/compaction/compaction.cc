#include "compaction/compaction.h"

namespace tidesdb {

const char* CompactionKindName(CompactionKind kind) {
  switch (kind) {
    case CompactionKind::kMerge:
      return "merge";
    case CompactionKind::kMove:
      return "move";
    case CompactionKind::kDrop:
      return "drop";
  }
  return "unknown";
}

const char* CompactionReasonName(CompactionReason reason) {
  switch (reason) {
    case CompactionReason::kLevel0Runs:
      return "level 0 runs";
    case CompactionReason::kLevelSize:
      return "level size";
    case CompactionReason::kDeadEntries:
      return "dead entries";
    case CompactionReason::kManual:
      return "manual";
    case CompactionReason::kScans:
      return "scans";
  }
  return "unknown";
}

uint64_t Compaction::InputBytes() const {
  uint64_t bytes = 0;
  for (const Input& input : inputs) bytes += TotalBytes(input.files);
  return bytes;
}

size_t Compaction::InputFiles() const {
  size_t count = 0;
  for (const Input& input : inputs) count += input.files.size();
  return count;
}

std::string Compaction::Describe() const {
  std::string out;
  for (const Input& input : inputs) {
    if (!out.empty()) out += " + ";
    out += "L" + std::to_string(input.level) + "[";
    for (size_t i = 0; i < input.files.size(); ++i) {
      if (i > 0) out += " ";
      out += std::to_string(input.files[i]->number());
    }
    out += "]";
  }
  if (kind != CompactionKind::kDrop) out += " -> L" + std::to_string(output_level);
  return out + " " + CompactionKindName(kind) + " (" + CompactionReasonName(reason) + ")";
}

}  // namespace tidesdb
