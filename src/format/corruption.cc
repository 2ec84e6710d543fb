#include "format/corruption.h"

#include <cinttypes>
#include <cstdio>

namespace tidesdb {

Status CorruptionAt(Slice path, uint64_t offset, Slice what) {
  std::string message(path);
  message += " at offset " + std::to_string(offset) + ": ";
  message += what;
  return Status::Corruption(std::move(message));
}

Status CorruptionAt(Slice path, uint64_t offset, Slice what, uint64_t wanted, uint64_t got) {
  std::string text(what);
  text += ": wanted " + std::to_string(wanted) + ", got " + std::to_string(got);
  return CorruptionAt(path, offset, text);
}

Status CorruptionAtHex(Slice path, uint64_t offset, Slice what, uint64_t wanted, uint64_t got) {
  char numbers[64];
  std::snprintf(numbers, sizeof(numbers), ": wanted %016" PRIx64 ", got %016" PRIx64, wanted, got);
  std::string text(what);
  text += numbers;
  return CorruptionAt(path, offset, text);
}

}  // namespace tidesdb
