// Turns a record buffer of the server into the bytes of a row, and back: only the columns asked
// for.
//
// Knows nothing of the server but the layout of its record buffers, which Column describes.
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

// Where a column lies in a record buffer.
struct Column {
  enum class Layout : uint8_t {
    kFixed,    // `bytes` bytes.
    kPadded,   // `bytes` bytes, of which trailing `pad` bytes are not worth storing.
    kVarying,  // length_bytes bytes of length, then at most `bytes` bytes.
    kBlob,     // length_bytes bytes of length, then a pointer.
  };
  Layout layout = Layout::kFixed;
  uint8_t length_bytes = 0;
  uint8_t pad = 0;
  uint8_t null_mask = 0;     // 0: the column is never NULL.
  uint32_t null_offset = 0;  // Of the byte that null_mask is a bit of.
  uint32_t offset = 0;
  uint32_t bytes = 0;
  bool stored = true;  // False: in the key only, or computed on reading.
};

inline bool IsNull(const Column& column, const uint8_t* record) {
  return column.null_mask != 0 && (record[column.null_offset] & column.null_mask) != 0;
}

// The raw bytes of a column's value. The view lives as long as the record, or what a blob points
// to. REQUIRES: the column is not NULL.
Slice RawValue(const Column& column, const uint8_t* record);

// Puts raw bytes into a record. A blob gets a pointer to raw, which must outlive the record's use.
// Returns: false when they do not fit, and the record is then unchanged.
bool StoreRawValue(const Column& column, Slice raw, uint8_t* record);

// A value that lies apart from its row, under a key of its own.
struct ApartValue {
  static constexpr uint32_t kNoColumn = ~0U;

  uint32_t column = kNoColumn;  // In RowCodec::columns(); kNoColumn: of one that was dropped.
  uint32_t bytes = 0;           // How long it is.
  uint64_t id = 0;              // 0: there is none; the row itself holds the value.
};

class RowCodec {
 public:
  // null_bytes: the record starts with so many bytes of null bits. defaults: the record of default
  // values, which lives as long as this; what no row says, a null bit or the bytes of a NULL, is as
  // there.
  void Build(std::vector<Column> columns, uint32_t null_bytes, const uint8_t* defaults);

  // The form of the rows, for the table's history; without ids.
  RowVersion Describe() const;
  // The columns that rows hold, as indexes into columns(), in the order of Describe().
  std::vector<uint32_t> StoredColumns() const;

  // Which forms rows have, and the one of this table. history: lives as long as this is used.
  // Errors: kCorruption when that version is of other columns; only the first version's rows can be
  // read then.
  Status SetHistory(const RowHistory* history, uint32_t version);

  // Values of more bytes lie apart, in rows that are written from now on; 0: none does.
  void SetApartOver(uint64_t bytes);
  bool LiesApart(Slice value) const { return apart_over_ != 0 && value.size() > apart_over_; }
  // Those whose values may be so long, as indexes into columns().
  const std::vector<uint32_t>& long_columns() const { return long_columns_; }

  const std::vector<Column>& columns() const { return columns_; }
  // Whether any stored column is a blob, so that decoded records point into the row.
  bool has_blobs() const { return has_blobs_; }

  // Replaces *row. Columns that are NULL are stored as nothing; those of fixed size keep their
  // place. apart: a column each, or empty for none; one with an id takes the value's place, whatever
  // the record has.
  void Encode(const uint8_t* record, const std::vector<ApartValue>& apart, std::string* row) const;
  void Encode(const uint8_t* record, std::string* row) const { Encode(record, {}, row); }

  // All values of a row that lie apart, those of dropped columns too. Replaces *apart.
  // Errors: kCorruption, kNotSupported.
  Status ListApart(Slice row, std::vector<ApartValue>* apart) const;

  // Whether all stored columns have the same bytes in both records.
  bool SameRow(const uint8_t* a, const uint8_t* b) const;

 private:
  friend class RowPlan;

  // What stands before a row's null bits.
  struct Header {
    uint32_t version = 0;
    bool wide = false;
    Slice apart;  // A bit for each varying column.
    Slice body;
  };
  // Where the parts of a body are.
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
  std::vector<uint8_t> null_masks_;  // Of each null byte: the bits of stored columns.
  uint64_t apart_over_ = 0;
  std::vector<uint32_t> long_columns_;
  const uint8_t* defaults_ = nullptr;
  uint32_t null_bytes_ = 0;
  uint32_t fixed_bytes_ = 0;
  bool has_blobs_ = false;
  const RowHistory* history_ = nullptr;  // Null: there is one version.
  uint32_t version_ = 0;                 // Of the rows that this encodes.
};

// Which columns to decode, worked out once and used for many rows.
class RowPlan {
 public:
  // wanted: one flag a column.
  void Build(const RowCodec& codec, const std::vector<bool>& wanted);

  // Writes the wanted columns into record; a NULL gets the column's default bytes, and null bits of
  // no wanted and stored column are those of the defaults. Blobs point into row. Of values that lie
  // apart the record gets an empty one, and *apart, which is replaced, tells which they are.
  // Errors: kCorruption; the record's contents are then undefined.
  Status Decode(Slice row, uint8_t* record, std::vector<ApartValue>* apart) const;

  // Whether a wanted column is a blob.
  bool wants_blobs() const { return wants_blobs_; }

 private:
  struct Copy {
    uint32_t from;
    uint32_t to;
    uint32_t bytes;
  };

  // Where a wanted column is in rows of another version.
  struct Source {
    uint32_t column = 0;              // In codec_->columns().
    const RowColumn* held = nullptr;  // Null: those rows do not hold it.
    const ColumnDefault* instead = nullptr;
    uint32_t place = 0;  // Of fixed size: the offset behind the header; else its number.
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
  std::vector<uint8_t> null_masks_;  // Of each null byte: the bits of wanted columns.
  std::vector<Copy> copies_;         // Neighbours are one copy.
  std::vector<uint32_t> varying_;    // Indexes into codec_->varying_.
  std::vector<uint32_t> nullable_;   // Wanted columns that can be NULL.
  bool wants_blobs_ = false;
  std::vector<uint32_t> stored_;              // Wanted columns that rows hold.
  mutable std::vector<OtherVersion> others_;  // By version; made when such a row is met.
};

}  // namespace tidesdb::plugin
