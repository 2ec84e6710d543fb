// Names of the files in a database directory: built, and parsed back into kind and number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb {

enum class FileKind : uint8_t {
  kOther,     // Not a file of ours.
  kLock,      // LOCK
  kCurrent,   // CURRENT: names the manifest in use.
  kManifest,  // MANIFEST-000001
  kWal,       // 000123.wal
  kTable,     // 000123.tdb
  kVlog,      // 000123.vlog
  kSpill,     // 000123.spill: sorted runs of a large transaction.
  kLog,       // LOG: messages for people.
  kTemp,      // anything.tmp: left over after a crash, may be deleted at open.
  kSynced,    // SYNCED: how far the log is durable.
};
inline constexpr size_t kFileKindCount = 11;

// Returns "wal" and so on. Static storage.
const char* FileKindName(FileKind kind);

struct ParsedFileName {
  FileKind kind = FileKind::kOther;
  uint64_t number = 0;  // 0 for the kinds that have none.
};

// name: without directories. A name that this version does not write is kOther.
ParsedFileName ParseFileName(Slice name);

// dir + "/" + name, without doubling the slash.
std::string JoinPath(Slice dir, Slice name);
// What stands after the last slash, and before it ("." when there is none, "/" for the root).
Slice BaseName(Slice path);
std::string DirName(Slice path);

std::string LockFileName(Slice dir);
std::string LogFileName(Slice dir);
std::string CurrentFileName(Slice dir);
std::string SyncedFileName(Slice dir);
std::string ManifestFileName(Slice dir, uint64_t number);
std::string WalFileName(Slice dir, uint64_t number);
std::string TableFileName(Slice dir, uint64_t number);
std::string VlogFileName(Slice dir, uint64_t number);
std::string SpillFileName(Slice dir, uint64_t number);
std::string TempFileName(Slice dir, uint64_t number);

}  // namespace tidesdb
