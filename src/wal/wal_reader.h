// Replays the log: every record from a first segment on, up to the end, a torn tail or a hole.
//
// docs/format/wal.md defines the end and damage. In short: reading continues while records are
// complete and segments follow each other. Where that stops, all readable data after the place is
// searched for a claim that the log was synced beyond it. With such a claim the place is damaged:
// Corruption. Without one it was never durable: the log ends there, and nothing after it counts any
// more.
//
// Threads: one at a time. Writes nothing: a log can be replayed any number of times.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/wal_format.h"
#include "wal/wal_directory.h"
#include "wal/wal_options.h"

namespace tidesdb {

struct WalRecord {
  WalKind kind = WalKind::kBatch;  // From kBatch on.
  SequenceNumber sequence = 0;     // Of commits; 0: a prepare or a rollback.
  Slice payload;  // For the decoder of its kind. Valid until the next call of Next.
  uint32_t segment = 0;
  uint64_t offset = 0;
};

// The end of the log and the state of its files; WalSet::Open continues from it.
struct WalEnd {
  struct Segment {
    uint32_t number = 0;
    uint64_t file_bytes = 0;
    uint64_t end_offset = 0;
    // From here to end_offset there is no proof that the bytes are durable.
    uint64_t unproven_offset = 0;
    uint64_t records = 0;  // Returned by Next.
  };
  struct Leftover {
    uint32_t number = 0;
    uint64_t file_bytes = 0;
  };
  std::vector<Segment> chain;        // The valid segments, in order.
  WalPosition position;              // The end of the last one; the next segment follows it.
  SequenceNumber last_sequence = 0;  // Of the log's last record, also in retired segments; 0: none.
  uint32_t number_max = 0;           // Of all files, also invalid ones.
  std::vector<Leftover> leftovers;   // Files that do not count: older, abandoned, or never begun.
  // A description of the part that was cut off; empty: the log ended where its writer stopped.
  std::string cut;
};

// What the log must hold, according to other files.
struct WalClaims {
  // The log was synced up to here (the manifest's flushed sequence); a log that ends earlier is
  // damaged. 0: unknown.
  SequenceNumber sequence = 0;
  // The same as a position (the file SYNCED).
  WalPosition place = {};
  // A damaged or too short log ends at the damage, with an error message.
  bool forgive = false;
};

class WalReader {
 public:
  // Open's.
  WalReader(const WalOptions& options, WalDirectory directory, const WalClaims& claims)
      : options_(options), directory_(std::move(directory)), claims_(claims) {}

  // `first_segment`: from the manifest; 0: the beginning of a log without retired segments.
  // Errors: kIoError; kCorruption (the first segment is missing); kNotSupported (a newer version).
  static Result<std::unique_ptr<WalReader>> Open(const WalOptions& options, uint64_t first_segment,
                                                 const WalClaims& claims);

  // The next record of a transaction; false at the end of the log.
  // Errors: kCorruption (names file and offset), kNotSupported (a newer kind or version), kIoError.
  // After an error there is nothing more to read.
  Result<bool> Next(WalRecord* record);

  // "<dir>/000012.wal at offset 4096", for the decoders.
  std::string Where(const WalRecord& record) const;

  // REQUIRES: Next() has returned false.
  const WalEnd& end() const;

 private:
  struct Claim {
    WalPosition synced;
    WalPosition made_at;
  };

  Status FindFirst(uint64_t first_segment);
  Result<bool> Step(WalRecord* record);
  // Ends the log at the damage if the options allow it. False: the error stands.
  bool Forgive(const Status& error, uint64_t segment_min);
  // Continues with the next segment, or sets done_ if there is none.
  Status Enter(uint32_t segment);
  // At a place without a readable record: distinguishes the end of the log from damage.
  Status Stop();
  Status CheckNoneMissing(WalPosition place) const;
  // At the log's end: checks that it holds everything that it must hold.
  Status CheckReaches(WalPosition place) const;
  // The farthest claim of any record after `place`, if it goes beyond it.
  Result<std::optional<Claim>> FindClaimBeyond(WalPosition place, bool* any_record) const;
  Status Accept(const WalRecordAt& at, WalRecord* record, bool* is_record);
  void FinishAt(WalPosition place);
  Status Damaged(WalPosition place, const std::string& what) const;

  const WalOptions options_;
  const WalDirectory directory_;
  const WalClaims claims_;

  std::unique_ptr<WalSegmentReader> segment_;  // Null: nothing more to read.
  uint32_t segment_number_ = 0;
  uint64_t offset_ = 0;                        // Of the next record.
  const WalSegmentInfo* successor_ = nullptr;  // Tells where this segment ends.
  uint64_t limit_ = UINT64_MAX;                // That place.
  bool sequence_known_ = false;
  SequenceNumber last_sequence_ = 0;
  WalPosition proven_;  // Everything before it was synced, according to records.
  bool done_ = false;
  WalEnd end_;
};

}  // namespace tidesdb
