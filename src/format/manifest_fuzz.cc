// Decodes manifests, their records, and CURRENT from any bytes.
#include "base/fuzz_input.h"
#include "format/manifest_format.h"

namespace tidesdb {
namespace {

void CheckEdit(const VersionEdit& edit) {
  for (const VersionEdit::AddedFile& added : edit.add_files) {
    CHECK(added.level >= 0 && added.level < kLevels);
  }
  // A decoded edit can be encoded and decoded again.
  const std::string bytes = EncodeVersionEdit(edit);
  const auto again = DecodeVersionEdit(bytes, "again", 0);
  CHECK_OK(again.status());
  CHECK(DescribeVersionEdit(*again) == DescribeVersionEdit(edit));
}

void FuzzPayload(Slice payload) {
  const auto edit = DecodeVersionEdit(payload, "record", 0);
  if (edit.ok()) CheckEdit(*edit);
}

// The payload in a record with a correct checksum, and the rest as the end of the file.
void FuzzFile(Slice input) {
  std::string file = EncodeManifestHeader();
  const size_t length = input.size() / 2;
  if (length > 0) {
    const uint64_t offset = file.size();
    AppendManifestRecord(&file, offset, input.substr(0, length));
    AppendManifestSeal(&file, offset);
  }
  file.append(input.substr(length));
  const auto contents = ParseManifest(file, "manifest");
  if (!contents.ok()) return;
  CHECK(!contents->edits.empty() && contents->dropped_bytes <= input.size());
  for (const VersionEdit& edit : contents->edits) CheckEdit(edit);
}

}  // namespace
}  // namespace tidesdb

FUZZ_TARGET(input) {
  using namespace tidesdb;  // NOLINT: a function of C has no namespace of its own.
  switch (TakeChoice(&input, 4)) {
    case 0:
      return FuzzPayload(input);
    case 1:
      return FuzzFile(input);
    case 2:
      return ParseManifest(input, "manifest").status().IgnoreError();
    default:
      return ParseCurrent(input, "CURRENT").status().IgnoreError();
  }
}
