// The rows and index entries of one table: turns the server's table definition into codecs.
//
// A row is stored under its primary key, or under a hidden number of 8 bytes. An index entry is
//   not unique:  key = columns, then the primary key's columns that are not among them
//   unique:      key = columns (as above when one of them is NULL)
// and its value holds the primary key (unique only), then each column that the key does not give
// back.
//
// Format: docs/format/row.md
// Threads: belongs to one handler; it keeps scratch memory.
#pragma once

#include "base/server_port.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codec/key_codec.h"
#include "codec/key_literals.h"
#include "codec/row_codec.h"
#include "codec/table_def.h"
#include "tidesdb/status.h"

namespace tidesdb::plugin {

constexpr size_t kHiddenKeyBytes = 8;

class TableCodec {
 public:
  // table: opened, or being created. forms: KeyForm.
  // Errors: kNotSupported for a column that cannot be stored.
  Status Build(TABLE* table, uint32_t forms);

  const RowCodec& rows() const { return rows_; }
  Status SetHistory(const RowHistory* history, uint32_t version) {
    return rows_.SetHistory(history, version);
  }
  void SetApartOver(uint64_t bytes) { rows_.SetApartOver(bytes); }
  // Keeps the first `keys` indexes.
  void KeepIndexes(uint keys) { indexes_.resize(keys); }
  // Adds an index of another definition as the next number: its entries are made from records of this one. sources:
  // for each column of the other definition; `before` is a column of this one. Both outlive this object.
  // REQUIRES: the primary keys have the same bytes.
  void AddIndex(const TableCodec& other, uint number, const std::vector<ColumnOrigin>& sources);
  // Whether an index has the same bytes as one of another definition of the table.
  // columns_before: for each column the one of the other definition, or -1.
  bool SameIndex(uint key_number, const TableCodec& before, uint key_before,
                 const std::vector<int>& columns_before) const;
  bool hidden_key() const { return hidden_key_; }
  bool is_primary(uint key_number) const { return !hidden_key_ && key_number == primary_number_; }
  bool is_unique(uint key_number) const { return indexes_[key_number].unique; }
  // A server key over a hash of the columns; the server checks their uniqueness itself.
  bool is_hash(uint key_number) const { return indexes_[key_number].hash; }
  // False: all entries have an empty value.
  bool has_value(uint key_number) const {
    return indexes_[key_number].unique || !indexes_[key_number].values.empty();
  }
  // Whether an entry of that index gives the whole column back. Always ask here before you read a column from an
  // entry: if the entry has only the column's start, nothing is restored.
  bool gives_back(uint key_number, uint field) const { return indexes_[key_number].fields[field]; }
  // Whether the entries of every other index give the whole primary key back.
  bool gives_back_primary() const {
    return hidden_key_ || std::all_of(primary_parts().begin(), primary_parts().end(),
                                      [](const Part& part) { return part.whole_column; });
  }
  // Whether an entry contains a column or its start: the columns of the index and of the primary key.
  bool is_made_from(uint key_number, uint field) const {
    return HasColumn(indexes_[key_number], field) || (!hidden_key_ && HasColumn(primary(), field));
  }
  bool has_virtual(uint key_number) const { return indexes_[key_number].has_virtual; }
  // The forms that affect the table's keys.
  uint32_t forms_that_matter() const { return forms_that_matter_; }
  // Whether an index has only the first weights of one of its first columns.
  bool has_weights_of_start(uint key_number, uint parts) const;

  // --- To bytes ---
  // REQUIRES: !hidden_key(). Replaces *key.
  void PrimaryKey(const uchar* record, std::string* key) const;
  // An index entry of a row. Returns: whether a column of the index itself is NULL.
  bool Entry(uint key_number, const uchar* record, Slice primary_key, std::string* key,
             std::string* value) const;
  // The columns of an index alone; for hash keys, the columns that two rows must not share.
  void EntryColumns(uint key_number, const uchar* record, std::string* key) const;

  struct ImageKey {
    bool whole_key = false;  // All key columns: for a unique index, at most one row has them.
    // False: more keys than those of the image have these bytes. `further` narrows them down as far as possible.
    bool used_all = true;
    bool is_start = false;  // Because a text may continue, or a range may begin or end further out.
    bool has_null = false;
    // Other texts have the same bytes too, and the image has a whole text: see IsOfImage().
    bool tells_more = false;
    struct Further {
      uint after_parts;   // After this many columns
      std::string start;  // a key continues with this.
    };
    std::vector<Further> further;
  };
  // The use of an image. For a range's start or end, none of the range's keys is beyond the bytes. The server pads
  // the start of LIKE and CHAR, which may look like a value and may not follow the collation's order.
  enum class ImageSide : uint8_t { kKey, kStart, kEnd };
  // From the first part that differs, a range's start and end are encoded separately.
  struct RangedParts {
    uint from = MAX_REF_PARTS;
    key_part_map like = 0;  // Parts that LIKE produced.
  };
  struct ImageUse {
    ImageSide side = ImageSide::kKey;
    RangedParts ranged;
  };
  // Null: there is no start, or no end.
  RangedParts FindRangedParts(uint key_number, const key_range* start, const key_range* end) const;
  // The common start of all keys whose columns equal those in image, the server's form of a key, of `length` bytes.
  // Replaces *key.
  ImageKey FromImage(uint key_number, const uchar* image, uint length, std::string* key,
                     const ImageUse& use) const;
  ImageKey FromImage(uint key_number, const uchar* image, uint length, std::string* key) const {
    return FromImage(key_number, image, length, key, ImageUse());
  }

  // The order of two images of the whole primary key: that of their bytes, without making them.
  // REQUIRES: !hidden_key().
  int ComparePrimary(const uchar* a, const uchar* b) const;

