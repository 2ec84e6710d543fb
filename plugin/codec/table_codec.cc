#include "codec/table_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/bytes.h"

namespace tidesdb::plugin {
namespace {

constexpr size_t kPartsMax = MAX_REF_PARTS;

// CHAR without padding.
bool IsFilledUnpadded(const KeyPart& part) {
  return part.trim_spaces && part.kind == PartKind::kText &&
         part.collation->unfilled_bytes != nullptr;
}

void MarkNull(const Column& column, bool null, uchar* record) {
  if (column.null_mask == 0) return;
  if (null) {
    record[column.null_offset] |= column.null_mask;
  } else {
    record[column.null_offset] &= static_cast<uchar>(~column.null_mask);
  }
}

bool StartsWithNull(const KeyPart& part, Slice key) {
  return part.nullable && !key.empty() && key[0] == (part.descending ? '\xff' : '\0');
}

}  // namespace

void TableCodec::EncodeColumn(const Part& part, const uchar* record, std::string* key) const {
  const Column& column = rows_.columns()[part.column];
  if (IsNull(column, record)) {
    EncodeNull(part.key, key);
  } else {
    EncodePart(part.key, RawValue(column, record), key, &scratch_);
  }
}

void TableCodec::PrimaryKey(const uchar* record, std::string* key) const {
  key->clear();
  for (const Part& part : primary_parts()) EncodeColumn(part, record, key);
}

void TableCodec::EntryColumns(uint key_number, const uchar* record, std::string* key) const {
  key->clear();
  for (const Part& part : indexes_[key_number].parts) EncodeColumn(part, record, key);
}

void TableCodec::AppendPrimaryKey(const Index& index, const uchar* record, Slice primary_key,
                                  std::string* key) const {
  if (index.appends_all) {
    key->append(primary_key);
    return;
  }
  for (size_t i = 0; i < index.same_as.size(); i++) {
    if (index.same_as[i] < 0) EncodeColumn(primary_parts()[i], record, key);
  }
}

bool TableCodec::Entry(uint key_number, const uchar* record, Slice primary_key, std::string* key,
                       std::string* value) const {
  const Index& index = indexes_[key_number];
  bool has_null = false;
  key->clear();
  value->clear();
  for (const Part& part : index.parts) {
    EncodeColumn(part, record, key);
    has_null |= IsNull(rows_.columns()[part.column], record);
  }
  if (!index.unique || has_null) AppendPrimaryKey(index, record, primary_key, key);
  if (index.unique) PutLengthPrefixed(value, primary_key);
  for (const Part& part : index.values) {
    const Column& column = rows_.columns()[part.column];
    if (IsNull(column, record)) continue;
    Slice raw = RawValue(column, record);
    if (part.key.trim_spaces && column.layout == Column::Layout::kPadded) {
      while (!raw.empty() && raw.back() == ' ') raw.remove_suffix(1);
    }
    PutLengthPrefixed(value, raw);
  }
  return has_null;
}

bool TableCodec::HasInexactEnds(uint key_number) const {
  const auto inexact = [](const Part& part) {
    return IsFilledUnpadded(part.key) || part.key.weights_max != 0;
  };
  const std::vector<Part>& parts = indexes_[key_number].parts;
  if (std::any_of(parts.begin(), parts.end(), inexact)) return true;
  return !hidden_key_ && std::any_of(primary_parts().begin(), primary_parts().end(), inexact);
}

// CHAR without padding, which the server's form fills with spaces all the same: the value may have
// had some of them, or have been filled by LIKE with its smallest character. A range takes all that
// it may have been.
void TableCodec::EncodeRangeEnd(const Part& part, Slice raw, ImageUse use, std::string* key) const {
  const Collation& collation = *part.key.collation;
  KeyPart key_part = part.key;
  if ((use == ImageUse::kStart) != part.key.descending) {
    const auto* from = reinterpret_cast<const uint8_t*>(raw.data());
    raw = raw.substr(0, collation.unfilled_bytes(collation.handle, from, raw.size()));
  } else {
    key_part.trim_spaces = false;
  }
  EncodePart(key_part, raw, key, &scratch_);
}

// Whether the server has cut a text, so that more may follow. CHAR it fills up.
bool TableCodec::IsStart(const Part& part, Slice raw) {
  if (part.key.weights_max == 0) return false;
  if (part.key.trim_spaces) return true;
  const Collation& collation = *part.key.collation;
  const auto* from = reinterpret_cast<const uint8_t*>(raw.data());
  return collation.prefix_bytes(collation.handle, from, raw.size(), part.key.chars_max - 1) <
         raw.size();
}

// Appends one part of a key in the server's form and moves image past it.
TableCodec::ImagePart TableCodec::EncodeImagePart(const Part& part, const uchar** image,
                                                  std::string* key, const RangeEnd& range) const {
  const uchar* at = *image;
  bool null = false;
  if (part.key.nullable) null = *at++ != 0;
  uint32_t bytes = part.image_bytes;
  if (part.image_varying) {
    bytes = uint2korr(at);
    at += HA_KEY_BLOB_LENGTH;
  }
  const Slice raw(reinterpret_cast<const char*>(at), bytes);
  *image = at + part.image_bytes;
  if (null) {
    EncodeNull(part.key, key);
    return ImagePart::kNull;
  }
  if (IsStart(part, raw)) {
    EncodeStart(part.key, raw, key, &scratch_);
    return ImagePart::kStart;
  }
  if (range.use != ImageUse::kKey && *image == range.end && IsFilledUnpadded(part.key)) {
    EncodeRangeEnd(part, raw, range.use, key);
  } else {
    EncodePart(part.key, raw, key, &scratch_);
  }
  return ImagePart::kValue;
}

// Goes on with the primary key's columns, which the server gives only as far as the index has not
// got them. Returns: whether all of image was used.
bool TableCodec::AppendPrimaryKeyImage(const Index& index, const uchar* columns, const uchar* image,
                                       const RangeEnd& range, std::string* key) const {
  std::array<const uchar*, kPartsMax> starts = {};
  const uchar* at = columns;
  std::string ignored;
  for (size_t i = 0; i < index.parts.size(); i++) {
    starts[i] = at;
    EncodeImagePart(index.parts[i], &at, &ignored, {});
  }
  for (size_t i = 0; i < primary_parts().size() && image < range.end; i++) {
    const Part& primary = primary_parts()[i];
    const Part* among = nullptr;
    for (size_t j = 0; j < index.parts.size(); j++) {
      if (index.parts[j].column != primary.column) continue;
      among = &index.parts[j];
      at = starts[j];
    }
    if (among == nullptr) {
      EncodeImagePart(primary, &image, key, range);
    } else if (index.same_as[i] < 0) {
      if (!among->whole_column) return false;
      EncodeImagePart(primary, &at, key, {});
    }
  }
  return image >= range.end;
}

TableCodec::ImageKey TableCodec::FromImage(uint key_number, const uchar* image, uint length,
                                           std::string* key, ImageUse use) const {
  const Index& index = indexes_[key_number];
  ImageKey result;
  key->clear();
  const uchar* const columns = image;
  const uchar* const end = image + length;
  const RangeEnd range{use, end};
  uint used = 0;
  while (used < index.parts.size() && image < end) {
    const ImagePart part = EncodeImagePart(index.parts[used++], &image, key, range);
    result.has_null |= part == ImagePart::kNull;
    if (part == ImagePart::kStart && image < end) {
      result.further.push_back({used, {}});
      key = &result.further.back().start;
    }
  }
  result.used_all = result.further.empty();
  const bool all_columns = used == index.parts.size();
  result.whole_key = all_columns && (is_primary(key_number) || (index.unique && !result.has_null));
  if (image < end) {
    result.used_all &= !index.unique && !hidden_key_ && !is_primary(key_number) &&
                       AppendPrimaryKeyImage(index, columns, image, range, key);
  }
  return result;
}

bool TableCodec::IsAmong(uint key_number, Slice key,
                         const std::vector<ImageKey::Further>& further) const {
  return std::all_of(further.begin(), further.end(), [&](const ImageKey::Further& part) {
    return key.substr(PrefixBytes(key_number, key, part.after_parts)).starts_with(part.start);
  });
}

bool TableCodec::has_weights_of_start(uint key_number, uint parts) const {
  if (key_number >= indexes_.size()) return false;
  const std::vector<Part>& all = indexes_[key_number].parts;
  const auto end = all.begin() + std::min<ptrdiff_t>(parts, static_cast<ptrdiff_t>(all.size()));
  return std::any_of(all.begin(), end, [](const Part& part) { return part.key.weights_max != 0; });
}

bool TableCodec::RestorePart(const Part& part, Slice* key, uchar* record) const {
  const Column& column = rows_.columns()[part.column];
  if (!part.whole_column || !IsReversible(part.key.kind)) {
    if (part.whole_column) MarkNull(column, StartsWithNull(part.key, *key), record);
    return SkipPart(part.key, key);
  }
  const bool varying = column.layout == Column::Layout::kVarying;
  uchar* const to = record + column.offset + (varying ? column.length_bytes : 0);
  size_t length = 0;
  const Taken taken = TakePart(part.key, key, to, column.bytes, &length);
  if (taken == Taken::kBad) return false;
  MarkNull(column, taken == Taken::kNull, record);
  if (varying && taken == Taken::kValue)
    memcpy(record + column.offset, &length, column.length_bytes);
  return true;
}

bool TableCodec::RestorePrimaryKey(Slice key, uchar* record) const {
  if (hidden_key_) return key.size() == kHiddenKeyBytes;
  for (const Part& part : primary_parts()) {
    if (!RestorePart(part, &key, record)) return false;
  }
  return key.empty();
}

bool TableCodec::RestoreValues(const Index& index, Slice value, uchar* record) const {
  for (const Part& part : index.values) {
    const Column& column = rows_.columns()[part.column];
    if (IsNull(column, record)) continue;
    Slice raw;
    if (!TakeLengthPrefixed(&value, &raw) || !StoreRawValue(column, raw, record)) return false;
  }
  return value.empty();
}

bool TableCodec::RestoreEntry(uint key_number, Slice key, Slice value, uchar* record) const {
  const Index& index = indexes_[key_number];
  for (const Part& part : index.parts) {
    if (!RestorePart(part, &key, record)) return false;
  }
  if (index.unique) {
    Slice primary_key;
    if (!TakeLengthPrefixed(&value, &primary_key)) return false;
    if (!RestorePrimaryKey(primary_key, record)) return false;
  } else if (!hidden_key_) {
    for (size_t i = 0; i < index.same_as.size(); i++) {
      if (index.same_as[i] < 0 && !RestorePart(primary_parts()[i], &key, record)) return false;
    }
  }
  return RestoreValues(index, value, record);
}

bool TableCodec::PrimaryKeyOfEntry(uint key_number, Slice key, Slice value, std::string* buffer,
                                   Slice* primary_key) const {
  const Index& index = indexes_[key_number];
  if (index.unique) return TakeLengthPrefixed(&value, primary_key);
  if (hidden_key_) {
    if (key.size() < kHiddenKeyBytes) return false;
    *primary_key = key.substr(key.size() - kHiddenKeyBytes);
    return true;
  }
  std::array<Slice, kPartsMax> columns;
  for (size_t i = 0; i < index.parts.size(); i++) {
    const Slice before = key;
    if (!SkipPart(index.parts[i].key, &key)) return false;
    columns[i] = before.substr(0, before.size() - key.size());
  }
  if (index.appends_all) {
    *primary_key = key;
    return true;
  }
  buffer->clear();
  for (size_t i = 0; i < index.same_as.size(); i++) {
    if (index.same_as[i] >= 0) {
      buffer->append(columns[static_cast<size_t>(index.same_as[i])]);
      continue;
    }
    const Slice before = key;
    if (!SkipPart(primary_parts()[i].key, &key)) return false;
    buffer->append(before.substr(0, before.size() - key.size()));
  }
  *primary_key = *buffer;
  return key.empty();
}

size_t TableCodec::PrefixBytes(uint key_number, Slice key, uint parts) const {
  const Index& index = indexes_[key_number];
  const size_t all = key.size();
  for (const Part& part : index.parts) {
    if (parts == 0) return all - key.size();
    if (!SkipPart(part.key, &key)) return 0;
    parts--;
  }
  for (size_t i = 0; i < index.same_as.size() && parts > 0; i++) {
    if (index.same_as[i] >= 0) continue;
    if (!SkipPart(primary_parts()[i].key, &key)) return 0;
    parts--;
  }
  return all - key.size();
}

}  // namespace tidesdb::plugin
