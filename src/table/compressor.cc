#include "table/compressor.h"

#include <lz4.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>

#include "base/check.h"
#include "base/coding.h"

namespace tidesdb {

namespace {

// The library's default: at 1 blocks grow by some percent, from 4 on the time doubles.
constexpr int kZstdLevel = 3;

// Larger blocks (one huge value) are stored raw: LZ4 and snappy have limits near 2 GiB.
constexpr size_t kRawBytesMax = size_t{1} << 30;

struct FreeZstdCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeZstdDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct Compressor::State {
  std::unique_ptr<ZSTD_CCtx, FreeZstdCompressor> zstd;
  std::unique_ptr<char[]> lz4;
};

Compressor::Compressor(Compression compression)
    : compression_(compression), state_(std::make_unique<State>()) {
  if (compression == Compression::kZstd) state_->zstd.reset(ZSTD_createCCtx());
  if (compression == Compression::kLz4) {
    // LZ4 clears it at each use.
    state_->lz4 = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(LZ4_sizeofState()));
  }
}

Compressor::~Compressor() = default;

bool Compressor::Compress(Slice raw, std::string* payload) {
  if (compression_ == Compression::kNone || raw.size() < 16 || raw.size() > kRawBytesMax) {
    return false;
  }
  const size_t payload_max = raw.size() - raw.size() / 8;
  char header[kVarint32BytesMax];
  const size_t header_bytes =
      static_cast<size_t>(EncodeVarint32(header, static_cast<uint32_t>(raw.size())) - header);
  const size_t room =
      std::max(payload_max, compression_ == Compression::kSnappy
                                ? header_bytes + snappy::MaxCompressedLength(raw.size())
                                : 0);
  if (payload->size() < room) payload->resize(room);
  std::copy_n(header, header_bytes, payload->data());
  char* out = payload->data() + header_bytes;
  const size_t out_max = payload_max - header_bytes;
  size_t out_bytes = 0;
  switch (compression_) {
    case Compression::kNone:
      return false;
    case Compression::kSnappy:
      snappy::RawCompress(raw.data(), raw.size(), out, &out_bytes);
      if (out_bytes > out_max) return false;
      break;
    case Compression::kLz4:
      out_bytes = static_cast<size_t>(LZ4_compress_fast_extState(state_->lz4.get(), raw.data(), out,
                                                                 static_cast<int>(raw.size()),
                                                                 static_cast<int>(out_max), 1));
      if (out_bytes == 0) return false;
      break;
    case Compression::kZstd:
      out_bytes =
          ZSTD_compressCCtx(state_->zstd.get(), out, out_max, raw.data(), raw.size(), kZstdLevel);
      if (ZSTD_isError(out_bytes) != 0) return false;
      break;
  }
  payload->resize(header_bytes + out_bytes);
  return true;
}

struct Decompressor::State {
  std::unique_ptr<ZSTD_DCtx, FreeZstdDecompressor> zstd;
};

Decompressor::Decompressor() = default;
Decompressor::~Decompressor() = default;

bool Decompressor::TakeRawBytes(Compression compression, Slice* payload, uint32_t* raw_bytes) {
  if (!GetVarint32(payload, raw_bytes) || *raw_bytes > kRawBytesMax) return false;
  // The libraries know the length, or its maximum, before any work: a wrong length must not make us
  // allocate a gigabyte.
  switch (compression) {
    case Compression::kNone:
      return false;
    case Compression::kSnappy: {
      size_t length = 0;
      return snappy::GetUncompressedLength(payload->data(), payload->size(), &length) &&
             length == *raw_bytes;
    }
    case Compression::kLz4:
      // A match of 255 bytes takes one more byte.
      return *raw_bytes / 255 <= payload->size();
    case Compression::kZstd:
      // A run of 128 KiB takes four bytes.
      return *raw_bytes / (128 << 10) <= payload->size() / 4 &&
             ZSTD_getFrameContentSize(payload->data(), payload->size()) == *raw_bytes;
  }
  return false;
}

bool Decompressor::Decompress(Compression compression, Slice payload, char* out,
                              uint32_t raw_bytes) {
  switch (compression) {
    case Compression::kNone:
      return false;
    case Compression::kSnappy:
      return snappy::RawUncompress(payload.data(), payload.size(), out);
    case Compression::kLz4:
      return payload.size() <= INT32_MAX &&
             LZ4_decompress_safe(payload.data(), out, static_cast<int>(payload.size()),
                                 static_cast<int>(raw_bytes)) == static_cast<int>(raw_bytes);
    case Compression::kZstd: {
      if (state_ == nullptr) {
        state_ = std::make_unique<State>();
        state_->zstd.reset(ZSTD_createDCtx());
      }
      return ZSTD_decompressDCtx(state_->zstd.get(), out, raw_bytes, payload.data(),
                                 payload.size()) == raw_bytes;
    }
  }
  return false;
}

}  // namespace tidesdb
