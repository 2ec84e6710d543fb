#include "wal/wal_mark.h"

#include <array>
#include <utility>

#include "base/coding.h"
#include "base/hash.h"
#include "io/file_util.h"

namespace tidesdb {
namespace {

constexpr uint64_t kMagic = 0x434e595342445474;  // "tTDBSYNC"
constexpr uint32_t kVersion = 1;
constexpr size_t kSlots = 2;
constexpr size_t kSlotBytes = 512;    // One sector each: a torn write harms only one.
constexpr size_t kCheckedBytes = 20;  // magic 8, version 4, segment 4, offset / 8 4
constexpr size_t kMarkBytes = kCheckedBytes + 8;

struct Slots {
  std::array<WalPosition, kSlots> places;
  bool newer_version = false;

  size_t newest() const { return places[1] > places[0] ? 1 : 0; }
};

std::string Encode(WalPosition place) {
  std::string mark;
  PutFixed64(&mark, kMagic);
  PutFixed32(&mark, kVersion);
  PutFixed32(&mark, place.segment);
  PutFixed32(&mark, place.place);
  PutFixed64(&mark, Checksum64(mark));
  return mark;
}

Result<Slots> ReadSlots(FileSystem* fs, const std::string& path) {
  TIDESDB_ASSIGN(const std::string bytes, ReadWholeFile(*fs, path));
  Slots slots;
  for (size_t i = 0; i < kSlots; ++i) {
    const size_t at = i * kSlotBytes;
    if (bytes.size() < at + kMarkBytes) break;
    const char* const mark = bytes.data() + at;
    if (DecodeFixed64(mark) != kMagic ||
        DecodeFixed64(mark + kCheckedBytes) != Checksum64(Slice(mark, kCheckedBytes))) {
      continue;
    }
    if (DecodeFixed32(mark + 8) != kVersion) {
      slots.newer_version = true;
      continue;
    }
    slots.places[i] = {DecodeFixed32(mark + 12), DecodeFixed32(mark + 16)};
  }
  return slots;
}

}  // namespace

Result<WalPosition> WalMark::Read(FileSystem* fs, const std::string& dir) {
  const std::string path = SyncedFileName(dir);
  TIDESDB_ASSIGN(const bool exists, fs->Exists(path));
  if (!exists) return WalPosition();
  TIDESDB_ASSIGN(const Slots slots, ReadSlots(fs, path));
  if (slots.newer_version) {
    return Status::NotSupported(path + ": of a newer version; this program knows version " +
                                std::to_string(kVersion));
  }
  return slots.places[slots.newest()];
}

Result<std::unique_ptr<WalMark>> WalMark::Open(FileSystem* fs, const std::string& dir) {
  const std::string path = SyncedFileName(dir);
  TIDESDB_ASSIGN(const bool exists, fs->Exists(path));
  if (exists) {
    TIDESDB_ASSIGN(const Slots slots, ReadSlots(fs, path));
    TIDESDB_ASSIGN(auto file, fs->NewPositionalFile(path, OpenMode::kKeep));
    return std::make_unique<WalMark>(std::move(file), 1 - slots.newest());
  }
  TIDESDB_ASSIGN(auto file, fs->NewPositionalFile(path, OpenMode::kCreate));
  TIDESDB_TRY(file->Preallocate(kSlots * kSlotBytes));
  TIDESDB_TRY(file->Sync());
  TIDESDB_TRY(fs->SyncDir(dir));
  return std::make_unique<WalMark>(std::move(file), size_t{0});
}

Status WalMark::Write(WalPosition place) {
  TIDESDB_TRY(file_->WriteAt(slot_ * kSlotBytes, Encode(place)));
  slot_ = 1 - slot_;
  return Status::Ok();
}

}  // namespace tidesdb
