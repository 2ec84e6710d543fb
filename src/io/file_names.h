// Names of the files in a database directory: built from, and parsed into, kind and number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb {

enum class FileKind : uint8_t {
  kOther,     // Not a database file.
  kLock,      // LOCK
  kCurrent,   // CURRENT: names the current manifest.
  kManifest,  // MANIFEST-000001
  kWal,       // 000123.wal
  kTable,     // 000123.tdb
  kVlog,      // 000123.vlog
  kSpill,     // 000123.spill: sorted runs of a large transaction.
  kLog,       // LOG: messages for people.
  kTemp,      // anything.tmp: left by a crash; may be deleted at open.
  kSynced,    // SYNCED: the durable length of the log.
  kWarm,      // WARM: the blocks that the block cache held at the last close.
};
inline constexpr size_t kFileKindCount = 12;

// Returns "wal" and so on. Static storage.
const char* FileKindName(FileKind kind);

struct ParsedFileName {
  FileKind kind = FileKind::kOther;
  uint64_t number = 0;  // 0 for kinds without a number.
};

// name: without directories. Names that this version does not write are kOther.
ParsedFileName ParseFileName(Slice name);

// dir + "/" + name, without doubling the slash.
std::string JoinPath(Slice dir, Slice name);
// The part after the last slash, and the part before it ("." if there is none, "/" for the root).
Slice BaseName(Slice path);
std::string DirName(Slice path);

std::string LockFileName(Slice dir);
std::string LogFileName(Slice dir);
std::string CurrentFileName(Slice dir);
std::string SyncedFileName(Slice dir);
std::string WarmFileName(Slice dir);
std::string ManifestFileName(Slice dir, uint64_t number);
std::string WalFileName(Slice dir, uint64_t number);
std::string TableFileName(Slice dir, uint64_t number);
std::string VlogFileName(Slice dir, uint64_t number);
std::string SpillFileName(Slice dir, uint64_t number);
std::string TempFileName(Slice dir, uint64_t number);

}  // namespace tidesdb
