// Decodes the parts around the blocks of a table file from any bytes: footer, handles, properties,
// filters.
#include "base/fuzz_input.h"
#include "format/filter_format.h"
#include "format/table_format.h"

namespace tidesdb {
namespace {

void FuzzFooter(Slice input) {
  TableFooter footer;
  if (DecodeTableFooter(input, input.size(), "table", &footer).ok()) {
    CHECK(footer.top_index.end() <= input.size() && footer.properties.end() <= input.size());
  }
  // Used as the content of a footer with a correct checksum.
  BlockHandle handle;
  if (!GetBlockHandle(&input, &handle) || handle.end() > (uint64_t{1} << 40)) return;
  std::string bytes;
  PutTableFooter(&bytes, {handle, handle});
  DecodeTableFooter(bytes, handle.end() + bytes.size(), "table", &footer).IgnoreError();
}

void FuzzHandles(Slice input) {
  PartitionHandles handles;
  if (!GetPartitionHandles(input, &handles)) return;
  CHECK(handles.index.end() > handles.index.offset);
  std::string bytes;
  PutPartitionHandles(&bytes, handles);
  PartitionHandles again;
  CHECK(GetPartitionHandles(bytes, &again) && again.index == handles.index &&
        again.filter == handles.filter);
}

void FuzzProperties(Slice input) {
  TableProperties properties;
  if (!GetTableProperties(&input, &properties)) return;
  std::string bytes;
  PutTableProperties(&bytes, properties);
  Slice rest = bytes;
  TableProperties again;
  CHECK(GetTableProperties(&rest, &again) && rest.empty() && again == properties);
}

void FuzzFilter(Slice input) {
  if (!ValidateFilter(input, 0, "table").ok()) return;
  for (uint64_t hash = 1; hash != 0; hash <<= 1) (void)FilterMayContain(input, hash * 0x9e3779b9);
}

}  // namespace
}  // namespace tidesdb

FUZZ_TARGET(input) {
  using namespace tidesdb;  // NOLINT: a function of C has no namespace of its own.
  switch (TakeChoice(&input, 4)) {
    case 0:
      return FuzzFooter(input);
    case 1:
      return FuzzHandles(input);
    case 2:
      return FuzzProperties(input);
    default:
      return FuzzFilter(input);
  }
}
