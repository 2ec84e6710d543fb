// Decodes a block from any bytes: a block found valid must be safe to walk and search, whatever the order of its
// keys.
#include "base/fuzz_input.h"
#include "format/block_format.h"
#include "table/block_iter.h"
#include "table/block_search.h"

namespace tidesdb {
namespace {

constexpr uint32_t kStepsMax = 10'000;

void Walk(const BlockView& block) {
  BlockIter it;
  it.Reset(block, 0);
  uint32_t forward = 0;
  for (it.SeekToFirst(); it.Valid() && forward < kStepsMax; it.Next(), ++forward) {
    Touch(it.key());
    Touch(it.value());
  }
  uint32_t backward = 0;
  for (it.SeekToLast(); it.Valid() && backward < kStepsMax; it.Prev(), ++backward) Touch(it.key());
  CHECK(forward == backward);
}

void Search(const BlockView& block, Slice key) {
  BlockIter it;
  it.Reset(block, 7);
  for (const Trailer trailer : {Trailer{0}, kTrailerMax}) {
    it.Seek(key, trailer);
    if (it.Valid()) Touch(it.key());
    it.SeekForPrev(key, trailer);
    if (it.Valid()) Touch(it.value());
  }
}

}  // namespace
}  // namespace tidesdb

FUZZ_TARGET(input) {
  using namespace tidesdb;  // NOLINT: a function of C has no namespace of its own.
  const size_t key_bytes = TakeChoice(&input, 16);
  const Slice key = input.substr(0, key_bytes);
  const Slice contents = input.substr(key.size());
  if (!ValidateBlock(contents, 0, "block").ok()) return;
  const BlockView block(contents);
  Walk(block);
  Search(block, key);
  Search(block, contents.substr(0, 8));
}
