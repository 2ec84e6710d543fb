// One transaction: connects locks, write set, spill, snapshot and commit.
//
// Threads: as Transaction.
// To write: lock the key (kOptimistic: track it), check that nobody changed it since the snapshot,
// stage the write. If the staged writes take too much memory, spill first. To end: Prepare does
// everything that can fail; the pipeline publishes and releases the locks.
//
// Two phases: PrepareNamed logs the record under an id, and a short record at the end names that
// id. In between, the log is kept from the prepare on (TxnEnv::HoldWal), and the writes stay in
// memory or in finished files. A commit hands the hold to the memtable that takes the writes.
//
// kOptimistic: each tracked key has a "floor", a sequence that is registered as a snapshot.
// Compaction therefore keeps what shows whether the key has changed since. Prepare locks all
// tracked keys, in order, and checks them. A write set that spills is locked and checked at the
// spill; from then on its keys are held like all spilled keys. LockRange takes a real lock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/manifest_format.h"
#include "txn/read_view.h"
#include "txn/tracked_keys.h"
#include "txn/txn_shared.h"
#include "txn/visible_iter.h"
#include "writes/spill_merge.h"
#include "writes/write_set.h"

namespace tidesdb {

class TransactionImpl final : public Transaction, private CommitRequest, private InterruptCheck {
 public:
  // Keeps `engine` alive, which contains `shared`; null: it outlives the transaction.
  TransactionImpl(TxnShared* shared, std::shared_ptr<void> engine,
                  const TransactionOptions& options);
  ~TransactionImpl() override;

  void UseView(View view) override;
  void SetSnapshot(SnapshotAt at) override;
  void ReleaseSnapshot() override;
  bool HasSnapshot() const override { return snapshot_.open; }
  uint64_t SnapshotSequence() const override { return snapshot_.open ? snapshot_.sequence : 0; }

  Result<bool> Get(ColumnFamily* family, Slice key, PinnedValue* value) override;
  uint64_t Prefetch(ColumnFamily* family, const Slice* keys, size_t count) override;
  void SetLockWaitTimeout(uint64_t wait_us) override;
  void SetLockWaitListener(LockWaitListener* listener) override;
  Result<bool> GetForUpdate(ColumnFamily* family, Slice key, LockMode mode, LockWait wait,
                            PinnedValue* value) override;
  Result<bool> GetShownForUpdate(ColumnFamily* family, Slice key, LockMode mode, LockWait wait,
                                 uint64_t as_of, bool* as_shown, PinnedValue* value) override;
  Status LockRange(ColumnFamily* family, Slice start, Slice end, RangeHold hold,
                   LockWait wait) override;
  Status LockRangeWithRow(ColumnFamily* family, Slice start, Slice end, Slice row,
                          LockWait wait) override;
  Status AwaitWriters(ColumnFamily* family, Slice start, Slice end, LockWait wait) override;
  uint64_t NewestSequence() const override {
    return shared_->newest.load(std::memory_order_acquire);
  }
  Status AwaitSeen() override;
  void UnlockLast(ColumnFamily* family, Slice key) override;
  std::unique_ptr<Iterator> NewIterator(ColumnFamily* family, const ScanOptions& options) override;

  Status Put(ColumnFamily* family, Slice key, Slice value) override;
  Result<bool> Insert(ColumnFamily* family, Slice key, Slice value, LockWait wait,
                      PinnedValue* there) override;
  Status Delete(ColumnFamily* family, Slice key) override;
  Status SingleDelete(ColumnFamily* family, Slice key) override;
  Status PutUnderLock(ColumnFamily* family, Slice key, Slice value) override;
  Status DeleteUnderLock(ColumnFamily* family, Slice key, bool single) override;
  Result<std::unique_ptr<Load>> BeginLoad(ColumnFamily* family,
                                          const LoadOptions& options) override;

  Savepoint SetSavepoint() override;
  Status RollbackTo(Savepoint savepoint, LocksSince locks) override;
  void ReleaseSavepoint(Savepoint savepoint) override;

