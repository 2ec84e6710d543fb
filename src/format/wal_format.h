// WAL records to bytes and back; pure.
//
// A record is a frame (checksum, length, position, synced position) and a payload (kind, sequence,
// and the fields of the kind).
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
constexpr size_t kWalAlignment = 8;  // Records start at its multiples.
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
  kSegmentStart = 1,  // The first record of each segment: its predecessor.
  kSyncMark = 2,      // Nothing but the frame's synced position.
  kBatch = 3,         // The operations of one transaction.
  kIngest = 4,        // The table files of one spilled transaction.
  kPrepare = 5,       // A whole prepared transaction; contains a kBatch or kIngest.
  kCommit = 6,        // The commit of a prepared transaction; its sequence.
  kRollback = 7,      // The rollback of a prepared transaction.
};

// --- Frames ---

struct WalFrame {
  uint32_t payload_bytes = 0;
  uint8_t version = kWalVersion;
  WalPosition position;  // Its own: rejects bytes of recycled files and of values.
  WalPosition synced;    // Everything before it was durable at the time of writing.
};

// Bytes of a record in the file, padding included.
constexpr uint64_t WalRecordBytes(uint64_t payload_bytes) {
  return (kWalFrameBytes + payload_bytes + kWalAlignment - 1) / kWalAlignment * kWalAlignment;
}

// Writes kWalFrameBytes to dst. REQUIRES: frame.payload_bytes == payload.size().
void EncodeWalFrame(const WalFrame& frame, Slice payload, char* dst);

// Reads kWalFrameBytes from src. False if they are not a frame for this position, whatever their
// checksum.
[[nodiscard]] bool ParseWalFrame(const char* src, WalPosition position, WalFrame* frame);

// Whether the frame at src and its payload are undamaged.
[[nodiscard]] bool VerifyWalFrame(const char* src, Slice payload);

// --- Payloads: a byte for the kind, the sequence (fixed64), then the fields of the kind ---

constexpr size_t kWalPrefixBytes = 9;

// REQUIRES: payload.size() >= kWalPrefixBytes.
WalKind WalPayloadKind(Slice payload);
SequenceNumber WalPayloadSequence(Slice payload);
// Whether records of this kind are commits: their sequences ascend along the log. Prepares and
// rollbacks have 0.
constexpr bool IsWalCommit(WalKind kind) {
  return kind == WalKind::kBatch || kind == WalKind::kIngest || kind == WalKind::kCommit;
}
// Sets the sequence, known only at the commit, in a finished payload of kind kBatch or kIngest.
void SetWalPayloadSequence(char* payload, SequenceNumber sequence);

// The decoders below return Corruption with a message that starts with `where`: "000012.wal at
// offset 4096".

constexpr size_t kWalSegmentStartBytes = kWalPrefixBytes + 16;

struct WalSegmentStart {
  SequenceNumber sequence = 0;  // The last one before this segment.
  // The end of the log in this segment's predecessor, whatever bytes come after it there. Segment
  // 0: no predecessor.
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
  // Appends to the buffer, which must outlive the encoder; bytes from before Begin() stay.
  explicit WalBatchEncoder(std::string* buffer) : buffer_(buffer) {}

  void Begin();
  // REQUIRES: keys and values below 4 GiB. Consecutive operations of one family take less space.
  void Add(const WalOperation& operation);
  void Put(FamilyId family, Slice key, Slice value) { Add({family, ValueType::kPut, key, value}); }
  void Delete(FamilyId family, Slice key) { Add({family, ValueType::kDelete, key, Slice()}); }
  void SingleDelete(FamilyId family, Slice key) {
    Add({family, ValueType::kSingleDelete, key, Slice()});
  }
  // Bytes since Begin(). The WAL refuses payloads over kWalPayloadBytesMax.
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

  // False at the end, or at invalid bytes: status() says which. The slices view the payload.
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
  TableProperties properties;  // The entries' sequences are the record's.
};

struct WalIngest {
  SequenceNumber sequence = 0;
  std::vector<WalIngestFile> files;

  void EncodeTo(std::string* payload) const;  // Appends.
  static Result<WalIngest> Decode(Slice payload, Slice where);
};

// --- Prepared transactions ---

struct WalPrepare {
  uint64_t id = 0;  // Named by its end; unique in a log.
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
