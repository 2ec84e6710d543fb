#include "format/wal_format.h"

#include "base/check.h"
#include "base/coding.h"
#include "base/hash.h"

namespace tidesdb {
namespace {

constexpr Slice kMagic = "TIDESWAL";
constexpr size_t kChecksumBytes = 8;

// Covers the frame's fields and the payload, which need not be adjacent in memory.
uint64_t FrameChecksum(const char* frame, Slice payload) {
  char bytes[kWalFrameBytes];
  constexpr size_t kFieldBytes = kWalFrameBytes - kChecksumBytes;
  std::memcpy(bytes, frame + kChecksumBytes, kFieldBytes);
  EncodeFixed64(bytes + kFieldBytes, Checksum64(payload));
  return Checksum64(Slice(bytes, sizeof(bytes)));
}

void PutPrefix(WalKind kind, SequenceNumber sequence, std::string* payload) {
  payload->push_back(static_cast<char>(kind));
  PutFixed64(payload, sequence);
}

Status Malformed(Slice where, const char* what) {
  return Status::Corruption(std::string(where) + ": WAL record with a valid checksum, but " + what);
}

// Takes the prefix off.
Status GetPrefix(Slice* payload, WalKind kind, Slice where, SequenceNumber* sequence) {
  uint8_t byte = 0;
  if (!GetByte(payload, &byte) || !GetFixed64(payload, sequence)) {
    return Malformed(where, "its payload is cut short");
  }
  if (byte != static_cast<uint8_t>(kind)) return Malformed(where, "its kind is different");
  if (*sequence > kSequenceMax) return Malformed(where, "its sequence is out of range");
  return Status::Ok();
}

}  // namespace

// --- Frames ---

void EncodeWalFrame(const WalFrame& frame, Slice payload, char* dst) {
  DCHECK(frame.payload_bytes == payload.size());
  EncodeFixed32(dst + 8, frame.payload_bytes);
  EncodeFixed32(dst + 12, frame.version);
  EncodeFixed32(dst + 16, frame.position.segment);
  EncodeFixed32(dst + 20, frame.position.place);
  EncodeFixed32(dst + 24, frame.synced.segment);
  EncodeFixed32(dst + 28, frame.synced.place);
  EncodeFixed64(dst, FrameChecksum(dst, payload));
}

bool ParseWalFrame(const char* src, WalPosition position, WalFrame* frame) {
  frame->payload_bytes = DecodeFixed32(src + 8);
  const uint32_t version = DecodeFixed32(src + 12);
  frame->version = static_cast<uint8_t>(version);
  frame->position = {DecodeFixed32(src + 16), DecodeFixed32(src + 20)};
  frame->synced = {DecodeFixed32(src + 24), DecodeFixed32(src + 28)};
  return frame->position == position && version <= UINT8_MAX &&
         frame->payload_bytes >= kWalPrefixBytes && frame->payload_bytes <= kWalPayloadBytesMax;
}

bool VerifyWalFrame(const char* src, Slice payload) {
  return DecodeFixed64(src) == FrameChecksum(src, payload);
}

// --- Payloads ---

WalKind WalPayloadKind(Slice payload) {
  DCHECK(payload.size() >= kWalPrefixBytes);
  return static_cast<WalKind>(payload[0]);
}

SequenceNumber WalPayloadSequence(Slice payload) {
  DCHECK(payload.size() >= kWalPrefixBytes);
  return DecodeFixed64(payload.data() + 1);
}

void SetWalPayloadSequence(char* payload, SequenceNumber sequence) {
  EncodeFixed64(payload + 1, sequence);
}

void WalSegmentStart::EncodeTo(std::string* payload) const {
  PutPrefix(WalKind::kSegmentStart, sequence, payload);
  payload->append(kMagic);
  PutFixed32(payload, previous_end.segment);
  PutFixed32(payload, previous_end.place);
}

Result<WalSegmentStart> WalSegmentStart::Decode(Slice payload, Slice where) {
  WalSegmentStart start;
  TIDESDB_TRY(GetPrefix(&payload, WalKind::kSegmentStart, where, &start.sequence));
  Slice magic;
  if (!GetBytes(&payload, kMagic.size(), &magic) || magic != kMagic) {
    return Malformed(where, "its magic is missing");
  }
  if (!GetFixed32(&payload, &start.previous_end.segment) ||
      !GetFixed32(&payload, &start.previous_end.place) || !payload.empty()) {
    return Malformed(where, "its length is wrong");
  }
  return start;
}

void EncodeWalSyncMark(SequenceNumber last_sequence, std::string* payload) {
  PutPrefix(WalKind::kSyncMark, last_sequence, payload);
}

// --- Batches ---

namespace {

// The byte before an operation: its type, and whether the family follows or is that of the previous
// operation.
constexpr uint8_t kTypeMask = 0x03;
constexpr uint8_t kFamilyFollows = 0x04;

}  // namespace

void WalBatchEncoder::Begin() {
  start_ = buffer_->size();
  operations_ = 0;
  PutPrefix(WalKind::kBatch, 0, buffer_);
  PutFixed32(buffer_, 0);
}

void WalBatchEncoder::Add(const WalOperation& operation) {
  DCHECK(!IsTombstone(operation.type) || operation.value.empty());
  uint8_t tag = static_cast<uint8_t>(operation.type);
  const bool family_follows = operations_ == 0 || operation.family != family_;
  if (family_follows) tag |= kFamilyFollows;
  buffer_->push_back(static_cast<char>(tag));
  if (family_follows) PutVarint32(buffer_, operation.family);
  PutLengthPrefixed(buffer_, operation.key);
  if (!IsTombstone(operation.type)) PutLengthPrefixed(buffer_, operation.value);
  family_ = operation.family;
  operations_++;
}

Slice WalBatchEncoder::Finish() {
  EncodeFixed32(buffer_->data() + start_ + kWalPrefixBytes, operations_);
  return Slice(*buffer_).substr(start_);
}

WalBatchDecoder::WalBatchDecoder(Slice payload, Slice where) : rest_(payload), where_(where) {
  status_ = GetPrefix(&rest_, WalKind::kBatch, where, &sequence_);
  if (!status_.ok()) return;
  if (!GetFixed32(&rest_, &operations_)) status_ = Malformed(where, "its payload is cut short");
  operations_left_ = operations_;
}

bool WalBatchDecoder::Fail(const char* what) {
  status_ = Malformed(where_, what);
  return false;
}

bool WalBatchDecoder::Next(WalOperation* operation) {
  if (!status_.ok()) return false;
  if (operations_left_ == 0) {
    return rest_.empty() ? false : Fail("bytes follow its last operation");
  }
  uint8_t tag = 0;
  if (!GetByte(&rest_, &tag)) return Fail("operations are missing");
  if ((tag & ~(kTypeMask | kFamilyFollows)) != 0 ||
      (tag & kTypeMask) > static_cast<uint8_t>(ValueType::kSingleDelete)) {
    return Fail("an operation's type is unknown");
  }
  if ((tag & kFamilyFollows) != 0) {
    if (!GetVarint32(&rest_, &family_)) return Fail("a family is cut short");
  } else if (operations_left_ == operations_) {
    return Fail("its first operation has no family");
  }
  operation->family = family_;
  operation->type = static_cast<ValueType>(tag & kTypeMask);
  operation->value = Slice();
  if (!GetLengthPrefixed(&rest_, &operation->key)) return Fail("a key is cut short");
  if (!IsTombstone(operation->type) && !GetLengthPrefixed(&rest_, &operation->value)) {
    return Fail("a value is cut short");
  }
  operations_left_--;
  return true;
}

// --- Ingests ---

void WalIngest::EncodeTo(std::string* payload) const {
  PutPrefix(WalKind::kIngest, sequence, payload);
  PutVarint64(payload, files.size());
  std::string one;
  for (const WalIngestFile& file : files) {
    const TableProperties& p = file.properties;
    one.clear();
    PutVarint64(&one, file.number);
    PutVarint64(&one, file.bytes);
    PutVarint32(&one, p.family);
    PutVarint64(&one, p.entries);
    PutVarint64(&one, p.keys);
    PutVarint64(&one, p.tombstones);
    PutVarint64(&one, p.raw_key_bytes);
    PutVarint64(&one, p.raw_value_bytes);
    PutVarint64(&one, p.data_blocks);
    PutVarint64(&one, p.sequence_min);
    PutVarint64(&one, p.sequence_max);
    PutVarint64(&one, p.tombstone_sequence_min);
    PutLengthPrefixed(&one, p.key_min);
    PutLengthPrefixed(&one, p.key_max);
    PutLengthPrefixed(payload, one);
  }
}

namespace {

bool GetIngestFile(Slice in, WalIngestFile* file) {
  TableProperties& p = file->properties;
  Slice key_min;
  Slice key_max;
  if (!GetVarint64(&in, &file->number) || !GetVarint64(&in, &file->bytes) ||
      !GetVarint32(&in, &p.family) || !GetVarint64(&in, &p.entries) || !GetVarint64(&in, &p.keys) ||
      !GetVarint64(&in, &p.tombstones) || !GetVarint64(&in, &p.raw_key_bytes) ||
      !GetVarint64(&in, &p.raw_value_bytes) || !GetVarint64(&in, &p.data_blocks) ||
      !GetVarint64(&in, &p.sequence_min) || !GetVarint64(&in, &p.sequence_max) ||
      !GetVarint64(&in, &p.tombstone_sequence_min) || !GetLengthPrefixed(&in, &key_min) ||
      !GetLengthPrefixed(&in, &key_max)) {
    return false;
  }
  p.key_min = key_min;
  p.key_max = key_max;
  return in.empty();
}

}  // namespace

Result<WalIngest> WalIngest::Decode(Slice payload, Slice where) {
  WalIngest ingest;
  TIDESDB_TRY(GetPrefix(&payload, WalKind::kIngest, where, &ingest.sequence));
  uint64_t count = 0;
  if (!GetVarint64(&payload, &count)) return Malformed(where, "its payload is cut short");
  // Grows with the data that exists, because the count may be wrong.
  for (uint64_t i = 0; i < count; i++) {
    Slice one;
    WalIngestFile file;
    if (!GetLengthPrefixed(&payload, &one) || !GetIngestFile(one, &file)) {
      return Malformed(where, "a table file's description makes no sense");
    }
    ingest.files.push_back(std::move(file));
  }
  if (!payload.empty()) return Malformed(where, "bytes follow its last table file");
  return ingest;
}

// --- Prepared transactions ---

void WalPrepare::EncodeHeader(uint64_t id, Slice name, std::string* payload) {
  PutPrefix(WalKind::kPrepare, 0, payload);
  PutFixed64(payload, id);
  PutLengthPrefixed(payload, name);
}

Result<WalPrepare> WalPrepare::Decode(Slice payload, Slice where) {
  WalPrepare prepare;
  SequenceNumber sequence = 0;
  TIDESDB_TRY(GetPrefix(&payload, WalKind::kPrepare, where, &sequence));
  if (!GetFixed64(&payload, &prepare.id) || !GetLengthPrefixed(&payload, &prepare.name) ||
      payload.size() < kWalPrefixBytes) {
    return Malformed(where, "its payload is cut short");
  }
  prepare.writes = payload;
  const WalKind kind = WalPayloadKind(payload);
  if (kind != WalKind::kBatch && kind != WalKind::kIngest) {
    return Malformed(where, "it prepares neither a batch nor files");
  }
  return prepare;
}

void WalOutcome::EncodeTo(WalKind kind, std::string* payload) const {
  DCHECK(kind == WalKind::kCommit || kind == WalKind::kRollback);
  PutPrefix(kind, sequence, payload);
  PutFixed64(payload, id);
}

Result<WalOutcome> WalOutcome::Decode(Slice payload, Slice where) {
  if (payload.size() != kWalOutcomeBytes) return Malformed(where, "its length is wrong");
  WalOutcome outcome;
  TIDESDB_TRY(GetPrefix(&payload, WalPayloadKind(payload), where, &outcome.sequence));
  if (!GetFixed64(&payload, &outcome.id)) return Malformed(where, "its payload is cut short");
  return outcome;
}

}  // namespace tidesdb