  Status Validate() override;
  Status Prepare() override;
  Status Commit() override;
  void Rollback() override;
  Status PrepareNamed(Slice name) override;
  void OrderCommit() override;
  Slice prepared_name() const override { return prepared_id_ == 0 ? Slice() : Slice(name_); }
  // Turns this into the prepared transaction that recovery found, with its locks. REQUIRES: new.
  Status BecomePrepared(PreparedRecord record);
  Status Restart(const TransactionOptions& options) override;

  uint64_t id() const override { return owner_.id; }
  bool HasWrites() const override {
    return !writes_.empty() || spilled_.HasLive() || !loaded_.empty();
  }
  bool HasLocks() const override { return owner_.holds_any() || !tracked_.empty(); }
  uint64_t WriteCount() const override {
    return writes_.live_keys() + spilled_.LiveEntriesMax() + LoadedEntries();
  }
  uint64_t CommitSequence() const override { return commit_sequence_; }

  void Interrupt() override { owner_.Interrupt(); }
  void ClearInterrupt() override { owner_.ClearInterrupt(); }

 private:
  enum class State : uint8_t { kOpen, kPrepared, kEnded };
  static constexpr size_t kRecordBytesKept = 64 << 10;

  bool optimistic() const { return options_.concurrency == Concurrency::kOptimistic; }
  // False: it has no writes of its own to read.
  bool MayReadOwn() const { return !writes_.empty() || !spilled_.empty(); }
  uint64_t WaitUs(LockWait wait) const { return wait == LockWait::kNoWait ? 0 : lock_wait_us_; }
  // A change since the snapshot is a conflict.
  bool checks_snapshot() const {
    return snapshot_.open && options_.conflict_on_changed && view_in_use_ == View::kTransaction;
  }
  Status Conflict(FamilyId family, Slice key);
  // Checks before anything is done: the transaction has not ended and is not prepared, the family
  // is usable, the key and mode of a lock are valid.
  Status CheckOpen() const { return state_ == State::kOpen ? Status::Ok() : NotOpen(); }
  Status NotOpen() const;
  Status CheckLockCall(ColumnFamily* family, Slice key, LockMode mode) const;
  Status CheckRangeCall(ColumnFamily* family, Slice start, Slice end, RangeHold hold) const;
  Status CheckKey(Slice key) const;
  void Begin(const TransactionOptions& options);
  // Releases everything except what the next transaction can reuse.
  void End();
  // Releases the sequences of the snapshot and of tracked keys.
  void ReleaseSequences();
  void ReportMemory();

  // --- Reading (transaction_read.cc) ---
  // Notes that this transaction depends on a commit that may not be durable yet.
  void Saw(SequenceNumber sequence) {
    if (sequence > seen_ && sequence > shared_->visible.load(std::memory_order_acquire)) {
      seen_ = sequence;
    }
  }
  Result<bool> GetOwn(FamilyId family, Slice key, PinnedValue* value, bool* own) const;
  Result<bool> ReadLocked(const LockGrant& grant, FamilyId family, Slice key, PinnedValue* value);
  // Errors: kConflict if the newest version is newer than known_max.
  Result<bool> ReadNewest(FamilyId family, Slice key, PinnedValue* value, SequenceNumber known_max);
  Result<bool> ChangedSince(FamilyId family, Slice key, SequenceNumber floor);
  // Call after the lock is granted: whether the transaction may act on the key.
  Status CheckLocked(const LockGrant& grant, FamilyId family, Slice key);
  Result<bool> GetForUpdateTracked(FamilyId family, Slice key, PinnedValue* value);
  // kOptimistic: from now on the key may not change. Errors: kConflict.
  Result<TrackedKey*> Track(FamilyId family, Slice key);
  SequenceNumber NewFloor();

  // --- Writing (transaction_write.cc) ---
  // The checks of a write before anything is done or locked for it.
  Status BeginWrite(ColumnFamily* family, Slice key, Slice value);
  Status TrackAndStage(FamilyId family, Slice key, ValueType type, Slice value, uint64_t wait_us);
  static Status NoPlaceForValue() {
    return Status::InvalidArgument("the place for the value is null");
  }
  Status LockAndStage(FamilyId family, Slice key, ValueType type, Slice value);
  Status StageLocked(const LockGrant& grant, FamilyId family, Slice key, ValueType type,
                     Slice value, uint64_t wait_us);
  Status WriteLocked(ColumnFamily* family, Slice key, ValueType type, Slice value);
  // `into_ranges`: the write must wait for ranges that block puts.
  // Errors: those of waiting for others' ranges; the write is undone then.
  Status Stage(FamilyId family, Slice key, ValueType type, Slice value, bool into_ranges,
               uint64_t wait_us);
  bool MustSpill();
  Status Spill();
  void ReleaseSpilledRows();
  // Locks tracked keys and checks that they have not changed; `written_only`: only keys with
  // writes.
  Status LockTracked(bool written_only);

