// Decodes frames and payloads of the log from any bytes.
#include "base/fuzz_input.h"
#include "format/wal_format.h"

namespace tidesdb {
namespace {

void FuzzFrame(Slice input) {
  if (input.size() < kWalFrameBytes) return;
  WalFrame frame;
  if (!ParseWalFrame(input.data(), WalPosition::At(1, 0), &frame)) return;
  const Slice payload = input.substr(kWalFrameBytes);
  if (frame.payload_bytes > payload.size()) return;
  (void)VerifyWalFrame(input.data(), payload.substr(0, frame.payload_bytes));
}

void FuzzBatch(Slice input) {
  if (input.size() < kWalPrefixBytes) return;
  WalBatchDecoder decoder(input, "record");
  WalOperation operation;
  std::string again;
  WalBatchEncoder encoder(&again);
  encoder.Begin();
  uint32_t operations = 0;
  while (decoder.Next(&operation)) {
    Touch(operation.key);
    Touch(operation.value);
    encoder.Add(operation);
    ++operations;
  }
  if (!decoder.status().ok()) return;
  CHECK(operations == decoder.operations());
  encoder.Finish();
  WalBatchDecoder decode_again(again, "again");
  while (decode_again.Next(&operation)) --operations;
  CHECK_OK(decode_again.status());
  CHECK(operations == 0);
}

void FuzzIngest(Slice input) {
  if (input.size() < kWalPrefixBytes) return;
  const auto ingest = WalIngest::Decode(input, "record");
  if (!ingest.ok()) return;
  std::string bytes;
  ingest->EncodeTo(&bytes);
  const auto again = WalIngest::Decode(bytes, "again");
  CHECK_OK(again.status());
  CHECK(again->files.size() == ingest->files.size());
}

void FuzzPrepared(Slice input) {
  if (input.size() < kWalPrefixBytes) return;
  WalOutcome::Decode(input, "record").status().IgnoreError();
  const auto prepare = WalPrepare::Decode(input, "record");
  if (!prepare.ok()) return;
  std::string bytes;
  WalPrepare::EncodeHeader(prepare->id, prepare->name, &bytes);
  bytes += prepare->writes;
  const auto again = WalPrepare::Decode(bytes, "again");
  CHECK_OK(again.status());
  CHECK(again->id == prepare->id && again->name == prepare->name);
  CHECK(again->writes == prepare->writes);
}

void FuzzSegmentStart(Slice input) {
  if (input.size() < kWalPrefixBytes) return;
  WalSegmentStart::Decode(input, "record").status().IgnoreError();
}

}  // namespace
}  // namespace tidesdb

FUZZ_TARGET(input) {
  using namespace tidesdb;  // NOLINT: a function of C has no namespace of its own.
  switch (TakeChoice(&input, 5)) {
    case 0:
      return FuzzFrame(input);
    case 1:
      return FuzzBatch(input);
    case 2:
      return FuzzIngest(input);
    case 3:
      return FuzzSegmentStart(input);
    default:
      return FuzzPrepared(input);
  }
}
