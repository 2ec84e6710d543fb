// Replays the log: every record from a first segment on, up to the end, a torn tail or a hole.
//
// What counts as the end, and what is damage, is in docs/format/wal.md. In short: reading goes on
// while records are whole and segments follow each other. Where that stops, whatever still can be
// read behind the place is searched for the claim that the log was synced beyond it. With such a
// claim the place is damaged: Corruption. Without one it was never durable: the log ends there, and
// nothing behind it ever counts again.
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

// Where the log ends and how its files stand; what WalSet::Open goes on from.
struct WalEnd {
  struct Segment {
    uint32_t number = 0;
    uint64_t file_bytes = 0;
    uint64_t end_offset = 0;
    // From here to end_offset nothing says that the bytes are durable.
    uint64_t unproven_offset = 0;
    uint64_t records = 0;  // That Next returned.
  };
  struct Leftover {
    uint32_t number = 0;
    uint64_t file_bytes = 0;
  };
  std::vector<Segment> chain;  // The segments that count, in order.
  WalPosition position;        // The end of the last of them; the next segment follows it.
  SequenceNumber last_sequence =
      0;                    // Of the log's last record, retired ones included; 0: it has none.
  uint32_t number_max = 0;  // Of all files, those that do not count included.
  std::vector<Leftover> leftovers;  // Files that do not count: older, abandoned, never begun.
  // What was cut off, for people; empty: the log ended where its writer had stopped.
  std::string cut;
};

// What the log must hold, beside what it says itself.
struct WalClaims {
  // The log is known to have been synced up to there (the manifest's flushed sequence); a log that
  // ends before is damaged. 0: nothing is known.
  SequenceNumber sequence = 0;
  // The same as a place (the file SYNCED).
  WalPosition place = {};
  // Where the log is damaged, or ends too early, it ends, with an error message.
  bool forgive = false;
};

class WalReader {
 public:
  // Open's.
  WalReader(const WalOptions& options, WalDirectory directory, const WalClaims& claims)
      : options_(options), directory_(std::move(directory)), claims_(claims) {}

  // `first_segment`: from the manifest; 0: from the beginning of a log of which no segment was ever
  // retired. Errors: kIoError; kCorruption (the first segment is missing); kNotSupported (a newer
  // version).
  static Result<std::unique_ptr<WalReader>> Open(const WalOptions& options, uint64_t first_segment,
                                                 const WalClaims& claims);

  // The next record of a transaction; false at the end of the log.
  // Errors: kCorruption naming file and offset; kNotSupported (a kind or version of a newer
  // program); kIoError. After an error there is nothing more to read.
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
  // Ends the log where the damage is, if that is wanted. False: the error stands.
  bool Forgive(const Status& error, uint64_t segment_min);
  // Goes on with the next segment, or sets done_ when there is none.
  Status Enter(uint32_t segment);
  // At a place where no record can be read: tells the end of the log from damage.
  Status Stop();
  Status CheckNoneMissing(WalPosition place) const;
  // At the log's end: whether it holds all that it is known to have held.
  Status CheckReaches(WalPosition place) const;
  // The farthest claim of any record behind `place`, if it goes beyond it.
  Result<std::optional<Claim>> FindClaimBeyond(WalPosition place, bool* any_record) const;
  Status Accept(const WalRecordAt& at, WalRecord* record, bool* is_record);
  void FinishAt(WalPosition place);
  Status Damaged(WalPosition place, const std::string& what) const;

  const WalOptions options_;
  const WalDirectory directory_;
  const WalClaims claims_;

  std::unique_ptr<WalSegmentReader> segment_;  // Null: nothing is left to read.
  uint32_t segment_number_ = 0;
  uint64_t offset_ = 0;                        // Of the next record.
  const WalSegmentInfo* successor_ = nullptr;  // Says where this segment ends.
  uint64_t limit_ = UINT64_MAX;                // That place.
  bool sequence_known_ = false;
  SequenceNumber last_sequence_ = 0;
  WalPosition proven_;  // Everything before it was synced, as records say.
  bool done_ = false;
  WalEnd end_;
};

}  // namespace tidesdb
