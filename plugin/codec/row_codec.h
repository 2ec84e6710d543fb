// Turns a record buffer of the server into the bytes of a row, and back for the requested columns.
//
// Of the server it knows only the layout of record buffers, which Column describes.
// Format: docs/format/row.md.
// Threads: a RowCodec is constant after Build(); a RowPlan belongs to one reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/row_history.h"
#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb::plugin {

// The place of a column in a record buffer.
struct Column {
  enum class Layout : uint8_t {
    kFixed,    // `bytes` bytes.
    kPadded,   // `bytes` bytes; trailing `pad` bytes are not stored.
    kVarying,  // length_bytes bytes of length, then at most `bytes` bytes.
    kBlob,     // length_bytes bytes of length, then a pointer.
  };
  Layout layout = Layout::kFixed;
  uint8_t length_bytes = 0;
  uint8_t pad = 0;
  uint8_t null_mask = 0;     // 0: a NOT NULL column.
  uint32_t null_offset = 0;  // Of the byte that contains null_mask.
  uint32_t offset = 0;
  uint32_t bytes = 0;
  bool stored = true;  // False: only in the key, or computed on reading.
};

inline bool IsNull(const Column& column, const uint8_t* record) {
  return column.null_mask != 0 && (record[column.null_offset] & column.null_mask) != 0;
}

// The raw bytes of a column's value. The view lives as long as the record, or as the data of a blob.
// REQUIRES: the column is not NULL.
Slice RawValue(const Column& column, const uint8_t* record);

// Puts raw bytes into a record. A blob gets a pointer to raw, which must outlive the use of the record.
// Returns: false if they do not fit; the record is unchanged then.
bool StoreRawValue(const Column& column, Slice raw, uint8_t* record);

// A value that is stored apart from its row, under its own key.
struct ApartValue {
  static constexpr uint32_t kNoColumn = ~0U;

  uint32_t column = kNoColumn;  // In RowCodec::columns(); kNoColumn: of a dropped one.
  uint32_t bytes = 0;           // Its length.
  uint64_t id = 0;              // 0: none; the row itself holds the value.
};

class RowCodec {
 public:
  // null_bytes: the number of null-bit bytes at the start of the record. defaults: the record of default values,
  // which lives as long as this object. Null bits and bytes of NULLs that no row determines are taken from it.
  void Build(std::vector<Column> columns, uint32_t null_bytes, const uint8_t* defaults);

  // The form of the rows for the table's history; without ids.
  RowVersion Describe() const;
  // The columns that rows hold, as indexes into columns(), in the order of Describe().
  std::vector<uint32_t> StoredColumns() const;

  // Sets all forms that rows have, and the form of this table. history outlives the use of this object.
  // Errors: kCorruption if that version has other columns; then only rows of the first version can be read.
  Status SetHistory(const RowHistory* history, uint32_t version);

  // Values with more bytes are stored apart in rows written from now on; 0: none.
  void SetApartOver(uint64_t bytes);
  bool LiesApart(Slice value) const { return apart_over_ != 0 && value.size() > apart_over_; }
  // Columns that can have such long values, as indexes into columns().
  const std::vector<uint32_t>& long_columns() const { return long_columns_; }

  const std::vector<Column>& columns() const { return columns_; }
  // Whether a stored column is a blob, so that decoded records point into the row.
  bool has_blobs() const { return has_blobs_; }

  // Replaces *row. NULL columns take no bytes, except that those of fixed size keep their place. apart: an entry
  // for each column, or empty for none; an entry with an id replaces the value, whatever the record has.
  void Encode(const uint8_t* record, const std::vector<ApartValue>& apart, std::string* row) const;
  void Encode(const uint8_t* record, std::string* row) const { Encode(record, {}, row); }

  // A mark on an encoded row: when it was put, no older row had its key, except a deleted one. So a single deletion
  // of it brings nothing back. Encode() writes none.
  static void MarkPutOnce(std::string* row);
  static bool IsPutOnce(Slice row);

  // Lists all values of a row that lie apart, also those of dropped columns. Replaces *apart.
  // Errors: kCorruption, kNotSupported.
  Status ListApart(Slice row, std::vector<ApartValue>* apart) const;