  // Whether a key that starts with an image's bytes belongs to the image.
  bool IsAmong(uint key_number, Slice key, const std::vector<ImageKey::Further>& further) const;

  // Whether a row's columns equal the whole texts of an image, as the server compares them: in an index on a prefix
  // other texts may have the same bytes.
  // REQUIRES: the row has the bytes.
  bool IsOfImage(uint key_number, const uchar* record, Slice image) const;

  // Whether the bytes of a range may include more than was requested.
  bool HasInexactEnds(uint key_number) const;

  // --- Back ---
  // Puts the primary key's columns into record as far as the key gives them. Returns: false for damaged bytes.
  bool RestorePrimaryKey(Slice key, uchar* record) const;
  // Puts all columns of the index and of the primary key into record. Values are copied; none is a blob.
  bool RestoreEntry(uint key_number, Slice key, Slice value, uchar* record) const;
  // Whether one of these columns needs RestorePrimaryKey().
  bool key_only(uint field) const { return key_only_[field]; }
  // The primary key of an entry's row. *primary_key points into key or value, or into *buffer.
  bool PrimaryKeyOfEntry(uint key_number, Slice key, Slice value, std::string* buffer,
                         Slice* primary_key) const;
  // How to show an index's keys to people; the result is independent of this object.
  KeyShape ShapeOf(TABLE* table, uint key_number) const;
  static KeyShape HiddenKeyShape();
  uint parts(uint key_number) const { return static_cast<uint>(indexes_[key_number].parts.size()); }

 private:
  // How many bytes of an entry's key are the first `parts` columns; 0 for damaged bytes.
  size_t PrefixBytes(uint key_number, Slice key, uint parts) const;
  static constexpr uint32_t kNoColumn = ~0U;

  struct Part {
    KeyPart key;
    uint32_t column = 0;  // In rows_.columns() and TABLE::field.
    // Instead of a column (kNoColumn): the value in all rows.
    const ColumnDefault* everywhere = nullptr;
    uint32_t image_bytes = 0;  // In the server's form of a key, without null byte and length.
    bool image_varying = false;
    bool whole_column = false;  // Not just a prefix.
    bool alike = false;         // Different texts may have the same bytes.
    bool in_value = false;      // In the entry's value, because the key does not give it back.
    bool trims_value = false;   // There without the spaces that pad a CHAR.
  };
  struct Index {
    std::vector<Part> parts;
    bool unique = false;
    bool hash = false;
    bool has_virtual = false;
    bool alike = false;  // Of any part.
    // For each part of the primary key: the part of this index with the same bytes; -1: append it to the key.
    std::vector<int> same_as;
    bool appends_all = true;   // The columns contain no part of the primary key.
    std::vector<Part> values;  // The parts of the entry's value, in order.
    std::vector<bool> fields;  // For each column: whether the entry gives it back.
  };

  enum class ImagePart : uint8_t { kValue, kNull, kStart };

  Status BuildColumns(TABLE* table);
  Status BuildPart(Field* field, uint length, bool unique, Part* part);
  Status BuildTextPart(CHARSET_INFO* cs, uint length, bool unique, Part* part);
  static bool IsStart(const Part& part, Slice raw);
  static bool IsWhole(const Part& part, Slice raw);
  Status BuildIndex(TABLE* table, uint number);
  static bool SameBytes(const Part& a, const Part& b);
  static bool SamePart(const Part& part, const Part& before,
                       const std::vector<int>& columns_before);
  void LinkPrimaryKey(TABLE* table, Index* index) const;
  // Returns: false for NULL.
  bool ValueOf(const Part& part, const uchar* record, Slice* raw) const;
  void EncodeColumn(const Part& part, const uchar* record, std::string* key) const;
  void AppendPrimaryKey(const Index& index, const uchar* record, Slice primary_key,
                        std::string* key) const;
  void AppendPrimaryKeyImage(const Index& index, const uchar* columns, const uchar* image,
                             const uchar* end, const ImageUse& use, std::string* key,
                             ImageKey* result) const;
  ImagePart EncodeImagePart(const Part& part, uint number, const uchar** image, std::string* key,
                            const ImageUse& use) const;
  static uint ImageBytes(const Part& part);
  static bool MayBeWider(const KeyPart& part) {
    return part.kind == PartKind::kText && part.collation->unfilled_start != nullptr;
  }
  static Slice RawOf(const Part& part, const uchar** image);
  template <typename Visit>
  static void VisitAlike(const Index& index, const uchar* image, const uchar* end,
                         const Visit& visit);
  static bool TellsMore(const Index& index, const uchar* image, const uchar* end);
  static bool IsLike(const Part& part, const uchar* start, const uchar* end);
  static bool Widen(const KeyPart& part, ImageSide side, bool is_like, Slice* raw);
  bool RestorePart(const Part& part, Slice* key, uchar* record) const;
  bool RestoreValues(const Index& index, Slice value, uchar* record) const;
  static bool HasColumn(const Index& index, uint field) {
    return std::any_of(index.parts.begin(), index.parts.end(),
                       [&](const Part& part) { return part.column == field; });
  }
  const Index& primary() const { return indexes_[primary_number_]; }
  const std::vector<Part>& primary_parts() const { return primary().parts; }

  RowCodec rows_;
  std::vector<Index> indexes_;  // By the server's key number; the primary one has only its parts.
  std::vector<std::unique_ptr<Collation>> collations_;
  std::vector<bool> key_only_;  // For each column: whether only the primary key's bytes hold it.
  uint primary_number_ = MAX_KEY;
  bool hidden_key_ = false;
  uint32_t forms_ = kKeyForms;
  uint32_t forms_that_matter_ = 0;
  mutable std::string scratch_;
};

}  // namespace tidesdb::plugin
