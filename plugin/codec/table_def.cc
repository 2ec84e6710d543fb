#include "codec/table_def.h"

#include "codec/bytes.h"

namespace tidesdb::plugin {
namespace {

// Stored on disk; never renumber.
constexpr uint8_t kFormat = 5;
constexpr uint8_t kFormatWithoutFixedBinary = 4;
constexpr uint8_t kFormatWithoutStarts = 3;
constexpr uint8_t kFormatWithoutValues = 2;
constexpr uint8_t kFormatWithoutHistory = 1;
constexpr uint32_t kHiddenKey = 1;
constexpr uint32_t kTemporary = 2;
constexpr uint32_t kHasWeightsOfStarts = 4;
constexpr uint32_t kHasFixedBinary = 8;

uint8_t FormatOf(const TableDef& def) {
  // Use an older format if it suffices.
  if ((def.key_forms & kFixedBinary) != 0) return kFormat;
  if (def.key_forms != 0) return kFormatWithoutFixedBinary;
  if (def.values_family != 0) return kFormatWithoutStarts;
  const bool altered = !def.frm_version.empty() || !def.history.versions.empty();
  return altered ? kFormatWithoutValues : kFormatWithoutHistory;
}

Status Damaged() { return Status::Corruption("dictionary: a table's entry is damaged"); }

}  // namespace

std::string TableEntryName(Slice name) { return std::string(kTableEntryPrefix).append(name); }

void EncodeTableDef(const TableDef& def, std::string* bytes) {
  const uint8_t format = FormatOf(def);
  bytes->clear();
  bytes->push_back(static_cast<char>(format));
  PutVarint32(bytes, (def.hidden_key ? kHiddenKey : 0) | (def.temporary ? kTemporary : 0) |
                         ((def.key_forms & kWeightsOfStarts) != 0 ? kHasWeightsOfStarts : 0) |
                         ((def.key_forms & kFixedBinary) != 0 ? kHasFixedBinary : 0));
  PutFixed32(bytes, def.primary_family);
  PutFixed64(bytes, def.created_s);
  PutFixed64(bytes, def.auto_increment_base);
  PutFixed32(bytes, def.auto_increment_generation);
  PutVarint32(bytes, static_cast<uint32_t>(def.indexes.size()));
  for (const IndexDef& index : def.indexes) {
    PutFixed32(bytes, index.family);
    PutLengthPrefixed(bytes, index.name);
  }
  if (format == kFormatWithoutHistory) return;
  PutLengthPrefixed(bytes, def.frm_version);
  EncodeRowHistory(def.history, bytes);
  if (format >= kFormatWithoutStarts) PutFixed32(bytes, def.values_family);
}

Result<TableDef> DecodeTableDef(Slice bytes) {
  if (bytes.empty()) return Damaged();
  const auto format = static_cast<uint8_t>(bytes.front());
  if (format < kFormatWithoutHistory || format > kFormat) {
    return Status::NotSupported("dictionary: a table's entry has format " + std::to_string(format) +
                                "; this version reads formats up to " + std::to_string(kFormat));
  }
  bytes.remove_prefix(1);
  TableDef def;
  uint32_t flags;
  uint32_t count;
  if (!TakeVarint32(&bytes, &flags) || !TakeFixed32(&bytes, &def.primary_family) ||
      !TakeFixed64(&bytes, &def.created_s) || !TakeFixed64(&bytes, &def.auto_increment_base) ||
      !TakeFixed32(&bytes, &def.auto_increment_generation) || !TakeVarint32(&bytes, &count)) {
    return Damaged();
  }
  def.hidden_key = (flags & kHiddenKey) != 0;
  def.temporary = (flags & kTemporary) != 0;
  if ((flags & kHasWeightsOfStarts) != 0) def.key_forms |= kWeightsOfStarts;
  if ((flags & kHasFixedBinary) != 0) def.key_forms |= kFixedBinary;
  for (uint32_t i = 0; i < count; i++) {
    IndexDef index;
    Slice name;
    if (!TakeFixed32(&bytes, &index.family) || !TakeLengthPrefixed(&bytes, &name)) return Damaged();
    index.name = name;
    def.indexes.push_back(std::move(index));
  }
  if (format != kFormatWithoutHistory) {
    Slice frm_version;
    if (!TakeLengthPrefixed(&bytes, &frm_version)) return Damaged();
    def.frm_version = frm_version;
    if (!TakeRowHistory(&bytes, &def.history)) return Damaged();
  }
  if (format >= kFormatWithoutStarts && !TakeFixed32(&bytes, &def.values_family)) return Damaged();
  if (FormatOf(def) != format) return Damaged();
  if (!bytes.empty()) return Damaged();
  return def;
}

}  // namespace tidesdb::plugin