  // Whether all stored columns have the same bytes in both records.
  bool SameRow(const uint8_t* a, const uint8_t* b) const;

 private:
  friend class RowPlan;

  // What precedes a row's null bits.
  struct Header {
    uint32_t version = 0;
    bool wide = false;
    Slice apart;  // One bit for each varying column.
    Slice body;
  };
  // The places of a body's parts.
  struct Form {
    uint32_t null_bytes = 0;
    uint32_t fixed_bytes = 0;
    uint32_t varying = 0;
  };

  static Status ReadHeader(Slice row, Header* header);
  static bool IsApart(const Header& header, uint32_t place);
  static bool FitsIn(const Header& header, const Form& form);
  static bool VaryingValue(const Header& header, const Form& form, uint32_t place, Slice* value);
  static Status TakeApart(Slice reference, uint32_t column, std::vector<ApartValue>* apart);
  static Form FormOf(const RowVersion& version);
  Form OwnForm() const;
  uint32_t ColumnOfId(uint32_t id) const;

  std::vector<Column> columns_;
  std::vector<uint32_t> fixed_;      // Columns in the fixed part, in order.
  std::vector<uint32_t> varying_;    // Columns in the varying part, in order.
  std::vector<uint8_t> null_masks_;  // For each null byte: the bits of stored columns.
  uint64_t apart_over_ = 0;
  std::vector<uint32_t> long_columns_;
  const uint8_t* defaults_ = nullptr;
  uint32_t null_bytes_ = 0;
  uint32_t fixed_bytes_ = 0;
  bool has_blobs_ = false;
  const RowHistory* history_ = nullptr;  // Null: there is only one version.
  uint32_t version_ = 0;                 // Of the rows encoded here.
};

// The columns to decode; prepared once and used for many rows.
class RowPlan {
 public:
  // wanted: one flag for each column.
  void Build(const RowCodec& codec, const std::vector<bool>& wanted);

  // Writes the wanted columns into record. A NULL gets the column's default bytes; null bits of other columns are
  // those of the defaults. Blobs point into row. A value that lies apart becomes empty in the record and is listed
  // in *apart, which is replaced.
  // Errors: kCorruption; the record's contents are undefined then.
  Status Decode(Slice row, uint8_t* record, std::vector<ApartValue>* apart) const;

  // Whether a wanted column is a blob.
  bool wants_blobs() const { return wants_blobs_; }

 private:
  struct Copy {
    uint32_t from;
    uint32_t to;
    uint32_t bytes;
  };

  // The place of a wanted column in rows of another version.
  struct Source {
    uint32_t column = 0;              // In codec_->columns().
    const RowColumn* held = nullptr;  // Null: those rows do not hold it.
    const ColumnDefault* instead = nullptr;
    uint32_t place = 0;  // Of fixed size: the offset after the header; else its number.
  };
  struct OtherVersion {
    bool made = false;
    RowCodec::Form form;
    std::vector<Source> sources;
  };

  bool DecodeNullBits(const char* nulls, uint8_t* record) const;
  void FillNull(const Column& column, uint8_t* record) const;
  void FillNulls(uint8_t* record) const;
  Status DecodeVarying(const RowCodec::Header& header, uint8_t* record,
                       std::vector<ApartValue>* apart) const;
  const OtherVersion& Other(uint32_t version) const;
  Status DecodeOther(const RowCodec::Header& header, uint8_t* record,
                     std::vector<ApartValue>* apart) const;
  Status DecodeSource(const OtherVersion& other, const Source& source,
                      const RowCodec::Header& header, uint8_t* record,
                      std::vector<ApartValue>* apart) const;

  const RowCodec* codec_ = nullptr;
  std::vector<uint8_t> null_masks_;  // For each null byte: the bits of wanted columns.
  std::vector<Copy> copies_;         // Neighbours share one copy.
  std::vector<uint32_t> varying_;    // Indexes into codec_->varying_.
  std::vector<uint32_t> nullable_;   // Wanted columns that can be NULL.
  bool wants_blobs_ = false;
  std::vector<uint32_t> stored_;              // Wanted columns that rows hold.
  mutable std::vector<OtherVersion> others_;  // By version; created for the first such row.
};

}  // namespace tidesdb::plugin
