#include "codec/table_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/bytes.h"

namespace tidesdb::plugin {
namespace {

constexpr size_t kPartsMax = MAX_REF_PARTS;

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

bool TableCodec::ValueOf(const Part& part, const uchar* record, Slice* raw) const {
  if (part.everywhere != nullptr) {
    *raw = part.everywhere->value;
    return !part.everywhere->null;
  }
  const Column& column = rows_.columns()[part.column];
  if (IsNull(column, record)) return false;
  *raw = RawValue(column, record);
  return true;
}

void TableCodec::EncodeColumn(const Part& part, const uchar* record, std::string* key) const {
  Slice raw;
  if (ValueOf(part, record, &raw)) {
    EncodePart(part.key, raw, key, &scratch_);
  } else {
    EncodeNull(part.key, key);
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
  Slice raw;
  for (const Part& part : index.parts) {
    if (ValueOf(part, record, &raw)) {
      EncodePart(part.key, raw, key, &scratch_);
    } else {
      EncodeNull(part.key, key);
      has_null = true;
    }
  }
  if (!index.unique || has_null) AppendPrimaryKey(index, record, primary_key, key);
  if (index.unique) PutLengthPrefixed(value, primary_key);
  for (const Part& part : index.values) {
    if (!ValueOf(part, record, &raw)) continue;
    if (part.trims_value) {
      while (!raw.empty() && raw.back() == ' ') raw.remove_suffix(1);
    }
    PutLengthPrefixed(value, raw);
  }
  return has_null;
}

bool TableCodec::HasInexactEnds(uint key_number) const {
  const auto inexact = [](const Part& part) {
    return MayBeWider(part.key) || part.key.weights_max != 0;
  };
  const std::vector<Part>& parts = indexes_[key_number].parts;
  if (std::any_of(parts.begin(), parts.end(), inexact)) return true;
  return !hidden_key_ && std::any_of(primary_parts().begin(), primary_parts().end(), inexact);
}

uint TableCodec::ImageBytes(const Part& part) {
  return (part.key.nullable ? 1 : 0) + (part.image_varying ? HA_KEY_BLOB_LENGTH : 0) +
         part.image_bytes;
}

// The value at image, after the NULL byte; moves image past that byte.
Slice TableCodec::RawOf(const Part& part, const uchar** image) {
  const uchar* at = *image;
  uint32_t bytes = part.image_bytes;
  if (part.image_varying) {
    bytes = uint2korr(at);
    at += HA_KEY_BLOB_LENGTH;
  }
  *image = at + part.image_bytes;
  return {reinterpret_cast<const char*>(at), bytes};
}

// Whether LIKE produced a range's value for a part, with padding. Null: the range has no value for
// this part.
bool TableCodec::IsLike(const Part& part, const uchar* start, const uchar* end) {
  if (!MayBeWider(part.key)) return false;
  const uchar* const high = part.key.descending ? start : end;
  const uchar* image = high != nullptr ? high : part.key.descending ? end : start;
  if (part.key.nullable && *image++ != 0) return false;
  const Slice raw = RawOf(part, &image);
  const auto* from = reinterpret_cast<const uint8_t*>(raw.data());
  const Collation& collation = *part.key.collation;
  const auto unfilled = high != nullptr ? collation.unfilled_end : collation.unfilled_start;
  return unfilled(collation.handle, from, raw.size()) < raw.size();
}

TableCodec::RangedParts TableCodec::FindRangedParts(uint key_number, const key_range* start,
                                                    const key_range* end) const {
  const Index& index = indexes_[key_number];
  RangedParts ranged;
  uint at = 0;
  uint number = 0;
  bool same = start != nullptr && end != nullptr;
  const auto visit = [&](const Part& part) {
    const uint bytes = ImageBytes(part);
    const auto in = [&](const key_range* range) {
      return range != nullptr && at + bytes <= range->length ? range->key + at : nullptr;
    };
    const uchar* const from = in(start);
    const uchar* const to = in(end);
    if (from == nullptr && to == nullptr) return;
    same = same && from != nullptr && to != nullptr && memcmp(from, to, bytes) == 0;
    if (!same) {
      ranged.from = std::min(ranged.from, number);
      if (IsLike(part, from, to)) ranged.like |= key_part_map{1} << number;
    }
    at += bytes;
    number++;
  };
  for (const Part& part : index.parts) visit(part);
  if (!index.unique && !hidden_key_ && !is_primary(key_number)) {
    for (const Part& part : primary_parts()) {
      if (!HasColumn(index, part.column)) visit(part);
    }
  }
  return ranged;
}

// For a text that begins or ends a range: computes the common start of all texts that the server
// may have meant. Returns: false if the server's text is exact.
bool TableCodec::Widen(const KeyPart& part, ImageSide side, bool is_like, Slice* raw) {
  const Collation& collation = *part.collation;
  const bool low = (side == ImageSide::kStart) != part.descending;
  if (!is_like && !(low && collation.starts_weigh_alone)) return false;
  const auto* from = reinterpret_cast<const uint8_t*>(raw->data());
  size_t n = raw->size();
  // Texts that continue with characters that sort before spaces are before the text alone.
  const auto trim = [&] {
    const bool pads = part.trim_spaces || collation.pad[0].bytes != 0;
    if (low && pads) n = collation.trimmed_bytes(collation.handle, from, n);
  };
  trim();
  n = low ? collation.unfilled_start(collation.handle, from, n)
          : collation.unfilled_end(collation.handle, from, n);
  trim();
  if (is_like && collation.alike_bytes != nullptr) {
    n = collation.alike_bytes(collation, from, n);
  }
  *raw = raw->substr(0, n);
  return true;
}

// Whether the server has not cut a text, so that nothing follows. It pads CHAR.
bool TableCodec::IsWhole(const Part& part, Slice raw) {
  if (part.key.trim_spaces) return false;
  const Collation& collation = *part.key.collation;
  const auto* from = reinterpret_cast<const uint8_t*>(raw.data());
  return collation.prefix_bytes(collation.handle, from, raw.size(), part.key.chars_max - 1) ==
         raw.size();
}

// Whether only the start of the text is known from its key.
bool TableCodec::IsStart(const Part& part, Slice raw) {
  return part.key.weights_max != 0 && !IsWhole(part, raw);
}

// Appends one part of a key in the server's form and moves image past it.
TableCodec::ImagePart TableCodec::EncodeImagePart(const Part& part, uint number,
                                                  const uchar** image, std::string* key,
                                                  const ImageUse& use) const {
  const bool ranged =
      use.side != ImageSide::kKey && number >= use.ranged.from && MayBeWider(part.key);
  const bool null = part.key.nullable && *(*image)++ != 0;
  Slice raw = RawOf(part, image);
  if (null) {
    EncodeNull(part.key, key);
    return ImagePart::kNull;
  }
  const bool is_like = (use.ranged.like >> number & 1) != 0;
  const bool widened = ranged && Widen(part.key, use.side, is_like, &raw);
  if (widened || IsStart(part, raw)) {
    EncodeStart(part.key, raw, !widened, key, &scratch_);
    return ImagePart::kStart;
  }
  KeyPart key_part = part.key;
  // The spaces may belong to the value.
  key_part.trim_spaces &= !ranged || part.key.collation->pad[0].bytes != 0;
  EncodePart(key_part, raw, key, &scratch_);
  return ImagePart::kValue;
}

// Continues with the primary key's columns. The server gives only those that the index does not
// contain.
void TableCodec::AppendPrimaryKeyImage(const Index& index, const uchar* columns, const uchar* image,
                                       const uchar* end, const ImageUse& use, std::string* key,
                                       ImageKey* result) const {
  std::array<const uchar*, kPartsMax> starts = {};
  const uchar* at = columns;
  std::string ignored;
  for (size_t i = 0; i < index.parts.size(); i++) {
    starts[i] = at;
    EncodeImagePart(index.parts[i], 0, &at, &ignored, {});
  }
  auto number = static_cast<uint>(index.parts.size());
  bool beyond = false;
  for (size_t i = 0; i < primary_parts().size() && image < end && !beyond; i++) {
    const Part& primary = primary_parts()[i];
    const Part* among = nullptr;
    for (size_t j = 0; j < index.parts.size(); j++) {
      if (index.parts[j].column != primary.column) continue;
      among = &index.parts[j];
      at = starts[j];
    }
    if (among == nullptr) {
      beyond = EncodeImagePart(primary, number++, &image, key, use) == ImagePart::kStart;
    } else if (index.same_as[i] < 0) {
      if (!among->whole_column) break;
      EncodeImagePart(primary, 0, &at, key, {});
    }
  }
  result->is_start |= beyond;
  result->used_all &= image >= end && !beyond;
}

TableCodec::ImageKey TableCodec::FromImage(uint key_number, const uchar* image, uint length,
                                           std::string* key, const ImageUse& use) const {
  const Index& index = indexes_[key_number];
  ImageKey result;
  key->clear();
  const uchar* const columns = image;
  const uchar* const end = image + length;
  uint used = 0;
  while (used < index.parts.size() && image < end) {
    const ImagePart part = EncodeImagePart(index.parts[used], used, &image, key, use);
    used++;
    result.has_null |= part == ImagePart::kNull;
    result.is_start |= part == ImagePart::kStart;
    if (result.is_start && use.side != ImageSide::kKey) {
      result.used_all = false;
      return result;
    }
    if (part == ImagePart::kStart && image < end) {
      result.further.push_back({used, {}});
      key = &result.further.back().start;
    }
  }
  result.used_all = result.further.empty();
  result.tells_more = TellsMore(index, columns, end);
  const bool all_columns = used == index.parts.size();
  result.whole_key = all_columns && (is_primary(key_number) || (index.unique && !result.has_null));
  if (image >= end) return result;
  if (!index.unique && !hidden_key_ && !is_primary(key_number)) {
    AppendPrimaryKeyImage(index, columns, image, end, use, key, &result);
  } else {
    result.used_all = false;
  }
  return result;
}

int TableCodec::ComparePrimary(const uchar* a, const uchar* b) const {
  for (const Part& part : primary_parts()) {
    const Slice one = RawOf(part, &a);
    const int order = ComparePart(part.key, one, RawOf(part, &b), &scratch_);
    if (order != 0) return order;
  }
  return 0;
}

bool TableCodec::IsAmong(uint key_number, Slice key,
                         const std::vector<ImageKey::Further>& further) const {
  return std::all_of(further.begin(), further.end(), [&](const ImageKey::Further& part) {
    return key.substr(PrefixBytes(key_number, key, part.after_parts)).starts_with(part.start);
  });
}

// Calls visit for each text of an image that is complete and whose key bytes other texts share;
// visit returns whether to continue.
template <typename Visit>
void TableCodec::VisitAlike(const Index& index, const uchar* image, const uchar* end,
                            const Visit& visit) {
  for (const Part& part : index.parts) {
    if (image >= end) return;
    const bool null = part.key.nullable && *image++ != 0;
    const Slice raw = RawOf(part, &image);
    if (!null && part.alike && IsWhole(part, raw) && !visit(part, raw)) return;
  }
}

bool TableCodec::TellsMore(const Index& index, const uchar* image, const uchar* end) {
  if (!index.alike) return false;
  bool tells = false;
  VisitAlike(index, image, end, [&](const Part&, Slice) {
    tells = true;
    return false;
  });
  return tells;
}

bool TableCodec::IsOfImage(uint key_number, const uchar* record, Slice image) const {
  const auto* const from = reinterpret_cast<const uchar*>(image.data());
  bool same = true;
  VisitAlike(indexes_[key_number], from, from + image.size(), [&](const Part& part, Slice asked) {
    const auto* const cs = static_cast<CHARSET_INFO*>(part.key.collation->handle);
    const Slice has = RawValue(rows_.columns()[part.column], record);
    same = cs->strnncollsp(has.data(), has.size(), asked.data(), asked.size()) == 0;
    return same;
  });
  return same;
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
