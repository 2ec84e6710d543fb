#include "wal/wal_directory.h"

namespace tidesdb {
namespace {

Status ReadStart(WalSegmentReader* reader, WalSegmentInfo* info) {
  WalRecordAt record;
  TIDESDB_ASSIGN(const bool found, reader->ReadAt(0, UINT64_MAX, &record));
  if (!found || WalPayloadKind(record.payload) != WalKind::kSegmentStart) return Status::Ok();
  TIDESDB_ASSIGN(info->start,
                 WalSegmentStart::Decode(record.payload, reader->path() + " at offset 0"));
  info->synced = record.frame.synced;
  info->begun = true;
  return Status::Ok();
}

}  // namespace

Result<WalDirectory> WalDirectory::Read(FileSystem* fs, const std::string& dir) {
  WalDirectory directory(fs, dir);
  TIDESDB_ASSIGN(const std::vector<std::string> names, fs->List(dir));
  for (const std::string& name : names) {
    const ParsedFileName parsed = ParseFileName(name);
    if (parsed.kind != FileKind::kWal || parsed.number == 0 || parsed.number >= UINT32_MAX) {
      continue;
    }
    WalSegmentInfo info;
    info.number = static_cast<uint32_t>(parsed.number);
    TIDESDB_ASSIGN(auto reader, directory.OpenSegment(info.number));
    info.file_bytes = reader->file_bytes();
    TIDESDB_TRY(ReadStart(reader.get(), &info));
    directory.segments_.emplace(info.number, info);
  }
  return directory;
}

const WalSegmentInfo* WalDirectory::Find(uint32_t number) const {
  const auto found = segments_.find(number);
  return found == segments_.end() ? nullptr : &found->second;
}

const WalSegmentInfo* WalDirectory::SuccessorOf(uint32_t number) const {
  for (auto it = segments_.rbegin(); it != segments_.rend() && it->first > number; ++it) {
    if (it->second.begun && it->second.start.previous_end.segment == number) return &it->second;
  }
  return nullptr;
}

Result<std::unique_ptr<WalSegmentReader>> WalDirectory::OpenSegment(uint32_t number) const {
  return WalSegmentReader::Open(fs_, PathOf(number), number);
}

}  // namespace tidesdb
