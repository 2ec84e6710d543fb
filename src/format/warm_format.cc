#include "format/warm_format.h"

#include "base/coding.h"
#include "base/hash.h"
#include "format/corruption.h"

namespace tidesdb {
namespace {

constexpr uint64_t kMagic = 0x4d52415742445474;  // "tTDBWARM"
constexpr size_t kHeaderBytes = 8 + 4;
constexpr size_t kChecksumBytes = 8;

// An ascending number as its distance from the previous one, which is 0 at first.
bool GetStep(Slice* in, uint64_t* number) {
  uint64_t step = 0;
  if (!GetVarint64(in, &step) || step > UINT64_MAX - *number) return false;
  *number += step;
  return true;
}

bool GetFile(Slice* in, uint64_t* number, WarmFile* file) {
  uint64_t count = 0;
  if (!GetStep(in, number) || !GetVarint64(in, &count) || count > in->size()) return false;
  file->number = *number;
  file->offsets.reserve(static_cast<size_t>(count));
  uint64_t offset = 0;
  for (; count > 0; --count) {
    if (!GetStep(in, &offset)) return false;
    file->offsets.push_back(offset);
  }
  return true;
}

}  // namespace

std::string EncodeWarmList(const std::vector<WarmFile>& files) {
  std::string bytes;
  PutFixed64(&bytes, kMagic);
  PutFixed32(&bytes, kWarmVersion);
  uint64_t number = 0;
  for (const WarmFile& file : files) {
    PutVarint64(&bytes, file.number - number);
    number = file.number;
    PutVarint64(&bytes, file.offsets.size());
    uint64_t offset = 0;
    for (const uint64_t next : file.offsets) {
      PutVarint64(&bytes, next - offset);
      offset = next;
    }
  }
  PutFixed64(&bytes, Checksum64(bytes));
  return bytes;
}

Result<std::vector<WarmFile>> DecodeWarmList(Slice bytes, Slice path) {
  if (bytes.size() < kHeaderBytes + kChecksumBytes) {
    return CorruptionAt(path, 0, "the list of cached blocks is cut off: bytes",
                        kHeaderBytes + kChecksumBytes, bytes.size());
  }
  const size_t checked = bytes.size() - kChecksumBytes;
  const uint64_t checksum = DecodeFixed64(bytes.data() + checked);
  if (const uint64_t got = Checksum64(bytes.substr(0, checked)); got != checksum) {
    return CorruptionAtHex(path, checked, "checksum of the list of cached blocks", checksum, got);
  }
  if (const uint64_t magic = DecodeFixed64(bytes.data()); magic != kMagic) {
    return CorruptionAtHex(path, 0, "no list of cached blocks", kMagic, magic);
  }
  if (const uint32_t version = DecodeFixed32(bytes.data() + 8); version > kWarmVersion) {
    return Status::NotSupported(std::string(path) + ": format version " + std::to_string(version) +
                                " is newer than this program's " + std::to_string(kWarmVersion));
  }
  Slice in = bytes.substr(kHeaderBytes, checked - kHeaderBytes);
  std::vector<WarmFile> files;
  for (uint64_t number = 0; !in.empty();) {
    const uint64_t at = checked - in.size();
    if (!GetFile(&in, &number, &files.emplace_back())) {
      return CorruptionAt(path, at, "the list of cached blocks has no valid entry");
    }
  }
  return files;
}

}  // namespace tidesdb
