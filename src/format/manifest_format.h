// The manifest's records: changes of the database's structure, to bytes and back; pure.
//
// Format: docs/format/manifest.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/internal_key.h"
#include "format/table_properties.h"
#include "tidesdb/options.h"
#include "tidesdb/result.h"

namespace tidesdb {

// Levels of a family's table files: level 0 holds whole flushes that may overlap, the others are
// sorted runs.
constexpr int kLevels = 7;

constexpr uint32_t kManifestFormatVersion = 2;

// The manifest's record of a table file.
struct FileRecord {
  uint64_t number = 0;
  uint64_t bytes = 0;
  // Not 0: the sequence of every entry, whatever the file itself says (a spilled write set).
  SequenceNumber global_sequence = 0;
  // Sequences are the effective ones, so global_sequence if there is one.
  TableProperties properties;

  friend bool operator==(const FileRecord&, const FileRecord&) = default;
};

// One atomic change. It is applied in this order: drop families, create families; erase catalog
// entries, put them; remove files, add them; set numbers.
struct VersionEdit {
  struct NewFamily {
    FamilyId id = 0;
    ColumnFamilyOptions options;
  };
  struct AddedFile {
    int level = 0;
    FileRecord file;  // The family is file.properties.family.
  };
  struct RemovedFile {
    FamilyId family = 0;
    int level = 0;
    uint64_t number = 0;
  };

  std::vector<FamilyId> drop_families;
  std::vector<NewFamily> create_families;
  std::vector<std::string> catalog_erase;
  std::vector<std::pair<std::string, std::string>> catalog_put;
  std::vector<RemovedFile> remove_files;
  std::vector<AddedFile> add_files;
  std::optional<uint64_t> next_file_number;
  std::optional<FamilyId> next_family_id;
  // Every commit up to this one is in table files; replay skips it.
  std::optional<SequenceNumber> flushed_sequence;
  // The first WAL segment that can hold later commits; replay starts there.
  std::optional<uint64_t> wal_segment_min;
};

// --- The payload of a record ---
std::string EncodeVersionEdit(const VersionEdit& edit);
// Accepts any bytes. `path` and `offset` (of the payload in the file) are for messages.
Result<VersionEdit> DecodeVersionEdit(Slice payload, std::string_view path, uint64_t offset);
// For golden tests and the `tidesdb` tool: one line for each field, in file order.
std::string DescribeVersionEdit(const VersionEdit& edit);

// --- The file around the records ---
// Header, then (record, seal)*. A seal is written after the record before it was synced. It carries
// no data, but proves that everything before it was once complete.
constexpr size_t kManifestHeaderBytes = 20;        // magic 8, format version 4, checksum 8
constexpr size_t kManifestRecordHeaderBytes = 16;  // marker 4, payload length 4, checksum 8
constexpr size_t kManifestSealBytes = 16;          // marker 4, zero 4, checksum 8

// The maximum of a record's length field.
constexpr uint64_t kManifestRecordBytesMax = UINT32_MAX;

std::string EncodeManifestHeader();
// Appends a whole record, header and payload. `record_offset`: its place in the file, which is part
// of its checksum.
void AppendManifestRecord(std::string* out, uint64_t record_offset, Slice payload);
// Appends the seal of the record that starts at `record_offset`.
void AppendManifestSeal(std::string* out, uint64_t record_offset);

struct ManifestContents {
  std::vector<VersionEdit> edits;  // At least one: the state the file started with.
  uint64_t dropped_bytes = 0;      // Of a torn tail: an incomplete last record. 0: none.
};
// Reads a whole manifest.
// Errors: kCorruption (a synced record is damaged, as later data proves; names path and offset),
// kNotSupported (a newer format).
Result<ManifestContents> ParseManifest(Slice file, std::string_view path);

// --- CURRENT: the name of the current manifest, with a checksum ---
std::string EncodeCurrent(uint64_t manifest_number);
Result<uint64_t> ParseCurrent(Slice file, std::string_view path);

}  // namespace tidesdb
