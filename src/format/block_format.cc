#include "format/block_format.h"

#include <algorithm>

#include "base/hash.h"
#include "format/corruption.h"

namespace tidesdb {

void SealBlock(std::string* payload, BlockKind kind, Compression compression,
               uint64_t file_offset) {
  payload->push_back(static_cast<char>(SealByte(kind, compression)));
  PutFixed64(payload, Checksum64(*payload) + file_offset);
}

Status CheckSeal(Slice stored, BlockKind kind, uint64_t file_offset, Slice path,
                 Compression* compression) {
  if (stored.size() < kBlockSealBytes) {
    return CorruptionAt(path, file_offset, "block is cut off: bytes", kBlockSealBytes,
                        stored.size());
  }
  const Slice covered = stored.substr(0, stored.size() - 8);
  const uint64_t wanted = DecodeFixed64(covered.data() + covered.size());
  const uint64_t got = Checksum64(covered) + file_offset;
  if (wanted != got) {
    return CorruptionAtHex(path, file_offset, "block checksum", wanted, got);
  }
  const auto byte = static_cast<uint8_t>(covered.back());
  if (byte >> 4 != static_cast<uint8_t>(kind)) {
    return CorruptionAt(path, file_offset, "kind of block", static_cast<uint8_t>(kind), byte >> 4);
  }
  if ((byte & 0xf) > static_cast<uint8_t>(Compression::kZstd)) {
    return CorruptionAt(path, file_offset, "compression of block (highest known)",
                        static_cast<uint8_t>(Compression::kZstd), byte & 0xf);
  }
  *compression = static_cast<Compression>(byte & 0xf);
  return Status::Ok();
}

namespace {

// As DecodeTrustedEntry, for any bytes; false if the entry is not within [p, limit).
bool DecodeEntryChecked(const char* p, const char* limit, BlockEntry* entry) {
  p = DecodeVarint32(p, limit, &entry->shared);
  if (p == nullptr) return false;
  p = DecodeVarint32(p, limit, &entry->unshared);
  if (p == nullptr) return false;
  p = DecodeVarint32(p, limit, &entry->value_bytes);
  if (p == nullptr) return false;
  p = DecodeVarint64(p, limit, &entry->tag);
  if (p == nullptr) return false;
  entry->suffix = p;
  return uint64_t{entry->unshared} + entry->value_bytes <= static_cast<uint64_t>(limit - p);
}

// Walks the entries of one block whose trailer is consistent.
class Validator {
 public:
  Validator(Slice contents, uint64_t file_offset, Slice path)
      : view_(contents), file_offset_(file_offset), path_(path) {
    base_ = DecodeFixed64(contents.data() + contents.size() - kBlockTrailerBytes);
  }

  Status Run() {
    const char* p = view_.entries();
    while (p < view_.entries_end()) {
      BlockEntry entry;
      if (!DecodeEntryChecked(p, view_.entries_end(), &entry)) {
        return Fault("entry runs out of its block; its number", view_.entry_count(), entries_);
      }
      const auto position = static_cast<uint64_t>(p - view_.entries());
      if (restarts_ < view_.restart_count() && view_.RestartOffset(restarts_) == position) {
        TIDESDB_TRY(CheckRestart(entry));
        ++restarts_;
      } else if (entries_ == 0 || entry.shared < view_.prefix().size() ||
                 entry.shared > key_bytes_) {
        return Fault("shared key bytes", key_bytes_, entry.shared);
      }
      key_bytes_ = uint64_t{entry.shared} + entry.unshared;
      key_bytes_max_ = std::max(key_bytes_max_, key_bytes_);
      TIDESDB_TRY(CheckTag(entry.tag));
      ++entries_;
      p = entry.end();
    }
    if (entries_ != view_.entry_count()) {
      return Fault("entries in block", view_.entry_count(), entries_);
    }
    if (restarts_ != view_.restart_count()) {
      return Fault("restarts in block", view_.restart_count(), restarts_);
    }
    if (key_bytes_max_ != view_.key_bytes_max()) {
      return Fault("longest key in block", view_.key_bytes_max(), key_bytes_max_);
    }
    return Status::Ok();
  }

 private:
  Status Fault(Slice what, uint64_t wanted, uint64_t got) {
    return CorruptionAt(path_, file_offset_, what, wanted, got);
  }

  Status CheckRestart(const BlockEntry& entry) {
    if (entry.shared != view_.prefix().size()) {
      return Fault("shared key bytes at restart", view_.prefix().size(), entry.shared);
    }
    const uint64_t head = KeyHead(Slice(entry.suffix, entry.unshared));
    if (view_.Head(restarts_) != head) return Fault("key head", head, view_.Head(restarts_));
    return Status::Ok();
  }

  Status CheckTag(uint64_t tag) {
    const Trailer trailer = DecodeTag(base_, tag);
    if ((trailer & 0xff) > static_cast<uint8_t>(ValueType::kSingleDelete)) {
      return Fault("type of entry (highest known)", static_cast<uint8_t>(ValueType::kSingleDelete),
                   trailer & 0xff);
    }
    // DecodeTag would have dropped bits of a sequence outside its range.
    if (EncodeTag(base_, trailer) != tag) return Fault("sequence of entry", kSequenceMax, tag);
    return Status::Ok();
  }

  const BlockView view_;
  const uint64_t file_offset_;
  const Slice path_;
  SequenceNumber base_;
  uint32_t restarts_ = 0;
  uint32_t entries_ = 0;
  uint64_t key_bytes_ = 0;
  uint64_t key_bytes_max_ = 0;
};

}  // namespace

Status ValidateBlock(Slice contents, uint64_t file_offset, Slice path) {
  if (contents.size() < kBlockTrailerBytes) {
    return CorruptionAt(path, file_offset, "block is shorter than its trailer: bytes",
                        kBlockTrailerBytes, contents.size());
  }
  if (contents.size() > UINT32_MAX) {
    return CorruptionAt(path, file_offset, "block is too long: bytes", UINT32_MAX, contents.size());
  }
  const char* trailer = contents.data() + contents.size() - kBlockTrailerBytes;
  const uint64_t restarts = DecodeFixed32(trailer + 12);
  const uint64_t prefix_bytes = DecodeFixed32(trailer + 16);
  const uint64_t buckets = DecodeFixed32(trailer + 20);
  // Each restart has an offset (4) and a head (8).
  const uint64_t search_bytes = restarts * (4 + 8) + prefix_bytes + buckets + kBlockTrailerBytes;
  if (search_bytes > contents.size()) {
    return CorruptionAt(path, file_offset, "block is shorter than its search structures: bytes",
                        search_bytes, contents.size());
  }
  if (DecodeFixed64(trailer) > kSequenceMax) {
    return CorruptionAt(path, file_offset, "sequence base of block", kSequenceMax,
                        DecodeFixed64(trailer));
  }
  return Validator(contents, file_offset, path).Run();
}

}  // namespace tidesdb
