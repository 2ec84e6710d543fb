// Compresses and decompresses the payload of a block with snappy, LZ4 or zstd.
//
// Format: docs/format/block.md: payload of a compressed block := varint32 raw_bytes | the library's
//   bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tidesdb/options.h"
#include "tidesdb/slice.h"

namespace tidesdb {

// Threads: one at a time.
// Owns: the libraries' working memory, kept from block to block.
class Compressor {
 public:
  explicit Compressor(Compression compression);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Replaces *payload with the compressed block. False if that saves less than an eighth; then
  // *payload is undefined and the block must be stored raw. Always false for kNone.
  bool Compress(Slice raw, std::string* payload);

 private:
  struct State;
  const Compression compression_;
  const std::unique_ptr<State> state_;
};

// Threads: one at a time.
// Owns: the working memory of zstd, made at first use.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Takes the length of the raw block from the front of a compressed payload. False if it is not
  // possible.
  static bool TakeRawBytes(Compression compression, Slice* payload, uint32_t* raw_bytes);

  // Writes exactly raw_bytes to out. False if payload (without its length) is not a block of that
  // length. Accepts any bytes. REQUIRES: compression is not kNone.
  bool Decompress(Compression compression, Slice payload, char* out, uint32_t raw_bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidesdb
