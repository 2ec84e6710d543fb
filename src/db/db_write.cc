// The services of the database for the commit pipeline and for spilling.
#include <algorithm>
#include <utility>

#include "base/failpoint.h"
#include "base/told_wait.h"
#include "db/db_impl.h"
#include "format/wal_format.h"
#include "io/file_names.h"
#include "io/huge_pages.h"

namespace tidesdb {

Status DbImpl::CheckFamily(const ColumnFamily* family, bool for_write) const {
  TIDESDB_TRY(families_.Check(family));
  return for_write ? errors_->CheckWritable() : Status::Ok();
}

WritePressure DbImpl::Pressure() const {
  const CompactionPressure compaction = tree_->Pressure();
  WritePressure pressure;
  pressure.memtable_bytes = tree_->memtables().MemoryBytes();
  pressure.memtable_bytes_max = plan_.memtables_max_bytes;
  pressure.flush_queue = tree_->memtables().ImmutableCount();
  pressure.flush_queue_max =
      static_cast<uint64_t>(flush_queue_max_.load(std::memory_order_relaxed));
  pressure.level0 = compaction.level0_runs_max;
  pressure.level0_max = kLevel0RunsMax;
  pressure.debt_bytes = compaction.debt_bytes;
  pressure.debt_bytes_max = std::max(kDebtMemtables * options_.memtable_bytes, kDebtBytesMin);
  return pressure;
}

void DbImpl::LendMemory() {
  const uint64_t others = tree_->memtables().MemoryBytes() + SpareHugePageBytes() +
                          tree_->tables().MemoryBytes() + txns_->MemoryBytes();
  block_cache_->SetCapacity(plan_.CacheBytes(others));
}

bool DbImpl::GroupRotates(uint64_t bytes) const {
  const MemTable* active = tree_->active();
  return !active->empty() && active->MemoryBytes() + bytes > options_.memtable_bytes;
}

Status DbImpl::PrepareForGroup(uint64_t bytes, size_t records, size_t outcomes) {
  TIDESDB_TRY(errors_->CheckWritable());
  const WritePressure pressure = Pressure();
  if (const uint64_t step = pressure.memtable_bytes / kLendStepBytes; step != lent_step_) {
    lent_step_ = step;
    LendMemory();
  }
  const uint64_t delay_us = write_controller_.DelayUs(pressure, bytes, env_->clock->NowMicros());
  if (delay_us != 0) {
    const ToldWait told(options_.instruments, WatchedWait::kStall);
    env_->clock->SleepMicros(delay_us);
  }
  const bool full = GroupRotates(bytes);
  if (full) TIDESDB_TRY(RotateMemTable(txns_->VisibleSequence()));
  // Also if the group before this one stopped waiting.
  if (full || pressure.memtable_bytes > plan_.memtables_max_bytes) TIDESDB_TRY(WaitForMemory());
  // Reserves disk space now, so that the append cannot run out of it. Each record has a frame and
  // is rounded up.
  const uint64_t group_bytes = bytes + records * (WalSet::RecordBytes(0) + kWalAlignment);
  TIDESDB_TRY(wal_->ReserveBytes(group_bytes + outcomes * kOutcomeBytes));
  wal_reserved_bytes_ = group_bytes;
  outcomes_wanted_ = outcomes;
  return Status::Ok();
}

Status DbImpl::RotateMemTable(SequenceNumber last) {
  if (tree_->active()->empty()) return Status::Ok();
  TIDESDB_FAILPOINT("rotate_before_wal");
  Result<uint64_t> segment = wal_->Rotate();
  if (!segment.ok()) return WalFailed(std::move(segment).status());
  TIDESDB_FAILPOINT("rotate_after_wal");
  tree_->Rotate(*segment, last);
  ReadStateChanged();
  scheduler_->WakeFlush();
  return Status::Ok();
}

// Writers wait without a limit only for memory, because every flush that ends frees some.
Status DbImpl::WaitForMemory() {
  const auto full = [this] {
    return tree_->memtables().ImmutableCount() > 0 &&
           tree_->memtables().MemoryBytes() > plan_.memtables_max_bytes;
  };
  if (!full()) return Status::Ok();
  const uint64_t failures = errors_->flush_failures();
  const uint64_t start_us = env_->clock->NowMicros();
  while (full()) {
    TIDESDB_TRY(errors_->CheckWritable());
    TIDESDB_TRY(errors_->FlushErrorSince(failures));
    if (stop_.load(std::memory_order_relaxed)) {
      return Status::ShuttingDown("the database is closing");
    }
    WaitForBackground(WatchedWait::kStall);
  }
  write_controller_.RecordFullMemory(env_->clock->NowMicros() - start_us);
  return Status::Ok();
}

Status DbImpl::AppendToWal(const std::vector<Slice>& records, size_t outcomes, LogSync sync) {
  TIDESDB_FAILPOINT("wal_before_append");
  // Prepared transactions that found no space at open have none reserved.
  outcomes = std::min(outcomes, outcomes_reserved_);
  outcomes_reserved_ -= outcomes;
  const uint64_t reserved = std::exchange(wal_reserved_bytes_, 0) + outcomes * kOutcomeBytes;
  const size_t wanted = std::exchange(outcomes_wanted_, 0);
  Status status = wal_->Append(records, reserved, sync != LogSync::kNone);
  if (status.ok()) {
    outcomes_reserved_ += wanted;
    if (sync == LogSync::kAtOnce) status = wal_->Sync();
  } else {
    wal_->UnreserveBytes(wanted * kOutcomeBytes);
  }
  return status.ok() ? status : WalFailed(std::move(status));
}

uint64_t DbImpl::HoldWal() {
  const uint64_t segment = wal_->current_segment();
  tree_->HoldWal(segment);
  return segment;
}

void DbImpl::ReleaseWal(uint64_t segment, bool committed) { tree_->ReleaseWal(segment, committed); }

Status DbImpl::WalFailed(Status error) {
  // If nothing was written the log is unchanged, and the next commit may try again.
  if (!wal_->status().ok()) errors_->SetFatal(error, "writing the WAL");
  return error;
}

Status DbImpl::Ingest(const std::vector<IngestFile>& files, SequenceNumber sequence,
                      uint64_t wal_segment) {
  std::vector<FileRecord> records;
  records.reserve(files.size());
  for (const IngestFile& file : files) {
    records.push_back(IngestedFileRecord(file.number, file.bytes, file.properties, sequence));
  }
  if (wal_segment == 0) wal_segment = wal_->current_segment();
  tree_->Ingest(std::move(records), sequence, wal_segment);
  ReadStateChanged();
  scheduler_->WakeFlush();
  return Status::Ok();
}

std::string DbImpl::SpillPath(uint64_t file_number) const {
  return SpillFileName(directory_, file_number);
}

std::string DbImpl::TablePath(uint64_t file_number) const {
  return TableFileName(directory_, file_number);
}

TableWriteOptions DbImpl::TableOptionsOf(FamilyId family) const {
  const VersionRef version = tree_->Family(family);
  TableWriteOptions options = tidesdb::TableOptionsOf(
      family, version == nullptr ? ColumnFamilyOptions() : version->options());
  return options;
}

uint64_t DbImpl::TargetFileBytes(FamilyId family) const {
  const VersionRef version = tree_->Family(family);
  return (version == nullptr ? ColumnFamilyOptions() : version->options()).target_file_bytes;
}

}  // namespace tidesdb
