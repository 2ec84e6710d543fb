// The replay of the WAL: commits go into memtables; prepared transactions wait for their end, and
// those without an end are restored.
#include <algorithm>
#include <map>
#include <utility>

#include "base/failpoint.h"
#include "db/db_impl.h"
#include "format/wal_format.h"
#include "io/file_names.h"
#include "wal/wal_reader.h"

namespace tidesdb {

Result<std::unique_ptr<WalReader>> DbImpl::OpenLogReader(const WalOptions& options,
                                                         SequenceNumber flushed) {
  WalClaims claims;
  claims.sequence = flushed;
  claims.forgive = options_.open_damaged_log;
  TIDESDB_ASSIGN(claims.place, WalMark::Read(options.fs, options.dir));
  return WalReader::Open(options, tree_->wal_segment_min(), claims);
}

Status DbImpl::OpenLogWriter(const WalOptions& options, const WalEnd& end) {
  TIDESDB_ASSIGN(wal_, WalSet::Open(options, end));
  if (!end.chain.empty() || tree_->wal_segment_min() == 0) return Status::Ok();
  // The first segment is lost, and open_damaged_log accepts that: the log starts over.
  VersionEdit edit;
  edit.flushed_sequence = tree_->flushed_sequence();
  edit.wal_segment_min = wal_->current_segment();
  return tree_->versions().Apply(std::move(edit), {});
}

// Nothing is flushed during replay: everything in the WAL beyond the flushed sequence fitted in
// memory before the crash.
Status DbImpl::Replay(SequenceNumber* last) {
  WalOptions wal_options;
  wal_options.fs = env_->fs;
  wal_options.clock = env_->clock;
  wal_options.logger = logger_.get();
  wal_options.metrics = &metrics_;
  wal_options.dir = directory_;
  wal_options.segment_bytes = options_.wal_segment_bytes;

  *last = tree_->flushed_sequence();
  TIDESDB_ASSIGN(const std::unique_ptr<WalReader> reader, OpenLogReader(wal_options, *last));
  WalRecord record;
  ReplayState state;
  state.reader = reader.get();
  state.record = &record;
  state.flushed = *last;
  for (;;) {
    TIDESDB_ASSIGN(const bool more, reader->Next(&record));
    if (!more) break;
    TIDESDB_TRY(ReplayRecord(&state));
    *last = std::max(*last, record.sequence);
  }
  if (!reader->end().cut.empty()) {
    LogF(logger_.get(), LogLevel::kWarn, "recovery: %s", reader->end().cut.c_str());
  }
  TIDESDB_FAILPOINT("recovery_before_wal_open");
  TIDESDB_TRY(OpenLogWriter(wal_options, reader->end()));
  if (!state.replayed) tree_->SetWalSegment(wal_->current_segment());
  TIDESDB_TRY(KeepPrepared(&state));
  TIDESDB_FAILPOINT("recovery_before_finish");
  return tree_->FinishRecovery(std::exchange(prepared_tables_, {}));
}

Status DbImpl::ReplayRecord(ReplayState* state) {
  const WalRecord& record = *state->record;
  switch (record.kind) {
    case WalKind::kPrepare: {
      TIDESDB_ASSIGN(const WalPrepare prepare,
                     WalPrepare::Decode(record.payload, state->reader->Where(record)));
      prepared_id_max_ = std::max(prepared_id_max_, prepare.id);
      state->prepared[prepare.id] = {prepare.id, std::string(prepare.name),
                                     std::string(prepare.writes), record.segment};
      return Status::Ok();
    }
    case WalKind::kCommit:
    case WalKind::kRollback:
      return ReplayOutcome(state);
    default:
      // Flushed records are already in table files.
      if (record.sequence <= state->flushed) return Status::Ok();
      return ReplayCommit(record.sequence, record.payload, record.segment, state);
  }
}

Status DbImpl::ReplayOutcome(ReplayState* state) {
  const WalRecord& record = *state->record;
  const std::string where = state->reader->Where(record);
  TIDESDB_ASSIGN(const WalOutcome outcome, WalOutcome::Decode(record.payload, where));
  prepared_id_max_ = std::max(prepared_id_max_, outcome.id);
  auto prepared = state->prepared.extract(outcome.id);
  // If the writes were flushed or rolled back, the log need not reach back to the prepare.
  if (record.kind == WalKind::kRollback || record.sequence <= state->flushed) return Status::Ok();
  if (prepared.empty()) {
    return Status::Corruption(where + ": the end of prepared transaction " +
                              std::to_string(outcome.id) + ", which is not in the log");
  }
  const PreparedRecord& whole = prepared.mapped();
  return ReplayCommit(record.sequence, whole.writes, whole.wal_segment, state);
}

// `needed_segment`: the segment that holds the writes.
Status DbImpl::ReplayCommit(SequenceNumber sequence, Slice writes, uint64_t needed_segment,
                            ReplayState* state) {
  const uint64_t segment = state->record->segment;
  if (!state->replayed) tree_->SetWalSegment(needed_segment);
  state->replayed = true;
  if (WalPayloadKind(writes) == WalKind::kIngest) {
    return ReplayIngest(sequence, writes, needed_segment, *state);
  }
  if (tree_->active()->MemoryBytes() + writes.size() > options_.memtable_bytes) {
    tree_->Rotate(segment, sequence - 1);
  }
  if (needed_segment != segment) {
    tree_->HoldWal(needed_segment);
    tree_->ReleaseWal(needed_segment, true);
  }
  // The caller adds the place to an error message: building it for each record would take as long
  // as the record itself.
  WalBatchDecoder decoder(writes, Slice());
  WalOperation operation;
  while (decoder.Next(&operation)) {
    if (!KnowsFamily(operation.family, state)) continue;  // Dropped meanwhile.
    tree_->active()->Add(operation.family, operation.key, operation.type, sequence,
                         operation.value);
  }
  if (decoder.status().ok()) return Status::Ok();
  return Status::Corruption(state->reader->Where(*state->record) +
                            std::string(decoder.status().message()));
}

Status DbImpl::ReplayIngest(SequenceNumber sequence, Slice writes, uint64_t needed_segment,
                            const ReplayState& state) {
  TIDESDB_ASSIGN(const WalIngest ingest,
                 WalIngest::Decode(writes, state.reader->Where(*state.record)));
  std::vector<FileRecord> files;
  for (const WalIngestFile& file : ingest.files) {
    tree_->versions().ReserveFileNumbers(file.number);
    if (tree_->Family(file.properties.family) == nullptr) continue;  // Dropped meanwhile.
    files.push_back(IngestedFileRecord(file.number, file.bytes, file.properties, sequence));
  }
  TIDESDB_TRY(tree_->CheckIngestFiles(files));
  tree_->Ingest(std::move(files), sequence, needed_segment);
  return Status::Ok();
}

// Families do not change during replay.
bool DbImpl::KnowsFamily(FamilyId family, ReplayState* state) const {
  if (family == state->family_known) return true;
  if (tree_->Family(family) == nullptr) return false;
  state->family_known = family;
  return true;
}

// Keeps their log and their files.
Status DbImpl::KeepPrepared(ReplayState* state) {
  if (!state->prepared.empty()) {
    LogF(logger_.get(), LogLevel::kWarn, "recovery: %zu prepared transactions have no end yet",
         state->prepared.size());
  }
  MutexLock lock(prepared_mu_);
  for (auto& [id, record] : state->prepared) {
    tree_->HoldWal(record.wal_segment);
    if (WalPayloadKind(record.writes) == WalKind::kIngest) {
      TIDESDB_ASSIGN(const WalIngest ingest, WalIngest::Decode(record.writes, record.name));
      std::vector<FileRecord> files;
      for (const WalIngestFile& file : ingest.files) {
        tree_->versions().ReserveFileNumbers(file.number);
        prepared_tables_.insert(file.number);
        files.push_back(IngestedFileRecord(file.number, file.bytes, file.properties, 0));
      }
      TIDESDB_TRY(tree_->CheckIngestFiles(files));
    }
    // On a full disk their end may have to wait for space.
    const Status room = wal_->ReserveBytes(kOutcomeBytes);
    if (room.ok()) ++outcomes_reserved_;
    found_prepared_.push_back(std::move(record));
  }
  return Status::Ok();
}

Result<std::vector<std::unique_ptr<Transaction>>> DbImpl::TakePrepared(
    const std::shared_ptr<void>& engine) {
  std::vector<PreparedRecord> found;
  {
    MutexLock lock(prepared_mu_);
    found = std::exchange(found_prepared_, {});
  }
  std::vector<std::unique_ptr<Transaction>> prepared;
  for (PreparedRecord& record : found) {
    TIDESDB_ASSIGN(auto txn, txns_->Restore(std::move(record), engine));
    prepared.push_back(std::move(txn));
  }
  return prepared;
}

}  // namespace tidesdb
