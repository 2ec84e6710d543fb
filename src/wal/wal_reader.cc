#include "wal/wal_reader.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "format/corruption.h"

namespace tidesdb {
namespace {

std::string PlaceText(const std::string& path, uint64_t offset) {
  return path + " at offset " + std::to_string(offset);
}

}  // namespace

Result<std::unique_ptr<WalReader>> WalReader::Open(const WalOptions& options,
                                                   uint64_t first_segment,
                                                   const WalClaims& claims) {
  TIDESDB_ASSIGN(WalDirectory directory, WalDirectory::Read(options.fs, options.dir));
  auto reader = std::make_unique<WalReader>(options, std::move(directory), claims);
  if (Status found = reader->FindFirst(first_segment); !found.ok()) {
    if (!reader->Forgive(found, first_segment)) return found;
  }
  return reader;
}

Status WalReader::FindFirst(uint64_t first_segment) {
  if (first_segment == 0) {
    const WalSegmentInfo* first = directory_.SuccessorOf(0);
    if (first != nullptr) return Enter(first->number);
    for (const auto& [number, info] : directory_.segments()) {
      if (info.begun) {
        return Damaged(WalPosition::At(number, 0), "the log's first segment is missing");
      }
    }
    TIDESDB_TRY(CheckReaches(WalPosition()));
    FinishAt(WalPosition());
    return Status::Ok();
  }
  if (first_segment >= UINT32_MAX ||
      directory_.Find(static_cast<uint32_t>(first_segment)) == nullptr) {
    return CorruptionAt(WalFileName(options_.dir, first_segment), 0, "the segment is missing");
  }
  return Enter(static_cast<uint32_t>(first_segment));
}

Status WalReader::Enter(uint32_t segment) {
  const WalSegmentInfo* info = directory_.Find(segment);
  CHECK(info != nullptr);
  // open_damaged_log may have ended the log before commits that are in table files.
  const bool flushed =
      info->start.sequence > last_sequence_ && info->start.sequence <= claims_.sequence;
  if (info->begun && sequence_known_ && info->start.sequence != last_sequence_ && !flushed) {
    return Damaged(WalPosition::At(segment, 0),
                   "the segment follows sequence " + std::to_string(info->start.sequence) +
                       ", but the one before ends with " + std::to_string(last_sequence_));
  }
  TIDESDB_ASSIGN(segment_, directory_.OpenSegment(segment));
  segment_number_ = segment;
  offset_ = 0;
  successor_ = directory_.SuccessorOf(segment);
  limit_ = successor_ == nullptr ? UINT64_MAX : successor_->start.previous_end.offset();
  if (info->begun) {
    sequence_known_ = true;
    last_sequence_ = info->start.sequence;
  }
  end_.chain.push_back({.number = segment, .file_bytes = info->file_bytes});
  return Status::Ok();
}

Result<bool> WalReader::Next(WalRecord* record) {
  Result<bool> more = Step(record);
  if (!more.ok() && Forgive(more.status(), segment_number_)) return false;
  return more;
}

bool WalReader::Forgive(const Status& error, uint64_t segment_min) {
  if (!claims_.forgive || error.code() != Code::kCorruption) return false;
  end_.cut = error.ToString() + "; the log ends here, because open_damaged_log is on";
  LogF(options_.logger, LogLevel::kError, "%s", end_.cut.c_str());
  if (!end_.chain.empty()) end_.chain.back().end_offset = offset_;
  FinishAt(WalPosition::At(segment_number_, offset_));
  end_.last_sequence = std::max(end_.last_sequence, claims_.sequence);
  // Numbers of lost segments are not reused.
  end_.number_max =
      std::max({end_.number_max, static_cast<uint32_t>(segment_min), claims_.place.segment});
  return true;
}

Result<bool> WalReader::Step(WalRecord* record) {
  while (!done_) {
    if (offset_ == limit_) {
      end_.chain.back().end_offset = offset_;
      TIDESDB_TRY(Enter(successor_->number));
      continue;
    }
    WalRecordAt at;
    TIDESDB_ASSIGN(const bool found, segment_->ReadAt(offset_, limit_, &at));
    if (!found) {
      TIDESDB_TRY(Stop());
      continue;
    }
    bool is_record = false;
    TIDESDB_TRY(Accept(at, record, &is_record));
    offset_ = at.end().offset();
    if (is_record) return true;
  }
  return false;
}

// Checks a complete record, and passes it on if it is one for the caller.
Status WalReader::Accept(const WalRecordAt& at, WalRecord* record, bool* is_record) {
  const WalPosition place = at.frame.position;
  if (at.frame.synced > place) return Damaged(place, "the record claims that it is synced");
  if (at.frame.synced < proven_) return Damaged(place, "its synced position goes back");
  proven_ = at.frame.synced;
  const WalKind kind = WalPayloadKind(at.payload);
  const SequenceNumber sequence = WalPayloadSequence(at.payload);
  if ((kind == WalKind::kSegmentStart) != (place.place == 0)) {
    return Damaged(place, "a segment's first record is misplaced");
  }
  switch (kind) {
    case WalKind::kSegmentStart:
    case WalKind::kSyncMark:
      return Status::Ok();
    case WalKind::kBatch:
    case WalKind::kIngest:
    case WalKind::kPrepare:
    case WalKind::kCommit:
    case WalKind::kRollback:
      break;
    default:
      return Status::NotSupported(PlaceText(segment_->path(), offset_) + ": WAL record of kind " +
                                  std::to_string(static_cast<int>(kind)) +
                                  ", which this version does not know");
  }
  if (IsWalCommit(kind)) {
    if (sequence <= last_sequence_ || sequence > kSequenceMax) {
      return Damaged(place, "sequence " + std::to_string(sequence) + " follows " +
                                std::to_string(last_sequence_));
    }
    last_sequence_ = sequence;
  } else if (sequence != 0) {
    return Damaged(place, "a prepare or rollback with sequence " + std::to_string(sequence));
  }
  end_.chain.back().records++;
  record->kind = kind;
  record->sequence = sequence;
  record->payload = at.payload;
  record->segment = segment_number_;
  record->offset = offset_;
  *is_record = true;
  return Status::Ok();
}

Status WalReader::Stop() {
  const WalPosition place = WalPosition::At(segment_number_, offset_);
  TIDESDB_TRY(CheckNoneMissing(place));
  bool any_record = false;
  TIDESDB_ASSIGN(const std::optional<Claim> claim, FindClaimBeyond(place, &any_record));
  if (claim.has_value()) {
    return Damaged(
        place, "no complete record, but " +
                   PlaceText(directory_.PathOf(claim->made_at.segment), claim->made_at.offset()) +
                   " says that the log was synced up to " +
                   PlaceText(directory_.PathOf(claim->synced.segment), claim->synced.offset()));
  }
  if (sequence_known_ && last_sequence_ < claims_.sequence) {
    return Damaged(place, "no complete record, but the log was synced up to sequence " +
                              std::to_string(claims_.sequence) + ", and the last one read is " +
                              std::to_string(last_sequence_));
  }
  TIDESDB_TRY(CheckReaches(place));
  TIDESDB_ASSIGN(const bool begun, segment_->LooksBegun(offset_));
  if (any_record || successor_ != nullptr) {
    end_.cut = PlaceText(segment_->path(), offset_) +
               ": cut off here, because a crash left a hole in unsynced data";
  } else if (begun) {
    end_.cut = PlaceText(segment_->path(), offset_) + ": cut off here, in a torn record";
  }
  if (!end_.cut.empty()) LogF(options_.logger, LogLevel::kWarn, "%s", end_.cut.c_str());
  end_.chain.back().end_offset = offset_;
  FinishAt(place);
  return Status::Ok();
}

// The log itself has no trace of missing records if no later record proves them.
Status WalReader::CheckReaches(WalPosition place) const {
  if (place >= claims_.place) return Status::Ok();
  const std::string lost =
      PlaceText(directory_.PathOf(claims_.place.segment), claims_.place.offset());
  if (place.segment == 0) {
    return Damaged(WalPosition::At(claims_.place.segment, 0),
                   "the log is missing; " + SyncedFileName(options_.dir) +
                       " says that it was synced up to " + lost);
  }
  return Damaged(place, "the log ends here, but " + SyncedFileName(options_.dir) +
                            " says that it was synced up to " + lost);
}

// A segment's name is durable before its first use, so a segment with a successor did exist.
Status WalReader::CheckNoneMissing(WalPosition place) const {
  const uint32_t from = successor_ != nullptr ? successor_->number : place.segment + 1;
  for (auto it = directory_.segments().lower_bound(from); it != directory_.segments().end(); ++it) {
    if (!it->second.begun) continue;
    const uint32_t previous = it->second.start.previous_end.segment;
    if (previous > place.segment && directory_.Find(previous) == nullptr) {
      return Damaged(WalPosition::At(previous, 0), "the segment is missing");
    }
  }
  return Status::Ok();
}

Result<std::optional<WalReader::Claim>> WalReader::FindClaimBeyond(WalPosition place,
                                                                   bool* any_record) const {
  std::optional<Claim> best;
  auto search = [&](uint32_t segment, uint64_t from, uint64_t limit) -> Status {
    TIDESDB_ASSIGN(auto reader, directory_.OpenSegment(segment));
    for (;;) {
      WalRecordAt at;
      TIDESDB_ASSIGN(const bool found, reader->FindFrom(from, limit, &at));
      if (!found) return Status::Ok();
      *any_record = true;
      const Claim claim{at.frame.synced, at.frame.position};
      // A claim about data after the record itself is invalid, not evidence.
      if (claim.synced > place && claim.synced <= claim.made_at &&
          (!best.has_value() || claim.synced > best->synced)) {
        best = claim;
      }
      from = at.end().offset();
    }
  };
  TIDESDB_TRY(search(place.segment, place.offset(), limit_));
  // If there is a successor, segments between this one and it are abandoned.
  const uint32_t from = successor_ != nullptr ? successor_->number : place.segment + 1;
  for (auto it = directory_.segments().lower_bound(from); it != directory_.segments().end(); ++it) {
    TIDESDB_TRY(search(it->first, 0, UINT64_MAX));
  }
  return best;
}

void WalReader::FinishAt(WalPosition place) {
  done_ = true;
  segment_.reset();
  end_.position = place;
  // A first segment that was never begun does not show what precedes it; the manifest does.
  end_.last_sequence = sequence_known_ ? last_sequence_ : claims_.sequence;
  end_.number_max = directory_.number_max();
  // Drops segments without records at the end: the next segment follows the one before them. So a
  // process that crashes repeatedly at its start does not pile up segments.
  while (end_.chain.size() > 1 && end_.chain.back().records == 0) {
    end_.chain.pop_back();
    end_.position = WalPosition::At(end_.chain.back().number, end_.chain.back().end_offset);
  }
  std::set<uint32_t> counting;
  for (WalEnd::Segment& segment : end_.chain) {
    counting.insert(segment.number);
    segment.unproven_offset = 0;
    if (segment.number < proven_.segment) segment.unproven_offset = segment.end_offset;
    if (segment.number == proven_.segment) {
      segment.unproven_offset = std::min(proven_.offset(), segment.end_offset);
    }
  }
  for (const auto& [number, info] : directory_.segments()) {
    if (counting.count(number) == 0) end_.leftovers.push_back({number, info.file_bytes});
  }
}

std::string WalReader::Where(const WalRecord& record) const {
  return PlaceText(directory_.PathOf(record.segment), record.offset);
}

const WalEnd& WalReader::end() const {
  CHECK(done_);
  return end_;
}

Status WalReader::Damaged(WalPosition place, const std::string& what) const {
  return CorruptionAt(directory_.PathOf(place.segment), place.offset(), what);
}

}  // namespace tidesdb
