// Integers and byte strings to bytes and back; pure.
//
// Put* append to a string, Encode* write to memory that is large enough, Get* take from the front
// of a slice. If the bytes are too few or wrong, Get* return false and leave the slice unchanged;
// they never read past the end. Fixed is little-endian; BigEndian bytes compare like the numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb {

static_assert(std::endian::native == std::endian::little,
              "Fixed integers are stored little-endian");

inline constexpr size_t kVarint32BytesMax = 5;   // ceil(32 / 7)
inline constexpr size_t kVarint64BytesMax = 10;  // ceil(64 / 7)

// --- Fixed width ---

inline void EncodeFixed32(char* dst, uint32_t value) { std::memcpy(dst, &value, sizeof(value)); }
inline void EncodeFixed64(char* dst, uint64_t value) { std::memcpy(dst, &value, sizeof(value)); }
inline void EncodeBigEndian32(char* dst, uint32_t value) {
  EncodeFixed32(dst, __builtin_bswap32(value));
}
inline void EncodeBigEndian64(char* dst, uint64_t value) {
  EncodeFixed64(dst, __builtin_bswap64(value));
}

inline uint32_t DecodeFixed32(const char* src) {
  uint32_t value;
  std::memcpy(&value, src, sizeof(value));
  return value;
}
inline uint64_t DecodeFixed64(const char* src) {
  uint64_t value;
  std::memcpy(&value, src, sizeof(value));
  return value;
}
inline uint32_t DecodeBigEndian32(const char* src) { return __builtin_bswap32(DecodeFixed32(src)); }
inline uint64_t DecodeBigEndian64(const char* src) { return __builtin_bswap64(DecodeFixed64(src)); }

void PutFixed32(std::string* dst, uint32_t value);
void PutFixed64(std::string* dst, uint64_t value);
void PutBigEndian32(std::string* dst, uint32_t value);
void PutBigEndian64(std::string* dst, uint64_t value);

[[nodiscard]] bool GetFixed32(Slice* in, uint32_t* value);
[[nodiscard]] bool GetFixed64(Slice* in, uint64_t* value);
[[nodiscard]] bool GetBigEndian32(Slice* in, uint32_t* value);
[[nodiscard]] bool GetBigEndian64(Slice* in, uint64_t* value);
[[nodiscard]] bool GetByte(Slice* in, uint8_t* value);
// Takes n bytes; bytes views what in viewed.
[[nodiscard]] bool GetBytes(Slice* in, size_t n, Slice* bytes);

// --- Variable width: seven bits a byte, low bits first, the top bit means that more follow ---

size_t VarintLength(uint64_t value);
// Return the end of the written bytes (at most kVarint*BytesMax).
char* EncodeVarint32(char* dst, uint32_t value);
char* EncodeVarint64(char* dst, uint64_t value);
void PutVarint32(std::string* dst, uint32_t value);
void PutVarint64(std::string* dst, uint64_t value);

// Returns the first byte after the number, or null if [src, limit) holds no valid one.
const char* DecodeVarint32Slow(const char* src, const char* limit, uint32_t* value);
const char* DecodeVarint64(const char* src, const char* limit, uint64_t* value);
inline const char* DecodeVarint32(const char* src, const char* limit, uint32_t* value) {
  if (src < limit) [[likely]] {
    const auto byte = static_cast<uint8_t>(*src);
    if (byte < 0x80) [[likely]] {
      *value = byte;
      return src + 1;
    }
  }
  return DecodeVarint32Slow(src, limit, value);
}

[[nodiscard]] bool GetVarint32(Slice* in, uint32_t* value);
[[nodiscard]] bool GetVarint64(Slice* in, uint64_t* value);

// --- A varint32 length, then the bytes. REQUIRES of Put: bytes.size() < 2^32 ---

void PutLengthPrefixed(std::string* dst, Slice bytes);
[[nodiscard]] bool GetLengthPrefixed(Slice* in, Slice* bytes);

}  // namespace tidesdb
