// A log directory of one or two segments from any bytes: replay ends, with records or an error.
#include <algorithm>

#include "base/clock.h"
#include "base/fuzz_input.h"
#include "base/logger.h"
#include "base/metrics.h"
#include "io/file_names.h"
#include "io/mem_fs.h"
#include "wal/wal_reader.h"

namespace tidesdb {
namespace {

constexpr char kDir[] = "/db";

void Write(MemFs* fs, uint64_t segment, Slice bytes) {
  auto file = fs->NewWritableFile(WalFileName(kDir, segment), OpenMode::kCreate);
  CHECK_OK(file.status());
  CHECK_OK((*file)->Append(bytes));
}

// Puts a frame with a correct checksum around each piece, so that the code after this check is
// reached too. Each piece starts with its length (1 byte).
std::string Framed(uint32_t segment, Slice input) {
  std::string bytes;
  while (!input.empty()) {
    const size_t length = std::min<size_t>(static_cast<uint8_t>(input[0]), input.size() - 1);
    const Slice payload = input.substr(1, length);
    input.remove_prefix(1 + length);
    WalFrame frame;
    frame.payload_bytes = static_cast<uint32_t>(payload.size());
    frame.position = WalPosition::At(segment, bytes.size());
    char header[kWalFrameBytes];
    EncodeWalFrame(frame, payload, header);
    bytes.append(header, sizeof header).append(payload);
    bytes.resize((bytes.size() + kWalAlignment - 1) / kWalAlignment * kWalAlignment);
  }
  return bytes;
}

void Replay(MemFs* fs) {
  FakeClock clock;
  Metrics metrics;
  WalOptions options;
  options.dir = kDir;
  options.clock = &clock;
  options.metrics = &metrics;
  options.fs = fs;
  const auto reader = WalReader::Open(options, 0, {});
  if (!reader.ok()) return;
  SequenceNumber last = 0;
  for (;;) {
    WalRecord record;
    const auto more = (*reader)->Next(&record);
    if (!more.ok()) return;
    if (!*more) break;
    CHECK(IsWalCommit(record.kind) ? record.sequence > last : record.sequence == 0);
    last = std::max(last, record.sequence);
    Touch(record.payload);
  }
  CHECK((*reader)->end().last_sequence >= last);
}

}  // namespace
}  // namespace tidesdb

FUZZ_TARGET(input) {
  using namespace tidesdb;  // NOLINT: a function of C has no namespace of its own.
  MemFs fs;
  CHECK_OK(fs.CreateDir(kDir));
  const uint8_t choice = TakeChoice(&input, 4);
  const size_t half = (choice & 1) != 0 ? input.size() / 2 : input.size();
  const bool framed = (choice & 2) != 0;
  Write(&fs, 1, framed ? Framed(1, input.substr(0, half)) : std::string(input.substr(0, half)));
  if (half < input.size()) {
    Write(&fs, 2, framed ? Framed(2, input.substr(half)) : std::string(input.substr(half)));
  }
  Replay(&fs);
}
