// The services that transactions need from the database; db/ implements it, tests use a small
// version.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "table/table_options.h"
#include "tidesdb/result.h"
#include "version/read_state.h"

namespace tidesdb {

class ColumnFamily;
struct JobContext;

// A finished table file of a spilled write set: one version for each key; the sequences of its
// entries have no meaning.
struct IngestFile {
  uint64_t number = 0;
  uint64_t bytes = 0;
  TableProperties properties;
};

// When an append becomes durable.
enum class LogSync : uint8_t {
  kNone,    // No sync is due.
  kAtOnce,  // On return.
  kSoon,    // The caller will call SyncWal().
};

// Threads: any, unless a function says otherwise.
class TxnEnv {
 public:
  virtual ~TxnEnv() = default;

  virtual ReadStateRef PinReadState() const = 0;
  // A number that grows with every new ReadState; one atomic load (acquire). It grows before a
  // commit goes into a new active memtable, but only after PinReadState returns the new state. So a
  // state that was pinned after the number was read stays current while the number is unchanged.
  virtual uint64_t ReadStateNumber() const = 0;

  // Whether a caller's handle may be used. Every operation calls it: it must be cheap.
  // Errors: kInvalidArgument (null, dropped, of another database), kShuttingDown (closed),
  // for_write also kReadOnly after a fatal error.
  virtual Status CheckFamily(const ColumnFamily* family, bool for_write) const = 0;

  // --- Called by the commit pipeline's leader: one at a time, with no memtable insert running ---
  // Whether PrepareForGroup would now rotate the memtable for this many bytes. It is then called only once everything
  // is durable and visible.
  virtual bool GroupRotates(uint64_t bytes) const = 0;
  // Ensures that a group of this many records and bytes can be appended and inserted, and later
  // `outcomes` ends of prepared transactions. Delays as the write controller says, and rotates
  // memtable and WAL segment when they are full.
  // Errors: kNoSpace, kReadOnly, kShuttingDown.
  virtual Status PrepareForGroup(uint64_t bytes, size_t records, size_t outcomes) = 0;
  // Writes the records, in order, as one group; `outcomes` of them have reserved their room in
  // their prepare. An error is fatal: the database becomes read-only.
  virtual Status AppendToWal(const std::vector<Slice>& records, size_t outcomes, LogSync sync) = 0;
  // Keeps the log from the last append on for a prepared transaction; returns its segment.
  virtual uint64_t HoldWal() = 0;
  // Ends one HoldWal; `committed`: from now on the active memtable needs that part of the log.
  virtual void ReleaseWal(uint64_t segment, bool committed) = 0;
  virtual MemTable* ActiveMemTable() = 0;
  // Makes the files of a spilled transaction the newest source of all reads, above everything
  // written before: rotates the memtable and puts the files, at this sequence, between the old one
  // and the new one. The record that names them is already in the WAL: in `wal_segment` or, if that
  // is 0, in the current one. An error is fatal, as in AppendToWal.
  virtual Status Ingest(const std::vector<IngestFile>& files, SequenceNumber sequence,
                        uint64_t wal_segment) = 0;

  // Any thread, also beside the leader: makes everything appended durable. An error is fatal, as in AppendToWal.
  virtual Status SyncWal() = 0;

  // Any thread: the memory of all transactions together has changed by about a megabyte.
  virtual void TransactionMemoryMoved() {}

  // Any thread: scans have met these runs. Those of entries up to OldSequence() are old.
  virtual void YoungRunsRead(const ColumnFamily* /*family*/, YoungRuns /*runs*/) {}
  virtual SequenceNumber OldSequence(const ColumnFamily* /*family*/) const { return 0; }

  // --- For spilling ---
  virtual uint64_t NewFileNumber() = 0;
  // A run, deleted at the end of the transaction.
  virtual std::string SpillPath(uint64_t file_number) const = 0;
  // A file for Ingest; if that does not happen, the transaction deletes it. The database must not
  // treat it as garbage between NewFileNumber and Ingest or deletion.
  virtual std::string TablePath(uint64_t file_number) const = 0;
  virtual TableWriteOptions TableOptionsOf(FamilyId family) const = 0;
  virtual uint64_t TargetFileBytes(FamilyId family) const = 0;

  // For loads: the context for writing their files. Lives as long as this object.
  virtual const JobContext* load_context() const = 0;
};

}  // namespace tidesdb
