// WAL records to bytes and back; pure.
//
// A record is a frame (checksum, length, where it stands, what is known to be synced) and a payload
// (kind, sequence, and what the kind says).
// Format: docs/format/wal.md
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "format/table_properties.h"
#include "tidesdb/result.h"
#include "tidesdb/slice.h"

namespace tidesdb {

constexpr uint8_t kWalVersion = 1;
constexpr size_t kWalAlignment = 8;  // Records start at multiples of it.
constexpr size_t kWalFrameBytes = 32;
constexpr size_t kWalPayloadBytesMax = UINT32_MAX - 2 * kWalFrameBytes;

// A place in the log, in log order. Segment 0 is before the log.
struct WalPosition {
  uint32_t segment = 0;
  uint32_t place = 0;  // The offset in the file, divided by kWalAlignment.

  static WalPosition At(uint32_t segment, uint64_t offset) {
    return {segment, static_cast<uint32_t>(offset / kWalAlignment)};
  }
  uint64_t offset() const { return uint64_t{place} * kWalAlignment; }
  friend auto operator<=>(const WalPosition&, const WalPosition&) = default;
};

constexpr uint64_t kWalSegmentBytesMax = uint64_t{UINT32_MAX} * kWalAlignment;

// Stored on disk; never renumber.
enum class WalKind : uint8_t {
  kSegmentStart = 1,  // The first record of each segment: what it follows.
  kSyncMark = 2,      // Nothing but the frame's synced position.
  kBatch = 3,         // The operations of one transaction.
  kIngest = 4,        // The table files of one spilled transaction.
  kPrepare = 5,       // A prepared transaction, whole; kBatch or kIngest is inside.
  kCommit = 6,        // The end of a prepared transaction; its sequence.
  kRollback = 7,      // Its other end.
};

// --- Frames ---

struct WalFrame {
  uint32_t payload_bytes = 0;
  uint8_t version = kWalVersion;
  WalPosition position;  // Of the frame itself: bytes of a recycled file, or in a value, are not
                         // taken for a record.
  WalPosition synced;    // Everything before it was durable when the record was written.
};

// Bytes of a record in the file, padding included.
constexpr uint64_t WalRecordBytes(uint64_t payload_bytes) {
  return (kWalFrameBytes + payload_bytes + kWalAlignment - 1) / kWalAlignment * kWalAlignment;
}

// Writes kWalFrameBytes to dst. REQUIRES: frame.payload_bytes == payload.size().
void EncodeWalFrame(const WalFrame& frame, Slice payload, char* dst);

// Reads kWalFrameBytes from src. False when they are no frame for this position, whatever their
// checksum says.
[[nodiscard]] bool ParseWalFrame(const char* src, WalPosition position, WalFrame* frame);

// Whether the frame at src and its payload are as they were written.
[[nodiscard]] bool VerifyWalFrame(const char* src, Slice payload);

// --- Payloads: a byte for the kind, the sequence (fixed64), then what the kind says ---

constexpr size_t kWalPrefixBytes = 9;

// REQUIRES: payload.size() >= kWalPrefixBytes.
WalKind WalPayloadKind(Slice payload);
SequenceNumber WalPayloadSequence(Slice payload);
// Whether records of this kind are commits: their sequences ascend along the log. Prepares and
// rollbacks have 0.
constexpr bool IsWalCommit(WalKind kind) {
  return kind == WalKind::kBatch || kind == WalKind::kIngest || kind == WalKind::kCommit;
}
// The sequence is known only at the commit: sets it in a finished payload of kind kBatch or
// kIngest.
void SetWalPayloadSequence(char* payload, SequenceNumber sequence);

// The decoders below return Corruption with a message that starts with `where`, "000012.wal at
// offset 4096".

constexpr size_t kWalSegmentStartBytes = kWalPrefixBytes + 16;

struct WalSegmentStart {
  SequenceNumber sequence = 0;  // The last one before this segment.
  // What this segment follows: the log ends there in its predecessor, whatever bytes come after.
  // Segment 0: nothing.
  WalPosition previous_end;

