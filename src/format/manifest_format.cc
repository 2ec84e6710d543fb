#include "format/manifest_format.h"

#include <bit>

#include "base/coding.h"
#include "base/failpoint.h"

namespace tidesdb {
namespace {

// Stored on disk; never renumber.
enum class Field : uint8_t {
  kDropFamily = 1,
  kCreateFamily = 2,
  kCatalogErase = 3,
  kCatalogPut = 4,
  kRemoveFile = 5,
  kAddFile = 6,
  kNextFileNumber = 7,
  kNextFamilyId = 8,
  kFlushedSequence = 9,
  kWalSegmentMin = 10,
};

void PutField(std::string* out, Field field) { out->push_back(static_cast<char>(field)); }

void PutOptions(std::string* out, const ColumnFamilyOptions& options) {
  std::string body;
  PutLengthPrefixed(&body, options.name);
  body.push_back(static_cast<char>(options.compression));
  PutVarint32(&body, options.block_bytes);
  body.push_back(options.bloom_filter ? 1 : 0);
  PutFixed64(&body, std::bit_cast<uint64_t>(options.bloom_fpr));
  PutVarint32(&body, static_cast<uint32_t>(options.level0_file_trigger));
  PutVarint32(&body, static_cast<uint32_t>(options.level_size_ratio));
  PutVarint64(&body, options.target_file_bytes);
  PutVarint32(&body, static_cast<uint32_t>(options.tombstone_density_trigger));
  PutVarint64(&body, options.tombstone_density_min_entries);
  PutLengthPrefixed(out, body);
}

void PutFile(std::string* out, const VersionEdit::AddedFile& added) {
  const TableProperties& p = added.file.properties;
  PutVarint32(out, p.family);
  PutVarint32(out, static_cast<uint32_t>(added.level));
  PutVarint64(out, added.file.number);
  PutVarint64(out, added.file.bytes);
  PutVarint64(out, added.file.global_sequence);
  for (const uint64_t number :
       {p.entries, p.keys, p.tombstones, p.raw_key_bytes, p.raw_value_bytes, p.data_blocks,
        p.sequence_min, p.sequence_max, p.tombstone_sequence_min}) {
    PutVarint64(out, number);
  }
  PutLengthPrefixed(out, p.key_min);
  PutLengthPrefixed(out, p.key_max);
}

bool GetLevel(Slice* in, int* level) {
  uint32_t number = 0;
  if (!GetVarint32(in, &number)) return false;
  if (number >= kLevels && !TIDESDB_PLANTED("manifest_any_level")) return false;
  *level = static_cast<int>(number);
  return true;
}

bool GetString(Slice* in, std::string* out) {
  Slice bytes;
  if (!GetLengthPrefixed(in, &bytes)) return false;
  out->assign(bytes);
  return true;
}

bool GetFlag(Slice* in, bool* flag) {
  uint8_t byte = 0;
  if (!GetByte(in, &byte) || byte > 1) return false;
  *flag = byte == 1;
  return true;
}

bool GetSmallInt(Slice* in, int* value) {
  uint32_t number = 0;
  if (!GetVarint32(in, &number) || number > INT32_MAX) return false;
  *value = static_cast<int>(number);
  return true;
}

bool GetOptions(Slice* in, ColumnFamilyOptions* options) {
  Slice body;
  if (!GetLengthPrefixed(in, &body)) return false;
  uint8_t compression = 0;
  uint64_t fpr_bits = 0;
  if (!GetString(&body, &options->name) || !GetByte(&body, &compression) ||
      compression > static_cast<uint8_t>(Compression::kZstd) ||
      !GetVarint32(&body, &options->block_bytes) || !GetFlag(&body, &options->bloom_filter) ||
      !GetFixed64(&body, &fpr_bits) || !GetSmallInt(&body, &options->level0_file_trigger) ||
      !GetSmallInt(&body, &options->level_size_ratio) ||
      !GetVarint64(&body, &options->target_file_bytes)) {
    return false;
  }
  options->compression = static_cast<Compression>(compression);
  options->bloom_fpr = std::bit_cast<double>(fpr_bits);
  // Version 1 ends here; the rest has its defaults.
  if (body.empty()) return true;
  return GetSmallInt(&body, &options->tombstone_density_trigger) &&
         GetVarint64(&body, &options->tombstone_density_min_entries) && body.empty();
}

bool GetFile(Slice* in, VersionEdit::AddedFile* added) {
  TableProperties& p = added->file.properties;
  if (!GetVarint32(in, &p.family) || !GetLevel(in, &added->level) ||
      !GetVarint64(in, &added->file.number) || !GetVarint64(in, &added->file.bytes) ||
      !GetVarint64(in, &added->file.global_sequence)) {
    return false;
  }
  for (uint64_t* number :
       {&p.entries, &p.keys, &p.tombstones, &p.raw_key_bytes, &p.raw_value_bytes, &p.data_blocks,
        &p.sequence_min, &p.sequence_max, &p.tombstone_sequence_min}) {
    if (!GetVarint64(in, number)) return false;
  }
  return GetString(in, &p.key_min) && GetString(in, &p.key_max);
}

bool GetOptional64(Slice* in, std::optional<uint64_t>* out) {
  uint64_t number = 0;
  if (!GetVarint64(in, &number)) return false;
  *out = number;
  return true;
}

// Takes one field. False if the bytes are wrong.
bool GetField(Slice* in, VersionEdit* edit) {
  uint8_t tag = 0;
  if (!GetByte(in, &tag)) return false;
  switch (static_cast<Field>(tag)) {
    case Field::kDropFamily:
      return GetVarint32(in, &edit->drop_families.emplace_back());
    case Field::kCreateFamily: {
      VersionEdit::NewFamily& family = edit->create_families.emplace_back();
      return GetVarint32(in, &family.id) && GetOptions(in, &family.options);
    }
    case Field::kCatalogErase:
      return GetString(in, &edit->catalog_erase.emplace_back());
    case Field::kCatalogPut: {
      auto& [name, value] = edit->catalog_put.emplace_back();
      return GetString(in, &name) && GetString(in, &value);
    }
    case Field::kRemoveFile: {
      VersionEdit::RemovedFile& file = edit->remove_files.emplace_back();
      return GetVarint32(in, &file.family) && GetLevel(in, &file.level) &&
             GetVarint64(in, &file.number);
    }
    case Field::kAddFile:
      return GetFile(in, &edit->add_files.emplace_back());
    case Field::kNextFileNumber:
      return GetOptional64(in, &edit->next_file_number);
    case Field::kNextFamilyId: {
      FamilyId id = 0;
      if (!GetVarint32(in, &id)) return false;
      edit->next_family_id = id;
      return true;
    }
    case Field::kFlushedSequence:
      return GetOptional64(in, &edit->flushed_sequence);
    case Field::kWalSegmentMin:
      return GetOptional64(in, &edit->wal_segment_min);
  }
  return false;
}

}  // namespace

std::string EncodeVersionEdit(const VersionEdit& edit) {
  std::string out;
  for (const FamilyId family : edit.drop_families) {
    PutField(&out, Field::kDropFamily);
    PutVarint32(&out, family);
  }
  for (const VersionEdit::NewFamily& family : edit.create_families) {
    PutField(&out, Field::kCreateFamily);
    PutVarint32(&out, family.id);
    PutOptions(&out, family.options);
  }
  for (const std::string& name : edit.catalog_erase) {
    PutField(&out, Field::kCatalogErase);
    PutLengthPrefixed(&out, name);
  }
  for (const auto& [name, value] : edit.catalog_put) {
    PutField(&out, Field::kCatalogPut);
    PutLengthPrefixed(&out, name);
    PutLengthPrefixed(&out, value);
  }
  for (const VersionEdit::RemovedFile& file : edit.remove_files) {
    PutField(&out, Field::kRemoveFile);
    PutVarint32(&out, file.family);
    PutVarint32(&out, static_cast<uint32_t>(file.level));
    PutVarint64(&out, file.number);
  }
  for (const VersionEdit::AddedFile& added : edit.add_files) {
    PutField(&out, Field::kAddFile);
    PutFile(&out, added);
  }
  const auto put_number = [&out](Field field, std::optional<uint64_t> number) {
    if (!number) return;
    PutField(&out, field);
    PutVarint64(&out, *number);
  };
  put_number(Field::kNextFileNumber, edit.next_file_number);
  put_number(Field::kNextFamilyId, edit.next_family_id);
  put_number(Field::kFlushedSequence, edit.flushed_sequence);
  put_number(Field::kWalSegmentMin, edit.wal_segment_min);
  return out;
}

Result<VersionEdit> DecodeVersionEdit(Slice payload, std::string_view path, uint64_t offset) {
  VersionEdit edit;
  Slice in = payload;
  while (!in.empty()) {
    const uint64_t field_offset = offset + (payload.size() - in.size());
    if (!GetField(&in, &edit)) {
      return Status::Corruption(
          std::string(path) + " at offset " + std::to_string(field_offset) +
          ": not a field of a manifest record, although the checksum is right");
    }
  }
  return edit;
}

namespace {

// Keys are bytes; shows printable ones as they are and the rest as \xNN.
std::string Printable(Slice bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte > 0x20 && byte < 0x7f && c != '\\') {
      out.push_back(c);
    } else {
      out.append("\\x").push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

void DescribeFile(std::string* out, const VersionEdit::AddedFile& added) {
  const TableProperties& p = added.file.properties;
  const auto number = [out](const char* label, uint64_t value) {
    out->append(label).append(std::to_string(value));
  };
  number("add file ", added.file.number);
  number(" to family ", p.family);
  number(" level ", static_cast<uint64_t>(added.level));
  number(" bytes=", added.file.bytes);
  if (added.file.global_sequence != 0) number(" global_sequence=", added.file.global_sequence);
  number(" entries=", p.entries);
  number(" keys=", p.keys);
  number(" tombstones=", p.tombstones);
  number(" raw_key_bytes=", p.raw_key_bytes);
  number(" raw_value_bytes=", p.raw_value_bytes);
  number(" data_blocks=", p.data_blocks);
  number(" sequences=", p.sequence_min);
  number("..", p.sequence_max);
  if (p.tombstone_sequence_min != 0) number(" tombstone_sequence_min=", p.tombstone_sequence_min);
  out->append(" keys=[" + Printable(p.key_min) + " " + Printable(p.key_max) + "]\n");
}

}  // namespace

std::string DescribeVersionEdit(const VersionEdit& edit) {
  std::string out;
  for (const FamilyId family : edit.drop_families) {
    out += "drop family " + std::to_string(family) + "\n";
  }
  for (const auto& [id, options] : edit.create_families) {
    out += "create family " + std::to_string(id) + " name=" + Printable(options.name) +
           " compression=" + std::to_string(static_cast<int>(options.compression)) +
           " block_bytes=" + std::to_string(options.block_bytes) +
           " bloom_fpr=" + (options.bloom_filter ? std::to_string(options.bloom_fpr) : "off") +
           " level0_file_trigger=" + std::to_string(options.level0_file_trigger) +
           " level_size_ratio=" + std::to_string(options.level_size_ratio) +
           " target_file_bytes=" + std::to_string(options.target_file_bytes);
    if (options.tombstone_density_trigger > 0) {
      out +=
          " tombstone_density_trigger=" + std::to_string(options.tombstone_density_trigger) +
          " tombstone_density_min_entries=" + std::to_string(options.tombstone_density_min_entries);
    }
    out += "\n";
  }
  for (const std::string& name : edit.catalog_erase) out += "erase " + Printable(name) + "\n";
  for (const auto& [name, value] : edit.catalog_put) {
    out += "put " + Printable(name) + " = " + Printable(value) + "\n";
  }
  for (const VersionEdit::RemovedFile& file : edit.remove_files) {
    out += "remove file " + std::to_string(file.number) + " from family " +
           std::to_string(file.family) + " level " + std::to_string(file.level) + "\n";
  }
  for (const VersionEdit::AddedFile& added : edit.add_files) DescribeFile(&out, added);
  const auto number = [&out](const char* label, std::optional<uint64_t> value) {
    if (value) out += label + std::to_string(*value) + "\n";
  };
  number("next_file_number ", edit.next_file_number);
  number("next_family_id ", edit.next_family_id);
  number("flushed_sequence ", edit.flushed_sequence);
  number("wal_segment_min ", edit.wal_segment_min);
  return out;
}

}  // namespace tidesdb
