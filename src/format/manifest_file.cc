// The file around a manifest's records: header, record frames, seals; and CURRENT.
#include "base/coding.h"
#include "base/hash.h"
#include "format/manifest_format.h"

namespace tidesdb {
namespace {

constexpr uint64_t kHeaderMagic = 0x54534e4d42445474;  // Stored on disk: "tTDBMNST".
constexpr uint32_t kRecordMarker = 0x43455254;         // "TREC"
constexpr uint32_t kSealMarker = 0x4c414553;           // "SEAL"

std::string Place(std::string_view path, uint64_t offset) {
  return std::string(path) + " at offset " + std::to_string(offset) + ": ";
}

// Includes the offset, so that no bytes inside of a record can pass for a record.
uint64_t RecordChecksum(uint64_t record_offset, Slice payload) {
  char bytes[24];
  EncodeFixed32(bytes, kRecordMarker);
  EncodeFixed32(bytes + 4, static_cast<uint32_t>(payload.size()));
  EncodeFixed64(bytes + 8, record_offset);
  EncodeFixed64(bytes + 16, Checksum64(payload));
  return Checksum64(Slice(bytes, sizeof(bytes)));
}

uint64_t SealChecksum(uint64_t record_offset) {
  char bytes[16];
  EncodeFixed64(bytes, kSealMarker);
  EncodeFixed64(bytes + 8, record_offset);
  return Checksum64(Slice(bytes, sizeof(bytes)));
}

// The payload of a complete record at `offset`.
std::optional<Slice> RecordAt(Slice file, uint64_t offset) {
  if (file.size() - offset < kManifestRecordHeaderBytes) return std::nullopt;
  const char* header = file.data() + offset;
  const uint64_t length = DecodeFixed32(header + 4);
  if (DecodeFixed32(header) != kRecordMarker || length == 0 ||
      length > file.size() - offset - kManifestRecordHeaderBytes) {
    return std::nullopt;
  }
  const Slice payload = file.substr(offset + kManifestRecordHeaderBytes, length);
  if (DecodeFixed64(header + 8) != RecordChecksum(offset, payload)) return std::nullopt;
  return payload;
}

bool IsSealAt(Slice file, uint64_t offset, uint64_t record_offset) {
  if (file.size() - offset < kManifestSealBytes) return false;
  return DecodeFixed32(file.data() + offset) == kSealMarker &&
         DecodeFixed64(file.data() + offset + 8) == SealChecksum(record_offset);
}

// Whether data after a bad record at `record_offset` proves that the record was once complete: its
// seal, or another record.
std::optional<uint64_t> FindProof(Slice file, uint64_t record_offset) {
  for (uint64_t at = record_offset + 1; at + kManifestSealBytes <= file.size(); ++at) {
    if (IsSealAt(file, at, record_offset) || RecordAt(file, at)) return at;
  }
  return std::nullopt;
}

Status CheckHeader(Slice file, std::string_view path) {
  if (file.size() < kManifestHeaderBytes) {
    return Status::Corruption(Place(path, 0) + "the manifest's header needs " +
                              std::to_string(kManifestHeaderBytes) + " bytes, the file has " +
                              std::to_string(file.size()));
  }
  const uint64_t wanted = Checksum64(file.substr(0, 12));
  const uint64_t got = DecodeFixed64(file.data() + 12);
  if (DecodeFixed64(file.data()) != kHeaderMagic || wanted != got) {
    return Status::Corruption(Place(path, 0) + "not a manifest's header (wanted checksum " +
                              std::to_string(wanted) + ", got " + std::to_string(got) + ")");
  }
  const uint32_t version = DecodeFixed32(file.data() + 8);
  if (version > kManifestFormatVersion) {
    return Status::NotSupported(std::string(path) + ": format version " + std::to_string(version) +
                                " is newer than this program's " +
                                std::to_string(kManifestFormatVersion));
  }
  return Status::Ok();
}

}  // namespace

std::string EncodeManifestHeader() {
  std::string out;
  PutFixed64(&out, kHeaderMagic);
  PutFixed32(&out, kManifestFormatVersion);
  PutFixed64(&out, Checksum64(out));
  return out;
}

void AppendManifestRecord(std::string* out, uint64_t record_offset, Slice payload) {
  PutFixed32(out, kRecordMarker);
  PutFixed32(out, static_cast<uint32_t>(payload.size()));
  PutFixed64(out, RecordChecksum(record_offset, payload));
  out->append(payload);
}

void AppendManifestSeal(std::string* out, uint64_t record_offset) {
  PutFixed64(out, kSealMarker);
  PutFixed64(out, SealChecksum(record_offset));
}

Result<ManifestContents> ParseManifest(Slice file, std::string_view path) {
  TIDESDB_TRY(CheckHeader(file, path));
  ManifestContents contents;
  uint64_t offset = kManifestHeaderBytes;
  while (offset < file.size()) {
    const std::optional<Slice> payload = RecordAt(file, offset);
    if (!payload) {
      const std::optional<uint64_t> proof = FindProof(file, offset);
      if (proof) {
        return Status::Corruption(Place(path, offset) + "a synced record is damaged (" +
                                  "the data at offset " + std::to_string(*proof) +
                                  " was written after it)");
      }
      contents.dropped_bytes = file.size() - offset;
      break;
    }
    const uint64_t payload_offset = offset + kManifestRecordHeaderBytes;
    TIDESDB_ASSIGN(VersionEdit edit, DecodeVersionEdit(*payload, path, payload_offset));
    contents.edits.push_back(std::move(edit));
    // The seal's own state does not matter if the record is complete; its place is fixed.
    offset = payload_offset + payload->size() + kManifestSealBytes;
  }
  if (contents.edits.empty()) {
    // The first record is synced before CURRENT names the file: if it is missing, the file was
    // damaged later.
    return Status::Corruption(Place(path, kManifestHeaderBytes) +
                              "the manifest's first record is damaged or missing");
  }
  return contents;
}

std::string EncodeCurrent(uint64_t manifest_number) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string digits = std::to_string(manifest_number);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  std::string out = "MANIFEST-" + digits;
  const uint64_t checksum = Checksum64(out);
  out.push_back(' ');
  for (int shift = 60; shift >= 0; shift -= 4) out.push_back(kHex[(checksum >> shift) & 15]);
  out.push_back('\n');
  return out;
}

Result<uint64_t> ParseCurrent(Slice file, std::string_view path) {
  static constexpr Slice kPrefix = "MANIFEST-";
  uint64_t number = 0;
  if (file.starts_with(kPrefix)) {
    for (size_t i = kPrefix.size(); i < file.size() && i < kPrefix.size() + 19; ++i) {
      if (file[i] < '0' || file[i] > '9') break;
      number = number * 10 + static_cast<uint64_t>(file[i] - '0');
    }
  }
  if (number == 0 || file != EncodeCurrent(number)) {
    return Status::Corruption(Place(path, 0) +
                              "not the name of a manifest with its checksum, but " +
                              std::to_string(file.size()) + " other bytes");
  }
  return number;
}

}  // namespace tidesdb
