#include "codec/row_codec.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/bytes.h"

namespace tidesdb::plugin {
namespace {

// Stored on disk; never renumber.
constexpr uint8_t kFormat = 1;         // Of the table's first version.
constexpr uint8_t kFormatVersion = 2;  // A byte holds the version.
constexpr uint8_t kFormatApart = 3;    // Then bits say which values lie apart.
constexpr uint8_t kWideEnds = 1;       // Ends of varying values have 4 bytes instead of 2.
constexpr uint8_t kPutOnce = 2;        // See MarkPutOnce().

constexpr size_t kFlagsAt = 1;
constexpr size_t kHeaderBytes = 2;
constexpr size_t kVersionBytes = 1;
constexpr size_t kReferenceBytes = sizeof(uint64_t) + sizeof(uint32_t);

uint32_t LoadLength(const uint8_t* p, uint8_t length_bytes) {
  uint32_t length = 0;
  memcpy(&length, p, length_bytes);
  return length;
}

void StoreLength(uint32_t length, uint8_t length_bytes, uint8_t* p) {
  memcpy(p, &length, length_bytes);
}

// The bytes of a column worth copying if it has no value: all of them, but for a varying column
// only the value.
size_t DefaultBytes(const Column& column, const uint8_t* defaults) {
  if (column.layout != Column::Layout::kVarying) return column.bytes;
  return column.length_bytes + LoadLength(defaults + column.offset, column.length_bytes);
}

// The largest size of a value.
uint64_t BytesMax(const Column& column) {
  if (column.layout != Column::Layout::kBlob) return column.bytes;
  return (1ULL << (8 * column.length_bytes)) - 1;
}

bool IsVarying(const Column& column) { return column.layout != Column::Layout::kFixed; }

// Without trailing `pad` bytes, of which a CHAR column may have hundreds.
Slice WithoutPadding(Slice raw, uint8_t pad) {
  const uint64_t eight_pads = pad * 0x0101010101010101U;
  while (raw.size() >= 8 && LoadFixed64(raw.data() + raw.size() - 8) == eight_pads) {
    raw.remove_suffix(8);
  }
  while (!raw.empty() && static_cast<uint8_t>(raw.back()) == pad) raw.remove_suffix(1);
  return raw;
}

constexpr char kBeyond[] = "a value ends beyond the row";

Status Damaged(const char* what) { return Status::Corruption(std::string("row: ") + what); }

}  // namespace

Slice RawValue(const Column& column, const uint8_t* record) {
  const uint8_t* const at = record + column.offset;
  switch (column.layout) {
    case Column::Layout::kFixed:
    case Column::Layout::kPadded:
      return {reinterpret_cast<const char*>(at), column.bytes};
    case Column::Layout::kVarying:
      return {reinterpret_cast<const char*>(at + column.length_bytes),
              LoadLength(at, column.length_bytes)};
    case Column::Layout::kBlob: {
      const char* data;
      memcpy(&data, at + column.length_bytes, sizeof data);
      return {data, LoadLength(at, column.length_bytes)};
    }
  }
  return {};
}

bool StoreRawValue(const Column& column, Slice raw, uint8_t* record) {
  uint8_t* const at = record + column.offset;
  switch (column.layout) {
    case Column::Layout::kFixed:
      if (raw.size() != column.bytes) return false;
      memcpy(at, raw.data(), raw.size());
      return true;
    case Column::Layout::kPadded:
      if (raw.size() > column.bytes) return false;
      memcpy(at, raw.data(), raw.size());
      memset(at + raw.size(), column.pad, column.bytes - raw.size());
      return true;
    case Column::Layout::kVarying:
      if (raw.size() > column.bytes) return false;
      StoreLength(static_cast<uint32_t>(raw.size()), column.length_bytes, at);
      memcpy(at + column.length_bytes, raw.data(), raw.size());
      return true;
    case Column::Layout::kBlob: {
      if (column.length_bytes < 4 && raw.size() >> (8 * column.length_bytes) != 0) return false;
      StoreLength(static_cast<uint32_t>(raw.size()), column.length_bytes, at);
      const char* data = raw.data();
      memcpy(at + column.length_bytes, &data, sizeof data);
      return true;
    }
  }
  return false;
}

void RowCodec::Build(std::vector<Column> columns, uint32_t null_bytes, const uint8_t* defaults) {
  columns_ = std::move(columns);
  null_bytes_ = null_bytes;
  defaults_ = defaults;
  null_masks_.assign(null_bytes, 0);
  fixed_.clear();
  varying_.clear();
  fixed_bytes_ = 0;
  has_blobs_ = false;
  history_ = nullptr;
  version_ = 0;
  for (uint32_t i = 0; i < columns_.size(); i++) {
    const Column& column = columns_[i];
    if (!column.stored) continue;
    if (column.null_mask != 0) null_masks_[column.null_offset] |= column.null_mask;
    if (IsVarying(column)) {
      varying_.push_back(i);
      has_blobs_ |= column.layout == Column::Layout::kBlob;
    } else {
      fixed_.push_back(i);
      fixed_bytes_ += column.bytes;
    }
  }
}

RowVersion RowCodec::Describe() const {
  RowVersion version;
  version.null_bytes = null_bytes_;
  for (const Column& column : columns_) {
    if (!column.stored) continue;
    RowColumn& row_column = version.columns.emplace_back();
    row_column.varying = IsVarying(column);
    row_column.bytes = row_column.varying ? 0 : column.bytes;
    row_column.null_mask = column.null_mask;
    row_column.null_offset = column.null_mask != 0 ? column.null_offset : 0;
  }
  return version;
}

std::vector<uint32_t> RowCodec::StoredColumns() const {
  std::vector<uint32_t> stored;
  for (uint32_t i = 0; i < columns_.size(); i++) {
    if (columns_[i].stored) stored.push_back(i);
  }
  return stored;
}

Status RowCodec::SetHistory(const RowHistory* history, uint32_t version) {
  history_ = nullptr;
  version_ = 0;
  if (history == nullptr || history->versions.empty()) return Status::Ok();
  const RowVersion& held = history->versions[version];
  const RowVersion mine = Describe();
  bool same = held.null_bytes == mine.null_bytes && held.columns.size() == mine.columns.size();
  for (size_t i = 0; same && i < mine.columns.size(); i++) {
    RowColumn column = mine.columns[i];
    column.id = held.columns[i].id;
    same = column == held.columns[i];
  }
  if (!same) return Damaged("the table's columns differ from the dictionary's");
  history_ = history;
  version_ = version;
  return Status::Ok();
}

void RowCodec::SetApartOver(uint64_t bytes) {
  // Smaller values are not worth a key.
  constexpr uint64_t kLeast = 64;
  apart_over_ = bytes == 0 ? 0 : std::max(bytes, kLeast);
  long_columns_.clear();
  if (apart_over_ == 0) return;
  for (const uint32_t i : varying_) {
    if (columns_[i].layout != Column::Layout::kPadded && BytesMax(columns_[i]) > apart_over_) {
      long_columns_.push_back(i);
    }
  }
}

RowCodec::Form RowCodec::OwnForm() const {
  return {null_bytes_, fixed_bytes_, static_cast<uint32_t>(varying_.size())};
}

RowCodec::Form RowCodec::FormOf(const RowVersion& version) {
  Form form;
  form.null_bytes = version.null_bytes;
  for (const RowColumn& column : version.columns) {
    form.fixed_bytes += column.bytes;
    form.varying += column.varying ? 1 : 0;
  }
  return form;
}

// REQUIRES: a history.
uint32_t RowCodec::ColumnOfId(uint32_t id) const {
  const std::vector<RowColumn>& columns = history_->versions[version_].columns;
  const std::vector<uint32_t> stored = StoredColumns();
  for (size_t i = 0; i < columns.size(); i++) {
    if (columns[i].id == id) return stored[i];
  }
  return ApartValue::kNoColumn;
}

Status RowCodec::ReadHeader(Slice row, Header* header) {
  if (row.size() < kHeaderBytes) return Damaged("too short");
  const auto format = static_cast<uint8_t>(row[0]);
  header->wide = (static_cast<uint8_t>(row[kFlagsAt]) & kWideEnds) != 0;
  header->body = row.substr(kHeaderBytes);
  if (format == kFormat) return Status::Ok();
  if (format != kFormatVersion && format != kFormatApart) {
    return Status::NotSupported("row: format " + std::to_string(format) +
                                "; this version reads formats up to " +
                                std::to_string(kFormatApart));
  }
  if (header->body.empty()) return Damaged("too short");
  header->version = static_cast<uint8_t>(header->body[0]);
  header->body.remove_prefix(kVersionBytes);
  if (format == kFormatApart && !TakeLengthPrefixed(&header->body, &header->apart)) {
    return Damaged("too short");
  }
  return Status::Ok();
}

bool RowCodec::IsApart(const Header& header, uint32_t place) {
  return place / 8 < header.apart.size() &&
         (static_cast<uint8_t>(header.apart[place / 8]) >> (place % 8) & 1) != 0;
}

bool RowCodec::FitsIn(const Header& header, const Form& form) {
  const size_t ends = form.varying * (header.wide ? 4U : 2U);
  return header.body.size() >= form.null_bytes + form.fixed_bytes + ends;
}

// REQUIRES: FitsIn(). Returns: false if it ends beyond the row.
bool RowCodec::VaryingValue(const Header& header, const Form& form, uint32_t place, Slice* value) {
  const size_t end_bytes = header.wide ? 4 : 2;
  const char* const ends = header.body.data() + form.null_bytes + form.fixed_bytes;
  const char* const data = ends + form.varying * end_bytes;
  const auto data_bytes = static_cast<size_t>(header.body.data() + header.body.size() - data);
  uint32_t start = 0;
  uint32_t end = 0;
  if (place > 0) memcpy(&start, ends + (place - 1) * end_bytes, end_bytes);
  memcpy(&end, ends + place * end_bytes, end_bytes);
  if (start > end || end > data_bytes) return false;
  *value = Slice(data + start, end - start);
  return true;
}

Status RowCodec::TakeApart(Slice reference, uint32_t column, std::vector<ApartValue>* apart) {
  ApartValue value;
  value.column = column;
  if (!TakeFixed64(&reference, &value.id) || !TakeFixed32(&reference, &value.bytes) ||
      !reference.empty() || value.id == 0) {
    return Damaged("a reference to a value is invalid");
  }
  apart->push_back(value);
  return Status::Ok();
}

void RowCodec::Encode(const uint8_t* record, const std::vector<ApartValue>& apart,
                      std::string* row) const {
  std::string apart_bits;
  const auto is_apart = [&](uint32_t i) {
    return i < apart.size() && apart[i].id != 0 && !IsNull(columns_[i], record);
  };
  size_t varying_bytes_max = 0;
  for (size_t place = 0; place < varying_.size(); place++) {
    const uint32_t i = varying_[place];
    const Column& column = columns_[i];
    if (is_apart(i)) {
      apart_bits.resize((varying_.size() + 7) / 8);
      apart_bits[place / 8] |= static_cast<char>(1 << (place % 8));
      varying_bytes_max += kReferenceBytes;
    } else if (!IsNull(column, record)) {
      varying_bytes_max += RawValue(column, record).size();
    }
  }
  const bool wide = varying_bytes_max > 0xffff;
  const size_t end_bytes = wide ? 4 : 2;
  row->clear();
  row->push_back(static_cast<char>(!apart_bits.empty() ? kFormatApart
                                   : version_ == 0     ? kFormat
                                                       : kFormatVersion));
  row->push_back(static_cast<char>(wide ? kWideEnds : 0));
  if (version_ != 0 || !apart_bits.empty()) row->push_back(static_cast<char>(version_));
  if (!apart_bits.empty()) PutLengthPrefixed(row, apart_bits);
  const size_t nulls = row->size();
  const size_t ends = nulls + null_bytes_ + fixed_bytes_;
  const size_t data = ends + varying_.size() * end_bytes;
  row->resize(data);

  char* to = row->data() + nulls;
  const uint8_t* record_nulls = record;
  for (const uint8_t mask : null_masks_) *to++ = static_cast<char>(*record_nulls++ & mask);
  for (const uint32_t i : fixed_) {
    const Column& column = columns_[i];
    if (IsNull(column, record)) {
      memset(to, 0, column.bytes);
    } else {
      memcpy(to, record + column.offset, column.bytes);
    }
    to += column.bytes;
  }
  size_t at = ends;
  for (const uint32_t i : varying_) {
    const Column& column = columns_[i];
    if (is_apart(i)) {
      PutFixed64(row, apart[i].id);
      PutFixed32(row, apart[i].bytes);
    } else if (!IsNull(column, record)) {
      Slice raw = RawValue(column, record);
      if (column.layout == Column::Layout::kPadded) raw = WithoutPadding(raw, column.pad);
      row->append(raw);
    }
    const auto end = static_cast<uint32_t>(row->size() - data);
    memcpy(row->data() + at, &end, end_bytes);
    at += end_bytes;
  }
}

void RowCodec::MarkPutOnce(std::string* row) {
  (*row)[kFlagsAt] = static_cast<char>(static_cast<uint8_t>((*row)[kFlagsAt]) | kPutOnce);
}

bool RowCodec::IsPutOnce(Slice row) {
  return row.size() > kFlagsAt && (static_cast<uint8_t>(row[kFlagsAt]) & kPutOnce) != 0;
}

Status RowCodec::ListApart(Slice row, std::vector<ApartValue>* apart) const {
  apart->clear();
  Header header;
  TIDESDB_TRY(ReadHeader(row, &header));
  if (header.apart.empty()) return Status::Ok();
  const bool own = header.version == version_;
  if (!own && (history_ == nullptr || header.version >= history_->versions.size())) {
    return Damaged("its version is not in the dictionary");
  }
  // The column of each varying value.
  std::vector<uint32_t> columns = varying_;
  Form form = OwnForm();
  if (!own) {
    const RowVersion& held = history_->versions[header.version];
    columns.clear();
    form = FormOf(held);
    for (const RowColumn& column : held.columns) {
      if (column.varying) columns.push_back(ColumnOfId(column.id));
    }
  }
  if (!FitsIn(header, form)) return Damaged("too short for its columns");
  for (uint32_t place = 0; place < form.varying; place++) {
    if (!IsApart(header, place)) continue;
    Slice reference;
    if (!VaryingValue(header, form, place, &reference)) return Damaged(kBeyond);
    TIDESDB_TRY(TakeApart(reference, columns[place], apart));
  }
  return Status::Ok();
}

bool RowCodec::SameRow(const uint8_t* a, const uint8_t* b) const {
  for (const Column& column : columns_) {
    if (!column.stored) continue;
    if (IsNull(column, a) != IsNull(column, b)) return false;
    if (!IsNull(column, a) && RawValue(column, a) != RawValue(column, b)) return false;
  }
  return true;
}

void RowPlan::Build(const RowCodec& codec, const std::vector<bool>& wanted) {
  codec_ = &codec;
  copies_.clear();
  varying_.clear();
  nullable_.clear();
  null_masks_.assign(codec.null_bytes_, 0);
  for (uint32_t i = 0; i < codec.columns_.size(); i++) {
    const Column& column = codec.columns_[i];
    if (!wanted[i] || !column.stored || column.null_mask == 0) continue;
    nullable_.push_back(i);
    null_masks_[column.null_offset] |= column.null_mask;
  }
  wants_blobs_ = false;
  stored_.clear();
  for (uint32_t i = 0; i < codec.columns_.size(); i++) {
    if (wanted[i] && codec.columns_[i].stored) stored_.push_back(i);
  }
  others_.clear();
  if (codec.history_ != nullptr) others_.resize(codec.history_->versions.size());
  uint32_t from = codec.null_bytes_;
  for (const uint32_t i : codec.fixed_) {
    const Column& column = codec.columns_[i];
    if (wanted[i]) {
      Copy* last = copies_.empty() ? nullptr : &copies_.back();
      if (last != nullptr && last->from + last->bytes == from &&
          last->to + last->bytes == column.offset) {
        last->bytes += column.bytes;
      } else {
        copies_.push_back({from, column.offset, column.bytes});
      }
    }
    from += column.bytes;
  }
  for (uint32_t i = 0; i < codec.varying_.size(); i++) {
    if (!wanted[codec.varying_[i]]) continue;
    varying_.push_back(i);
    wants_blobs_ |= codec.columns_[codec.varying_[i]].layout == Column::Layout::kBlob;
  }
}

// Returns: whether a wanted column is NULL.
bool RowPlan::DecodeNullBits(const char* nulls, uint8_t* record) const {
  bool any = false;
  for (uint32_t i = 0; i < codec_->null_bytes_; i++) {
    const uint8_t mask = null_masks_[i];
    const auto wanted = static_cast<uint8_t>(static_cast<uint8_t>(nulls[i]) & mask);
    any |= wanted != 0;
    record[i] = static_cast<uint8_t>(wanted | (codec_->defaults_[i] & ~mask));
  }
  return any;
}

// The server compares records byte by byte to find changes.
void RowPlan::FillNull(const Column& column, uint8_t* record) const {
  memcpy(record + column.offset, codec_->defaults_ + column.offset,
         DefaultBytes(column, codec_->defaults_));
}

void RowPlan::FillNulls(uint8_t* record) const {
  for (const uint32_t i : nullable_) {
    const Column& column = codec_->columns_[i];
    if (IsNull(column, record)) FillNull(column, record);
  }
}

Status RowPlan::Decode(Slice row, uint8_t* record, std::vector<ApartValue>* apart) const {
  apart->clear();
  RowCodec::Header header;
  TIDESDB_TRY(RowCodec::ReadHeader(row, &header));
  if (header.version != codec_->version_) return DecodeOther(header, record, apart);
  if (!RowCodec::FitsIn(header, codec_->OwnForm())) return Damaged("too short for its columns");
  const char* const body = header.body.data();
  const bool any_null = DecodeNullBits(body, record);
  for (const Copy& copy : copies_) {
    if (copy.bytes == sizeof(uint32_t)) {  // A single INT: not worth a call.
      memcpy(record + copy.to, body + copy.from, sizeof(uint32_t));
    } else {
      memcpy(record + copy.to, body + copy.from, copy.bytes);
    }
  }
  if (any_null) FillNulls(record);
  return varying_.empty() ? Status::Ok() : DecodeVarying(header, record, apart);
}

Status RowPlan::DecodeVarying(const RowCodec::Header& header, uint8_t* record,
                              std::vector<ApartValue>* apart) const {
  const RowCodec::Form form = codec_->OwnForm();
  for (const uint32_t place : varying_) {
    const uint32_t i = codec_->varying_[place];
    const Column& column = codec_->columns_[i];
    if (IsNull(column, record)) continue;
    Slice value;
    if (!RowCodec::VaryingValue(header, form, place, &value)) return Damaged(kBeyond);
    if (RowCodec::IsApart(header, place)) {
      TIDESDB_TRY(RowCodec::TakeApart(value, i, apart));
      value = value.substr(0, 0);
    }
    if (!StoreRawValue(column, value, record)) return Damaged("a value is larger than its column");
  }
  return Status::Ok();
}

const RowPlan::OtherVersion& RowPlan::Other(uint32_t version) const {
  OtherVersion& other = others_[version];
  if (other.made) return other;
  const RowHistory& history = *codec_->history_;
  const std::vector<uint32_t> all = codec_->StoredColumns();
  const RowVersion& held_version = history.versions[version];
  other.form = RowCodec::FormOf(held_version);
  other.sources.resize(stored_.size());
  for (size_t i = 0, wanted = 0; i < all.size() && wanted < stored_.size(); i++) {
    if (all[i] != stored_[wanted]) continue;
    const uint32_t id = history.versions[codec_->version_].columns[i].id;
    Source& source = other.sources[wanted++];
    source.column = all[i];
    source.instead = history.FindDefault(id);
    uint32_t fixed = held_version.null_bytes;
    uint32_t varying = 0;
    for (const RowColumn& held : held_version.columns) {
      if (held.id == id) {
        source.held = &held;
        source.place = held.varying ? varying : fixed;
        break;
      }
      fixed += held.bytes;
      varying += held.varying ? 1 : 0;
    }
  }
  other.made = true;
  return other;
}

Status RowPlan::DecodeOther(const RowCodec::Header& header, uint8_t* record,
                            std::vector<ApartValue>* apart) const {
  if (header.version >= others_.size()) {
    return Damaged("its version is not in the dictionary");
  }
  const OtherVersion& other = Other(header.version);
  if (!RowCodec::FitsIn(header, other.form)) return Damaged("too short for its columns");
  for (uint32_t i = 0; i < codec_->null_bytes_; i++) {
    record[i] = static_cast<uint8_t>(codec_->defaults_[i] & ~null_masks_[i]);
  }
  for (const Source& source : other.sources) {
    TIDESDB_TRY(DecodeSource(other, source, header, record, apart));
  }
  return Status::Ok();
}

Status RowPlan::DecodeSource(const OtherVersion& other, const Source& source,
                             const RowCodec::Header& header, uint8_t* record,
                             std::vector<ApartValue>* apart) const {
  const Column& column = codec_->columns_[source.column];
  const Slice body = header.body;
  bool null = false;
  Slice value;
  if (source.held == nullptr) {
    // An .frm from before the drop of the column has only the column's own default.
    null = source.instead != nullptr ? source.instead->null : IsNull(column, codec_->defaults_);
    if (source.instead != nullptr) {
      value = source.instead->value;
    } else if (!null && column.layout != Column::Layout::kBlob) {
      value = RawValue(column, codec_->defaults_);
    }
  } else if (source.held->null_mask != 0 &&
             (static_cast<uint8_t>(body[source.held->null_offset]) & source.held->null_mask) != 0) {
    null = true;
  } else if (!source.held->varying) {
    value = body.substr(source.place, source.held->bytes);
  } else {
    if (!RowCodec::VaryingValue(header, other.form, source.place, &value)) {
      return Damaged(kBeyond);
    }
    if (RowCodec::IsApart(header, source.place)) {
      TIDESDB_TRY(RowCodec::TakeApart(value, source.column, apart));
      value = value.substr(0, 0);
    }
  }
  if (null) {
    if (column.null_mask == 0) return Damaged("a NOT NULL column is NULL");
    record[column.null_offset] |= column.null_mask;
    FillNull(column, record);
    return Status::Ok();
  }
  if (StoreRawValue(column, value, record)) return Status::Ok();
  return Damaged("a value is larger than its column");
}

}  // namespace tidesdb::plugin
