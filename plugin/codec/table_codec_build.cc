#include "codec/table_codec.h"

#include <utility>

#include "codec/collations.h"

namespace tidesdb::plugin {
namespace {

// Shorter CHAR columns are stored unshortened, because the end of a varying value also takes 2
// bytes.
constexpr uint32_t kPaddedBytesMin = 9;

bool IsPaddedText(const Field& field) {
  CHARSET_INFO* cs = field.charset();
  return field.real_type() == MYSQL_TYPE_STRING && cs->mbminlen == 1;
}

Column LayoutOf(const Field& field, const uchar* record) {
  Column column;
  column.offset = static_cast<uint32_t>(field.ptr - record);
  if (field.real_maybe_null()) {
    column.null_mask = field.null_bit;
    column.null_offset = static_cast<uint32_t>(field.null_ptr - record);
  }
  column.bytes = field.pack_length();
  switch (field.real_type()) {
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_VARCHAR_COMPRESSED:
      column.layout = Column::Layout::kVarying;
      column.length_bytes = static_cast<uint8_t>(field.pack_length() - field.field_length);
      column.bytes -= column.length_bytes;
      break;
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB:
    case MYSQL_TYPE_BLOB_COMPRESSED:
    case MYSQL_TYPE_GEOMETRY:
      column.layout = Column::Layout::kBlob;
      column.length_bytes = static_cast<uint8_t>(column.bytes - sizeof(char*));
      break;
    default:
      if (column.bytes >= kPaddedBytesMin && IsPaddedText(field)) {
        column.layout = Column::Layout::kPadded;
        column.pad = field.charset() == &my_charset_bin ? 0 : ' ';
      }
      break;
  }
  return column;
}

bool IsVaryingText(const Field& field) {
  const auto type = field.real_type();
  return type == MYSQL_TYPE_STRING || type == MYSQL_TYPE_VARCHAR || (field.flags & BLOB_FLAG) != 0;
}

}  // namespace

Status TableCodec::Build(TABLE* table, uint32_t forms) {
  const TABLE_SHARE& share = *table->s;
  primary_number_ = share.primary_key;
  hidden_key_ = primary_number_ >= MAX_KEY;
  indexes_.clear();
  indexes_.resize(share.keys);
  forms_ = forms;
  forms_that_matter_ = 0;
  collations_.clear();
  key_only_.assign(share.fields, false);
  for (uint i = 0; i < share.keys; i++) TIDESDB_TRY(BuildIndex(table, i));
  for (Index& index : indexes_) LinkPrimaryKey(table, &index);
  return BuildColumns(table);
}

Status TableCodec::BuildColumns(TABLE* table) {
  if (!hidden_key_) {
    for (const Part& part : primary_parts()) {
      key_only_[part.column] = part.whole_column && IsReversible(part.key.kind);
    }
  }
  std::vector<Column> columns;
  for (uint i = 0; i < table->s->fields; i++) {
    const Field& field = *table->field[i];
    Column column = LayoutOf(field, table->record[0]);
    column.stored = field.stored_in_db() && !key_only_[i];
    columns.push_back(column);
  }
  for (Index& index : indexes_) {
    for (Part& part : index.values) {
      part.trims_value =
          part.key.trim_spaces && columns[part.column].layout == Column::Layout::kPadded;
    }
  }
  rows_.Build(std::move(columns), table->s->null_bytes, table->s->default_values);
  return Status::Ok();
}

void TableCodec::AddIndex(const TableCodec& other, uint number,
                          const std::vector<ColumnOrigin>& sources) {
  Index& index = indexes_.emplace_back(other.indexes_[number]);
  const auto take = [&](Part& part) {
    const ColumnOrigin& source = sources[part.column];
    part.column = source.before < 0 ? kNoColumn : static_cast<uint32_t>(source.before);
    if (source.before < 0) part.everywhere = &source.added;
  };
  std::for_each(index.parts.begin(), index.parts.end(), take);
  std::for_each(index.values.begin(), index.values.end(), take);
  index.fields.assign(key_only_.size(), false);  // Nobody reads it yet.
}

Status TableCodec::BuildTextPart(CHARSET_INFO* cs, uint length, bool unique, Part* part) {
  part->key.chars_max = length / cs->mbmaxlen;
  auto collation = std::make_unique<Collation>();
  part->key.kind = PartKind::kText;
  // At lower levels the start of a text says nothing about the whole text.
  const auto levels = part->whole_column || unique ? Levels::kAll : Levels::kFirst;
  if (!FillCollation(cs, levels, collation.get())) {
    return Status::NotSupported(std::string("an index over the collation ") + cs->coll_name.str +
                                ", whose comparison has no sort key; take another collation");
  }
  const bool is_start = !part->whole_column && !unique;
  part->alike = is_start && cs->levels_for_order != MY_CS_COLL_LEVELS_S1;
  if (is_start && WeighsAcrossCharacters(cs)) {
    forms_that_matter_ |= kWeightsOfStarts;
    if ((forms_ & kWeightsOfStarts) != 0) {
      part->key.weights_max = StartBytes(cs, part->key.chars_max, *collation);
      part->alike = true;
    }
  }
  part->key.collation = collation.get();
  collations_.push_back(std::move(collation));
  return Status::Ok();
}

Status TableCodec::BuildPart(Field* field, uint length, bool unique, Part* part) {
  part->column = field->field_index;
  part->image_bytes = length;
  part->whole_column = field->key_length() == length && (field->flags & BLOB_FLAG) == 0;
  part->key.nullable = field->real_maybe_null();
  part->key.width = length;
  if (IsVaryingText(*field)) {
    const bool padded = field->real_type() == MYSQL_TYPE_STRING;
    part->image_varying = !padded;
    part->key.trim_spaces = padded;
    CHARSET_INFO* cs = field->charset();
    const bool fixed_binary = cs != field->sort_charset();
    if (fixed_binary) forms_that_matter_ |= kFixedBinary;
    if (fixed_binary && (forms_ & kFixedBinary) != 0) cs = field->sort_charset();
    if (cs != &my_charset_bin) {
      TIDESDB_TRY(BuildTextPart(cs, length, unique, part));
      if (fixed_binary) collations_.back()->unfilled_start = nullptr;  // LIKE makes no range of it.
      return Status::Ok();
    }
    part->key.kind = padded ? PartKind::kRaw : PartKind::kBytes;
    part->key.chars_max = length;
    return Status::Ok();
  }
  const bool is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
  switch (field->real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
      part->key.kind = is_unsigned ? PartKind::kUnsigned : PartKind::kSigned;
      return Status::Ok();
    case MYSQL_TYPE_YEAR:
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET:
      part->key.kind = PartKind::kUnsigned;
      return Status::Ok();
    case MYSQL_TYPE_FLOAT:
      part->key.kind = PartKind::kFloat;
      return Status::Ok();
    case MYSQL_TYPE_DOUBLE:
      part->key.kind = PartKind::kDouble;
      return Status::Ok();
    // Types with fractions of a second, and the new formats, are stored big-endian.
    case MYSQL_TYPE_TIME:
      part->key.kind = field->decimals() > 0 ? PartKind::kRaw : PartKind::kSigned;
      return Status::Ok();
    case MYSQL_TYPE_TIMESTAMP:
    case MYSQL_TYPE_DATETIME:
      part->key.kind = field->decimals() > 0 ? PartKind::kRaw : PartKind::kUnsigned;
      return Status::Ok();
    case MYSQL_TYPE_TIME2:
    case MYSQL_TYPE_TIMESTAMP2:
    case MYSQL_TYPE_DATETIME2:
    case MYSQL_TYPE_NEWDECIMAL:
    case MYSQL_TYPE_BIT:
      part->key.kind = PartKind::kRaw;
      return Status::Ok();
    default:
      return Status::NotSupported(std::string("an index on column ") + field->field_name.str +
                                  ", whose type this engine cannot order");
  }
}

Status TableCodec::BuildIndex(TABLE* table, uint number) {
  const KEY& key = table->key_info[number];
  Index& index = indexes_[number];
  index.hash = key.algorithm == HA_KEY_ALG_LONG_HASH;
  index.unique = (key.flags & HA_NOSAME) != 0 && !index.hash;
  const KEY_PART_INFO* first = key.key_part;
  uint count = key.user_defined_key_parts;
  if (index.hash) {  // The server shows either the columns or their hash, which comes after them.
    while ((first->field->flags & LONG_UNIQUE_HASH_FIELD) == 0) first++;
    count = 1;
  }
  for (uint i = 0; i < count; i++) {
    const KEY_PART_INFO& key_part = first[i];
    // The key's own Field object has the prefix's length; the table's has the column's.
    Field* field = table->field[key_part.fieldnr - 1];
    Part part;
    part.key.descending = (key_part.key_part_flag & HA_REVERSE_SORT) != 0;
    const uint length = index.hash ? field->pack_length() : key_part.length;
    TIDESDB_TRY(BuildPart(field, length, index.unique, &part));
    index.has_virtual |= !field->stored_in_db();
    index.alike |= part.alike;
    index.parts.push_back(part);
  }
  return Status::Ok();
}

// Whether a column's value has the same bytes in both keys.
bool TableCodec::SameBytes(const Part& a, const Part& b) {
  if (a.column != b.column || a.image_bytes != b.image_bytes ||
      a.key.descending != b.key.descending || a.key.weights_max != b.key.weights_max) {
    return false;
  }
  return a.key.kind != PartKind::kText || a.key.collation->levels == b.key.collation->levels;
}

// Finds the primary key's columns that an index already has, and the columns of its values.
void TableCodec::LinkPrimaryKey(TABLE* table, Index* index) const {
  index->fields.assign(table->s->fields, false);
  const bool is_primary = !hidden_key_ && index == &indexes_[primary_number_];
  for (Part& part : index->parts) {
    part.in_value = !is_primary && part.whole_column && !IsReversible(part.key.kind);
    index->fields[part.column] = part.whole_column;
    if (part.in_value) index->values.push_back(part);
  }
  if (hidden_key_ || is_primary) return;
  for (const Part& primary : primary_parts()) {
    int same = -1;
    for (size_t i = 0; i < index->parts.size(); i++) {
      if (!index->unique && SameBytes(index->parts[i], primary)) same = static_cast<int>(i);
    }
    index->same_as.push_back(same);
    index->appends_all &= same < 0;
    if (!primary.whole_column || index->fields[primary.column]) continue;
    index->fields[primary.column] = true;
    if (IsReversible(primary.key.kind)) continue;
    index->values.push_back(primary);
  }
}

// A column may have become longer if the key holds all of it.
bool TableCodec::SamePart(const Part& part, const Part& before,
                          const std::vector<int>& columns_before) {
  const KeyPart& key = part.key;
  const KeyPart& old = before.key;
  if (columns_before[part.column] != static_cast<int>(before.column) || key.kind != old.kind ||
      key.nullable != old.nullable || key.descending != old.descending ||
      key.trim_spaces != old.trim_spaces || key.weights_max != old.weights_max ||
      part.whole_column != before.whole_column || part.in_value != before.in_value) {
    return false;
  }
  if (key.kind == PartKind::kText && (key.collation->handle != old.collation->handle ||
                                      key.collation->levels != old.collation->levels)) {
    return false;
  }
  const bool may_grow = part.whole_column && part.image_varying;
  return may_grow || part.image_bytes == before.image_bytes;
}

bool TableCodec::SameIndex(uint key_number, const TableCodec& before, uint key_before,
                           const std::vector<int>& columns_before) const {
  const Index& index = indexes_[key_number];
  const Index& old = before.indexes_[key_before];
  const auto same = [&](const Part& part, const Part& part_before) {
    return SamePart(part, part_before, columns_before);
  };
  return !index.hash && !old.hash && index.unique == old.unique && index.same_as == old.same_as &&
         is_primary(key_number) == before.is_primary(key_before) &&
         std::equal(index.parts.begin(), index.parts.end(), old.parts.begin(), old.parts.end(),
                    same) &&
         std::equal(index.values.begin(), index.values.end(), old.values.begin(), old.values.end(),
                    same);
}

namespace {

LiteralPart LiteralOf(const Field& field, const KeyPart& key) {
  LiteralPart part;
  part.key = key;
  if (!IsReversible(key.kind)) {
    part.kind = LiteralKind::kWeights;
    return part;
  }
  part.scale = field.decimals();
  switch (field.real_type()) {
    case MYSQL_TYPE_YEAR:
      part.kind = LiteralKind::kYear;
      break;
    case MYSQL_TYPE_NEWDATE:
      part.kind = LiteralKind::kDate;
      break;
    case MYSQL_TYPE_TIME2:
      part.kind = LiteralKind::kTime;
      break;
    case MYSQL_TYPE_DATETIME2:
      part.kind = LiteralKind::kDateTime;
      break;
    case MYSQL_TYPE_NEWDECIMAL:
      part.kind = LiteralKind::kDecimal;
      part.precision = static_cast<const Field_new_decimal&>(field).precision;
      break;
    default:
      if (key.kind == PartKind::kUnsigned || key.kind == PartKind::kSigned) {
        part.kind = LiteralKind::kNumber;
      }
  }
  return part;
}

}  // namespace

KeyShape TableCodec::ShapeOf(TABLE* table, uint key_number) const {
  KeyShape shape;
  const auto add = [&](const Part& part) {
    shape.parts.push_back(LiteralOf(*table->field[part.column], part.key));
    if (part.key.collation == nullptr) return;
    shape.collations.push_back(*part.key.collation);
    shape.parts.back().key.collation = &shape.collations.back();
  };
  const Index& index = indexes_[key_number];
  for (const Part& part : index.parts) add(part);
  if (is_primary(key_number)) return shape;
  if (hidden_key_) {
    shape.parts.push_back(HiddenKeyShape().parts.front());
    return shape;
  }
  for (size_t i = 0; i < index.same_as.size(); i++) {
    if (index.same_as[i] < 0) add(primary_parts()[i]);
  }
  return shape;
}

KeyShape TableCodec::HiddenKeyShape() {
  KeyShape shape;
  LiteralPart number;
  number.key.kind = PartKind::kUnsigned;
  number.key.width = kHiddenKeyBytes;
  number.kind = LiteralKind::kNumber;
  shape.parts.push_back(number);
  return shape;
}

}  // namespace tidesdb::plugin