  // --- Loads (transaction_load.cc) ---
  // Whether the files of a load that began in `transaction` may be taken.
  Status CheckLoad(uint64_t transaction, FamilyId family);
  // Takes its files.
  Status TakeLoaded(uint64_t transaction, FamilyId family, std::vector<FileRecord> files);
  // Deletes files taken in this epoch or later.
  void DropLoadedSince(uint32_t epoch);
  uint64_t LoadedEntries() const;
  // Moves them to the files of the write set.
  Status AddLoadedTo(std::vector<IngestFile>* files);

  // --- Ending (transaction_commit.cc) ---
  Status EncodeFiles();
  Status EncodeWrites();
  // CommitRequest.
  Kind kind() const override { return kind_; }
  uint64_t Bytes() const override;
  bool Alone() const override { return !ingest_.empty() && publishes(); }
  Slice RecordAt(SequenceNumber sequence) override;
  void Logged(TxnEnv* env) override;
  void GiveLocksBack() override { shared_->locks.ReleaseAll(&owner_); }
  void InsertInto(MemTable* memtable, SequenceNumber sequence) override;
  Status Publish(TxnEnv* env, SequenceNumber sequence) override;

  // --- Two-phase commit (transaction_two_phase.cc) ---
  Status LogPrepare(Slice name);
  // After OK the transaction has ended.
  Status CommitPrepared();
  void RollbackPrepared();
  Status AddRecoveredWrites(Slice payload);
  Status LockRecoveredFiles(Slice payload);

  // InterruptCheck.
  bool Interrupted() const override { return owner_.interrupted(); }

  struct ViewSnapshot {
    bool open = false;
    bool is_floor = false;  // A tracked key relies on it.
    SequenceNumber sequence = 0;
  };
  struct LoadedFile {
    uint32_t epoch;  // The owner's, when the lock was taken.
    IngestFile file;
  };
  struct OpenSavepoint {
    uint64_t position;
    uint64_t count;
  };

  const std::shared_ptr<void> engine_;  // First member: destroyed last.
  TxnShared* const shared_;
  TransactionOptions options_;
  uint64_t lock_wait_us_ = 0;
  State state_ = State::kEnded;
  LockOwner owner_;
  ReadView view_;

  View view_in_use_ = View::kTransaction;
  ViewSnapshot snapshot_;        // Of the view in use.
  ViewSnapshot other_snapshot_;  // Of the other view.
  // The newest commit that was read before it was durable; plain reads are at least this new.
  SequenceNumber seen_ = 0;
  std::vector<SequenceNumber> floors_;  // Registered snapshots that tracked keys rely on.
  TrackedKeys tracked_;
  VisibleIters iterators_;

  WriteSet writes_;
  SpillSet spilled_;
  std::vector<LoadedFile> loaded_;         // Until Prepare.
  std::vector<OpenSavepoint> savepoints_;  // Ascending.

  std::string record_;              // From Prepare on.
  std::vector<IngestFile> ingest_;  // From Prepare on: files of a spilled write set and of loads.
  bool logged_ = false;             // The record may be in the WAL: its files must stay.
  SequenceNumber commit_sequence_ = 0;

  Kind kind_ = Kind::kCommit;  // The current request to the pipeline.
  uint64_t prepared_id_ = 0;   // Prepared under name_: its id in the log.
  std::string name_;
  uint64_t log_segment_ = 0;  // The segment of its prepare, or an earlier one.
  bool ordered_ = false;      // OrderCommit put it in the pipeline's queue.

  uint64_t memory_reported_ = 0;
  uint64_t memory_at_last_look_ = 0;  // Of all transactions, when MustSpill last looked.
};

}  // namespace tidesdb
