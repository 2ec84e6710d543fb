#include "io/file_names.h"

#include <algorithm>
#include <cstdio>

namespace tidesdb {
namespace {

constexpr Slice kManifestPrefix = "MANIFEST-";

struct Suffix {
  FileKind kind;
  Slice text;
};
constexpr Suffix kSuffixes[] = {
    {FileKind::kWal, ".wal"},
    {FileKind::kTable, ".tdb"},
    {FileKind::kVlog, ".vlog"},
    {FileKind::kSpill, ".spill"},
};

std::string Digits(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "%06llu", static_cast<unsigned long long>(number));
  return text;
}

// Accepts exactly what Digits writes, so that no two names mean the same file.
std::optional<uint64_t> ParseDigits(Slice text) {
  if (text.empty() || text.size() > 19) return std::nullopt;  // 10^19 - 1 still fits.
  uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  if (Digits(number) != text) return std::nullopt;
  return number;
}

std::string Numbered(Slice dir, uint64_t number, Slice suffix) {
  return JoinPath(dir, Digits(number) + std::string(suffix));
}

}  // namespace

const char* FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kOther:
      return "other";
    case FileKind::kLock:
      return "lock";
    case FileKind::kCurrent:
      return "current";
    case FileKind::kManifest:
      return "manifest";
    case FileKind::kWal:
      return "wal";
    case FileKind::kTable:
      return "table";
    case FileKind::kVlog:
      return "vlog";
    case FileKind::kSpill:
      return "spill";
    case FileKind::kLog:
      return "log";
    case FileKind::kTemp:
      return "temp";
    case FileKind::kSynced:
      return "synced";
    case FileKind::kWarm:
      return "warm";
  }
  return "unknown";
}

ParsedFileName ParseFileName(Slice name) {
  if (name == "LOCK") return {FileKind::kLock, 0};
  if (name == "LOG") return {FileKind::kLog, 0};
  if (name == "CURRENT") return {FileKind::kCurrent, 0};
  if (name == "SYNCED") return {FileKind::kSynced, 0};
  if (name == "WARM") return {FileKind::kWarm, 0};
  if (name.starts_with(kManifestPrefix)) {
    const auto number = ParseDigits(name.substr(kManifestPrefix.size()));
    return number ? ParsedFileName{FileKind::kManifest, *number} : ParsedFileName{};
  }
  if (name.ends_with(".tmp")) {
    const auto number = ParseDigits(name.substr(0, name.size() - 4));
    return {FileKind::kTemp, number.value_or(0)};
  }
  for (const Suffix& suffix : kSuffixes) {
    if (!name.ends_with(suffix.text)) continue;
    const auto number = ParseDigits(name.substr(0, name.size() - suffix.text.size()));
    return number ? ParsedFileName{suffix.kind, *number} : ParsedFileName{};
  }
  return {};
}

std::string JoinPath(Slice dir, Slice name) {
  std::string path(dir);
  if (!path.empty() && path.back() != '/') path += '/';
  path += name;
  return path;
}

Slice BaseName(Slice path) {
  const size_t slash = path.rfind('/');
  return slash == Slice::npos ? path : path.substr(slash + 1);
}

std::string DirName(Slice path) {
  const size_t slash = path.rfind('/');
  if (slash == Slice::npos) return ".";
  return std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

std::string LockFileName(Slice dir) { return JoinPath(dir, "LOCK"); }
std::string LogFileName(Slice dir) { return JoinPath(dir, "LOG"); }
std::string CurrentFileName(Slice dir) { return JoinPath(dir, "CURRENT"); }
std::string SyncedFileName(Slice dir) { return JoinPath(dir, "SYNCED"); }
std::string WarmFileName(Slice dir) { return JoinPath(dir, "WARM"); }
std::string ManifestFileName(Slice dir, uint64_t number) {
  return JoinPath(dir, std::string(kManifestPrefix) + Digits(number));
}
std::string WalFileName(Slice dir, uint64_t number) { return Numbered(dir, number, ".wal"); }
std::string TableFileName(Slice dir, uint64_t number) { return Numbered(dir, number, ".tdb"); }
std::string VlogFileName(Slice dir, uint64_t number) { return Numbered(dir, number, ".vlog"); }
std::string SpillFileName(Slice dir, uint64_t number) { return Numbered(dir, number, ".spill"); }
std::string TempFileName(Slice dir, uint64_t number) { return Numbered(dir, number, ".tmp"); }

}  // namespace tidesdb
