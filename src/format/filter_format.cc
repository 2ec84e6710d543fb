#include "format/filter_format.h"

#include <algorithm>

#include "base/check.h"
#include "base/coding.h"
#include "format/corruption.h"

namespace tidesdb {

namespace {

struct ShapeRow {
  uint32_t bits_per_key;
  uint8_t probes;
  double fpr;
};

// Keys fall into lines as a Poisson process of mean 512 / bits_per_key; a line of n keys gives a
// false positive with (1 - (1 - 1/512)^(probes * n))^probes. The table has the sum over n for the
// best number of probes up to 8: more probes cost more time than their saved bits are worth. The
// test recomputes the table.
constexpr ShapeRow kShapes[] = {
    {2, 1, 0.393469},  {3, 2, 0.237125},  {4, 3, 0.147863},  {5, 3, 0.092885},  {6, 4, 0.057535},
    {7, 5, 0.036403},  {8, 5, 0.023121},  {9, 6, 0.014727},  {10, 7, 0.009571}, {11, 7, 0.006173},
    {12, 8, 0.004069}, {13, 8, 0.002680}, {14, 8, 0.001807}, {15, 8, 0.001244}, {16, 8, 0.000873},
    {17, 8, 0.000623}, {18, 8, 0.000452}, {19, 8, 0.000333}, {20, 8, 0.000249}, {21, 8, 0.000188},
    {22, 8, 0.000144}, {23, 8, 0.000111}, {24, 8, 0.000087},
};

}  // namespace

FilterShape ChooseFilterShape(double fpr) {
  CHECK(fpr > 0 && fpr < 1);
  const ShapeRow* row = std::find_if(std::begin(kShapes), std::end(kShapes),
                                     [fpr](const ShapeRow& r) { return r.fpr <= fpr; });
  if (row == std::end(kShapes)) --row;
  return {row->bits_per_key, row->probes};
}

void BuildFilter(const std::vector<uint64_t>& hashes, FilterShape shape, std::string* contents) {
  constexpr uint64_t kLineBits = kFilterLineBytes * 8;
  const uint64_t lines =
      std::max<uint64_t>(1, (hashes.size() * shape.bits_per_key + kLineBits - 1) / kLineBits);
  CHECK(lines <= UINT32_MAX / kFilterLineBytes);
  const auto line_count = static_cast<uint32_t>(lines);
  contents->assign(lines * kFilterLineBytes, '\0');
  for (const uint64_t hash : hashes) {
    char* line = contents->data() + kFilterLineBytes * filter_internal::LineOf(hash, line_count);
    uint64_t h = hash;
    for (uint8_t i = 0; i < shape.probes; ++i) {
      h *= filter_internal::kMultiplier;
      const uint64_t bit = h >> 55;
      line[bit / 8] = static_cast<char>(static_cast<uint8_t>(line[bit / 8]) | 1 << (bit % 8));
    }
  }
  PutFixed32(contents, line_count);
  contents->push_back(static_cast<char>(shape.probes));
}

Status ValidateFilter(Slice contents, uint64_t file_offset, Slice path) {
  if (contents.size() < kFilterTrailerBytes) {
    return CorruptionAt(path, file_offset, "filter is shorter than its trailer: bytes",
                        kFilterTrailerBytes, contents.size());
  }
  const char* trailer = contents.data() + contents.size() - kFilterTrailerBytes;
  const uint64_t lines = DecodeFixed32(trailer);
  const uint64_t bytes = lines * kFilterLineBytes + kFilterTrailerBytes;
  if (lines == 0 || bytes != contents.size()) {
    return CorruptionAt(path, file_offset, "bytes of filter", bytes, contents.size());
  }
  const auto probes = static_cast<uint8_t>(trailer[4]);
  if (probes == 0 || probes > kFilterProbesMax) {
    return CorruptionAt(path, file_offset, "probes of filter (most)", kFilterProbesMax, probes);
  }
  return Status::Ok();
}

}  // namespace tidesdb