  void EncodeTo(std::string* payload) const;  // Appends.
  static Result<WalSegmentStart> Decode(Slice payload, Slice where);
};

void EncodeWalSyncMark(SequenceNumber last_sequence, std::string* payload);  // Appends.

struct WalOperation {
  FamilyId family = 0;
  ValueType type = ValueType::kDelete;
  Slice key;
  Slice value;  // Empty for tombstones.
};

// Writes a kBatch payload straight into the caller's buffer.
class WalBatchEncoder {
 public:
  // Appends to the buffer, which must outlive the encoder; what it holds before Begin() is kept.
  explicit WalBatchEncoder(std::string* buffer) : buffer_(buffer) {}

  void Begin();
  // REQUIRES: keys and values below 4 GiB. Shorter when operations of one family follow each other.
  void Add(const WalOperation& operation);
  void Put(FamilyId family, Slice key, Slice value) { Add({family, ValueType::kPut, key, value}); }
  void Delete(FamilyId family, Slice key) { Add({family, ValueType::kDelete, key, Slice()}); }
  void SingleDelete(FamilyId family, Slice key) {
    Add({family, ValueType::kSingleDelete, key, Slice()});
  }
  // Bytes since Begin(). A payload over kWalPayloadBytesMax is refused when it is appended to the
  // WAL.
  size_t bytes() const { return buffer_->size() - start_; }
  uint32_t operations() const { return operations_; }
  // The payload, with sequence 0. Valid until the buffer changes.
  Slice Finish();

 private:
  std::string* const buffer_;
  size_t start_ = 0;
  uint32_t operations_ = 0;
  FamilyId family_ = 0;
};

// Walks through a kBatch payload without copying.
class WalBatchDecoder {
 public:
  // Both must outlive the decoder.
  WalBatchDecoder(Slice payload, Slice where);

  // False at the end, or at bytes that make no sense: status() says which. The slices view the
  // payload.
  [[nodiscard]] bool Next(WalOperation* operation);
  SequenceNumber sequence() const { return sequence_; }
  uint32_t operations() const { return operations_; }  // In the whole batch.
  const Status& status() const { return status_; }

 private:
  bool Fail(const char* what);

  Slice rest_;
  Slice where_;
  SequenceNumber sequence_ = 0;
  uint32_t operations_ = 0;
  uint32_t operations_left_ = 0;
  FamilyId family_ = 0;
  Status status_;
};

// A table file of a spilled transaction.
struct WalIngestFile {
  uint64_t number = 0;
  uint64_t bytes = 0;
  TableProperties properties;  // The entries' sequences are those of the record.
};

struct WalIngest {
  SequenceNumber sequence = 0;
  std::vector<WalIngestFile> files;

  void EncodeTo(std::string* payload) const;  // Appends.
  static Result<WalIngest> Decode(Slice payload, Slice where);
};

// --- Prepared transactions ---

struct WalPrepare {
  uint64_t id = 0;  // What its end names; used once in a log.
  Slice name;       // The caller's, any bytes.
  Slice writes;     // A payload of kind kBatch or kIngest, with sequence 0.

  // The part before `writes`, which the caller appends.
  static void EncodeHeader(uint64_t id, Slice name, std::string* payload);
  // The slices view the payload.
  static Result<WalPrepare> Decode(Slice payload, Slice where);
};

constexpr size_t kWalOutcomeBytes = kWalPrefixBytes + 8;

// How a prepared transaction ended.
struct WalOutcome {
  SequenceNumber sequence = 0;  // Of a commit.
  uint64_t id = 0;

  void EncodeTo(WalKind kind, std::string* payload) const;  // Appends.
  static Result<WalOutcome> Decode(Slice payload, Slice where);
};

}  // namespace tidesdb
