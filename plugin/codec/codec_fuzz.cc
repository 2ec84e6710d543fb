// Decodes everything that the plugin stores from any bytes: rows, key parts, table entries,
// statistics.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "codec/key_codec.h"
#include "codec/row_codec.h"
#include "codec/table_def.h"
#include "codec/table_stats.h"

namespace tidesdb::plugin {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// A record: a byte of null bits, INT, CHAR(10), VARCHAR(20), VARCHAR(300), BLOB. All except the
// first are nullable.
constexpr uint32_t kRecordBytes = 1 + 4 + 10 + 21 + 302 + 12;

RowCodec Rows() {
  struct Shape {
    Column::Layout layout;
    uint32_t bytes;
    uint8_t length_bytes;
  };
  constexpr Shape kShapes[] = {{Column::Layout::kFixed, 4, 0},
                               {Column::Layout::kPadded, 10, 0},
                               {Column::Layout::kVarying, 20, 1},
                               {Column::Layout::kVarying, 300, 2},
                               {Column::Layout::kBlob, 12, 4}};
  std::vector<Column> columns;
  uint32_t offset = 1;
  for (const Shape& shape : kShapes) {
    Column column;
    column.layout = shape.layout;
    column.bytes = shape.bytes;
    column.length_bytes = shape.length_bytes;
    column.pad = ' ';
    column.offset = offset;
    if (!columns.empty()) column.null_mask = static_cast<uint8_t>(1 << columns.size());
    const bool with_length = shape.layout == Column::Layout::kVarying;
    offset += shape.bytes + (with_length ? shape.length_bytes : 0);
    columns.push_back(column);
  }
  RowCodec codec;
  static constexpr uint8_t kDefaults[kRecordBytes] = {};
  codec.Build(std::move(columns), 1, kDefaults);
  // The second column was added later.
  static RowHistory history;
  RowVersion before = codec.Describe();
  before.columns.erase(before.columns.begin() + 1);
  const std::vector<ColumnOrigin> origins = {
      {0, {}}, {-1, {0, false, "x"}}, {1, {}}, {2, {}}, {3, {}}};
  Require(AddRowVersion(before, codec.Describe(), origins, {}, &history));
  Require(codec.SetHistory(&history, history.newest()).ok());
  return codec;
}

void FuzzRow(Slice row) {
  static const RowCodec codec = Rows();
  RowPlan plan;
  plan.Build(codec, std::vector<bool>(codec.columns().size(), true));
  std::string record(kRecordBytes, '\0');
  auto* const bytes = reinterpret_cast<uint8_t*>(record.data());
  std::vector<ApartValue> apart;
  const bool listed = codec.ListApart(row, &apart).ok();
  if (!plan.Decode(row, bytes, &apart).ok()) return;
  // A decoded row can be encoded, and then gives the same record.
  std::vector<ApartValue> refers(codec.columns().size());
  for (const ApartValue& value : apart) refers[value.column] = value;
  std::string again;
  codec.Encode(bytes, refers, &again);
  std::string other(kRecordBytes, '\0');
  auto* const other_bytes = reinterpret_cast<uint8_t*>(other.data());
  std::vector<ApartValue> apart_again;
  Require(plan.Decode(again, other_bytes, &apart_again).ok());
  Require(apart_again.size() == apart.size());
  Require(!listed || (codec.ListApart(again, &apart).ok() && apart.size() == apart_again.size()));
  for (const Column& column : codec.columns()) {
    Require(IsNull(column, bytes) == IsNull(column, other_bytes));
    if (!IsNull(column, bytes)) {
      Require(RawValue(column, bytes) == RawValue(column, other_bytes));
    }
  }
}

void FuzzKey(Slice key) {
  constexpr PartKind kKinds[] = {PartKind::kUnsigned, PartKind::kSigned, PartKind::kFloat,
                                 PartKind::kDouble,   PartKind::kRaw,    PartKind::kBytes};
  if (key.empty()) return;
  const auto choice = static_cast<uint8_t>(key[0]);
  key.remove_prefix(1);
  KeyPart part;
  part.kind = kKinds[choice % std::size(kKinds)];
  part.nullable = (choice & 0x40) != 0;
  part.descending = (choice & 0x80) != 0;
  part.width = 1 + (choice >> 3) % 8;
  part.chars_max = 64;
  Slice skipped = key;
  const bool can_skip = SkipPart(part, &skipped);
  if (!IsReversible(part.kind)) return;
  uint8_t value[64];
  size_t length = 0;
  Slice taken = key;
  const Taken what = TakePart(part, &taken, value, sizeof value, &length);
  if (what == Taken::kBad) return;
  Require(can_skip && taken.size() == skipped.size());
  // A decoded value gives the same bytes again, except for marks that also mean "a value".
  std::string again;
  std::string scratch;
  if (what == Taken::kNull) {
    EncodeNull(part, &again);
  } else {
    EncodePart(part, {reinterpret_cast<const char*>(value), length}, &again, &scratch);
  }
  Slice rest = again;
  Require(SkipPart(part, &rest) && rest.empty());
}

void FuzzTableDef(Slice bytes) {
  const auto def = DecodeTableDef(bytes);
  if (!def.ok()) return;
  std::string again;
  EncodeTableDef(*def, &again);
  Require(DecodeTableDef(again).ok());
}

void FuzzTableStats(Slice bytes) {
  const auto stats = DecodeTableStats(bytes);
  if (!stats.ok()) return;
  std::string again;
  EncodeTableStats(*stats, &again);
  Require(DecodeTableStats(again).ok());
}

}  // namespace
}  // namespace tidesdb::plugin

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const tidesdb::Slice input(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      tidesdb::plugin::FuzzRow(input);
      break;
    case 1:
      tidesdb::plugin::FuzzKey(input);
      break;
    case 2:
      tidesdb::plugin::FuzzTableDef(input);
      break;
    default:
      tidesdb::plugin::FuzzTableStats(input);
      break;
  }
  return 0;
}
