#include "writes/spill_run.h"

#include <algorithm>

#include "base/failpoint.h"
#include "table/table_writer.h"

namespace tidesdb {
namespace {

// Writes the versions of one key that a run keeps, newest first.
Status AddKey(TableWriter* writer, const WriteNode& node, const std::vector<uint64_t>& savepoints) {
  const WriteOp* op = node.newest;
  while (op != nullptr) {
    TIDESDB_TRY(writer->Add(node.key(), PackTrailer(op->number, op->type), op->value()));
    // The newest savepoint before this operation needs the previous version.
    auto it = std::lower_bound(savepoints.begin(), savepoints.end(), op->number);
    if (it == savepoints.begin()) break;
    const uint64_t position = *std::prev(it);
    while (op != nullptr && op->number > position) op = op->older;
  }
  return Status::Ok();
}

}  // namespace

Result<std::shared_ptr<const SpillRun>> SpillRun::Write(const SpillContext& context,
                                                        const FamilyWrites& writes,
                                                        const std::vector<uint64_t>& savepoints,
                                                        const SpillRun* last) {
  const bool in_order =
      last == nullptr || (last->in_order_ && writes.First()->key() > last->properties().key_max);
  auto run = std::make_shared<SpillRun>(context, context.env->NewFileNumber(), in_order);
  TIDESDB_TRY(run->WriteFile(writes, savepoints));
  return std::shared_ptr<const SpillRun>(std::move(run));
}

Status SpillRun::WriteFile(const FamilyWrites& writes, const std::vector<uint64_t>& savepoints) {
  TIDESDB_FAILPOINT_STATUS("spill_write_run");
  {
    TIDESDB_ASSIGN(auto file, context_.fs->NewWritableFile(path_, OpenMode::kCreate));
    TableWriteOptions options = context_.env->TableOptionsOf(writes.family());
    if (!in_order_) {
      options.compression = Compression::kNone;
      options.temporary = true;
    }
    auto writer = NewTableWriter(options, std::move(file), path_);
    TIDESDB_TRY(writes.ForEach(
        [&](const WriteNode& node) { return AddKey(writer.get(), node, savepoints); }));
    TIDESDB_TRY(writer->Finish().status());
    file_bytes_ = writer->FileBytes();
  }
  TIDESDB_ASSIGN(reader_, TableReader::Open(context_.files->NewFile(path_, file_bytes_), path_,
                                            number_, 0, context_.cache));
  return Status::Ok();
}

Result<bool> SpillRun::Get(Slice key, const VoidedOps* voided, VersionHit* hit) const {
  // What was rolled back before the run was written is not in it: of its operations the voided ones are
  // the last, so all up to the newest live one are live.
  const uint64_t op_max = voided == nullptr ? kSequenceMax : voided->LiveAtMost(this->op_max());
  if (op_max < op_min()) return false;
  TIDESDB_ASSIGN(const bool found, reader_->Get(TableReadOptions(), key, op_max, hit));
  DCHECK(!found || voided == nullptr || voided->LiveAtMost(hit->sequence) == hit->sequence);
  return found;
}

Result<bool> SpillRun::Intersects(Slice start, Slice end) const {
  if (!end.empty() && Slice(properties().key_min) >= end) return false;
  if (Slice(properties().key_max) < start) return false;
  auto it = reader_->NewIterator(TableReadOptions());
  it->Seek(start, kTrailerMax);
  if (!it->Valid()) {
    TIDESDB_TRY(it->status());
    return false;
  }
  return end.empty() || it->user_key() < end;
}

std::unique_ptr<VersionCursor> SpillRun::NewCursor(const VoidedOps* voided,
                                                   const InterruptCheck* interrupt) const {
  Visibility visibility;
  visibility.voided = voided;
  // Only one transaction reads its writes, and only until its end: keep them out of others' cache.
  TableReadOptions options;
  options.fill_cache = false;
  return std::make_unique<VersionCursor>(reader_->NewIterator(options), visibility,
                                         VersionCursor::Tombstones::kShow, interrupt);
}

SpillRun::~SpillRun() {
  reader_.reset();
  if (context_.cache != nullptr) context_.cache->EraseFiles({number_});
  // A file that cannot be deleted now is deleted when the database is opened.
  context_.fs->Delete(path_).IgnoreError();
}

}  // namespace tidesdb
