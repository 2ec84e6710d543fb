#include "server/instruments.h"

#include "base/server_port.h"

#include <mysql/psi/mysql_file.h>
#include <mysql/psi/mysql_thread.h>

#include <new>
#include <string_view>

#include "base/latch.h"
#include "base/stage.h"
#include "base/wait.h"

namespace tidesdb::plugin {
namespace {

PSI_file_key file_keys[kWatchedFileKinds];
PSI_thread_key flush_key;
PSI_thread_key compaction_key;
PSI_thread_key read_key;
PSI_thread_key warm_key;
PSI_thread_key statistics_key;
PSI_thread_key ticker_key;

void RegisterKeys() {
  RegisterLatches();
  RegisterStages();
  RegisterWaits();
  static_assert(static_cast<size_t>(WatchedFile::kOther) + 1 == kWatchedFileKinds);
  PSI_file_info files[] = {{&file_keys[0], "log", 0},
                           {&file_keys[1], "table", 0},
                           {&file_keys[2], "spill", 0},
                           {&file_keys[3], "manifest", 0},
                           {&file_keys[4], "other", 0}};
  mysql_file_register("tidesdb", files, kWatchedFileKinds);
  PSI_thread_info threads[] = {
      {&flush_key, "flush", 0}, {&compaction_key, "compaction", 0}, {&read_key, "read", 0},
      {&warm_key, "warm", 0},   {&statistics_key, "statistics", 0}, {&ticker_key, "ticker", 0}};
  mysql_thread_register("tidesdb", threads, 6);
}

PSI_file_operation OperationOf(FileAction action) {
  switch (action) {
    case FileAction::kOpen:
      return PSI_FILE_STREAM_OPEN;
    case FileAction::kClose:
      return PSI_FILE_STREAM_CLOSE;
    case FileAction::kRead:
      return PSI_FILE_READ;
    case FileAction::kWrite:
      return PSI_FILE_WRITE;
    case FileAction::kSync:
      return PSI_FILE_SYNC;
    case FileAction::kResize:
      return PSI_FILE_CHSIZE;
    case FileAction::kDelete:
      break;
  }
  return PSI_FILE_DELETE;
}

WaitOf ConditionOf(WatchedWait wait) {
  static_assert(static_cast<size_t>(WatchedWait::kBackground) + 1 == kWatchedWaitKinds);
  static_assert(static_cast<size_t>(WaitOf::kEnd) == kWatchedWaitKinds + 1);
  return static_cast<WaitOf>(static_cast<size_t>(wait) + 1);
}

// A FileCall's `file` is a PSI_file, its `place` a PSI_file_locker. A WaitCall's
// `state` holds a Wait.
class PerformanceSchema final : public Instruments {
 public:
  void ThreadBegins(const char* name) noexcept override {
    const std::string_view kind = name;
    PSI_thread_key key = ticker_key;
    if (kind.starts_with("tdb-flush")) key = flush_key;
    if (kind.starts_with("tdb-compact")) key = compaction_key;
    if (kind.starts_with("tdb-read")) key = read_key;
    if (kind.starts_with("tdb-warm")) key = warm_key;
    if (kind.starts_with("tdb-stats")) key = statistics_key;
    PSI_thread* const thread = PSI_THREAD_CALL(new_thread)(key, nullptr, 0);
    PSI_THREAD_CALL(set_thread_os_id)(thread);
    PSI_THREAD_CALL(set_thread)(thread);
  }
  void ThreadEnds() noexcept override { PSI_THREAD_CALL(delete_current_thread)(); }

  void CallBegins(FileCall* call) noexcept override {
    static_assert(sizeof(PSI_file_locker_state) <= sizeof call->state);
    auto* const state = reinterpret_cast<PSI_file_locker_state*>(call->state);
    const PSI_file_operation operation = OperationOf(call->action);
    PSI_file_locker* locker;
    if (call->action == FileAction::kOpen || call->action == FileAction::kDelete) {
      locker = PSI_FILE_CALL(get_thread_file_name_locker)(
          state, file_keys[static_cast<size_t>(call->kind)], operation, call->path, call);
    } else {
      locker = PSI_FILE_CALL(get_thread_file_stream_locker)(
          state, static_cast<PSI_file*>(call->file), operation);
    }
    call->place = locker;
    if (locker == nullptr) return;
    if (call->action == FileAction::kOpen) {
      PSI_FILE_CALL(start_file_open_wait)(locker, __FILE__, __LINE__);
    } else if (Ends(*call)) {
      PSI_FILE_CALL(start_file_close_wait)(locker, __FILE__, __LINE__);
    } else {
      PSI_FILE_CALL(start_file_wait)(locker, call->bytes_max, __FILE__, __LINE__);
    }
  }
  void CallEnds(FileCall* call) noexcept override {
    auto* const locker = static_cast<PSI_file_locker*>(call->place);
    if (locker == nullptr) return;
    if (call->action == FileAction::kOpen) {
      call->file = PSI_FILE_CALL(end_file_open_wait)(locker, call->ok ? call : nullptr);
    } else if (Ends(*call)) {
      PSI_FILE_CALL(end_file_close_wait)(locker, call->ok ? 0 : 1);
    } else {
      PSI_FILE_CALL(end_file_wait)(locker, call->bytes);
    }
  }

  void WaitBegins(WaitCall* wait) noexcept override {
    static_assert(sizeof(Wait) <= sizeof wait->state);
    auto* const begun = new (wait->state) Wait;
    begun->Begin(ConditionOf(wait->what));
    wait->place = begun;
  }
  void WaitEnds(WaitCall* wait) noexcept override { static_cast<Wait*>(wait->place)->End(); }

 private:
  static bool Ends(const FileCall& call) {
    return call.action == FileAction::kClose || call.action == FileAction::kDelete;
  }
};

}  // namespace

Instruments* RegisterInstruments() {
  RegisterKeys();
  // Without performance_schema no key was assigned.
  if (file_keys[0] == 0) return nullptr;
  static PerformanceSchema instruments;
  return &instruments;
}

}  // namespace tidesdb::plugin
