#include "base/coding.h"

#include "base/check.h"

namespace tidesdb {
namespace {

template <typename T, void (*kEncode)(char*, T)>
void PutWith(std::string* dst, T value) {
  char buffer[sizeof(T)];
  kEncode(buffer, value);
  dst->append(buffer, sizeof(buffer));
}

template <typename T, T (*kDecode)(const char*)>
bool GetWith(Slice* in, T* value) {
  if (in->size() < sizeof(T)) return false;
  *value = kDecode(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}

template <typename T>
char* EncodeVarint(char* dst, T value) {
  while (value >= 0x80) {
    *dst++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *dst++ = static_cast<char>(value);
  return dst;
}

template <typename T>
const char* DecodeVarint(const char* src, const char* limit, T* value) {
  constexpr unsigned kBits = sizeof(T) * 8;
  T result = 0;
  for (unsigned shift = 0; shift < kBits && src < limit; shift += 7) {
    const auto byte = static_cast<uint8_t>(*src++);
    const T part = byte & 0x7f;
    // The last byte may only hold the remaining bits: each number has one length only.
    if (shift + 7 > kBits && (part >> (kBits - shift)) != 0) return nullptr;
    result = static_cast<T>(result | static_cast<T>(part << shift));
    if (byte < 0x80) {
      *value = result;
      return src;
    }
  }
  return nullptr;
}

bool Advance(Slice* in, const char* end) {
  if (end == nullptr) return false;
  in->remove_prefix(static_cast<size_t>(end - in->data()));
  return true;
}

}  // namespace

void PutFixed32(std::string* dst, uint32_t value) { PutWith<uint32_t, EncodeFixed32>(dst, value); }
void PutFixed64(std::string* dst, uint64_t value) { PutWith<uint64_t, EncodeFixed64>(dst, value); }
void PutBigEndian32(std::string* dst, uint32_t value) {
  PutWith<uint32_t, EncodeBigEndian32>(dst, value);
}
void PutBigEndian64(std::string* dst, uint64_t value) {
  PutWith<uint64_t, EncodeBigEndian64>(dst, value);
}

bool GetFixed32(Slice* in, uint32_t* value) { return GetWith<uint32_t, DecodeFixed32>(in, value); }
bool GetFixed64(Slice* in, uint64_t* value) { return GetWith<uint64_t, DecodeFixed64>(in, value); }
bool GetBigEndian32(Slice* in, uint32_t* value) {
  return GetWith<uint32_t, DecodeBigEndian32>(in, value);
}
bool GetBigEndian64(Slice* in, uint64_t* value) {
  return GetWith<uint64_t, DecodeBigEndian64>(in, value);
}

bool GetByte(Slice* in, uint8_t* value) {
  if (in->empty()) return false;
  *value = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  return true;
}

bool GetBytes(Slice* in, size_t n, Slice* bytes) {
  if (in->size() < n) return false;
  *bytes = in->substr(0, n);
  in->remove_prefix(n);
  return true;
}

size_t VarintLength(uint64_t value) {
  size_t length = 1;
  for (; value >= 0x80; value >>= 7) ++length;
  return length;
}

char* EncodeVarint32(char* dst, uint32_t value) { return EncodeVarint(dst, value); }
char* EncodeVarint64(char* dst, uint64_t value) { return EncodeVarint(dst, value); }

void PutVarint32(std::string* dst, uint32_t value) { PutVarint64(dst, value); }

void PutVarint64(std::string* dst, uint64_t value) {
  char buffer[kVarint64BytesMax];
  dst->append(buffer, static_cast<size_t>(EncodeVarint64(buffer, value) - buffer));
}

const char* DecodeVarint32Slow(const char* src, const char* limit, uint32_t* value) {
  return DecodeVarint(src, limit, value);
}

const char* DecodeVarint64(const char* src, const char* limit, uint64_t* value) {
  return DecodeVarint(src, limit, value);
}

bool GetVarint32(Slice* in, uint32_t* value) {
  return Advance(in, DecodeVarint32(in->data(), in->data() + in->size(), value));
}

bool GetVarint64(Slice* in, uint64_t* value) {
  return Advance(in, DecodeVarint64(in->data(), in->data() + in->size(), value));
}

void PutLengthPrefixed(std::string* dst, Slice bytes) {
  CHECK(bytes.size() <= UINT32_MAX);
  PutVarint32(dst, static_cast<uint32_t>(bytes.size()));
  dst->append(bytes);
}

bool GetLengthPrefixed(Slice* in, Slice* bytes) {
  Slice rest = *in;
  uint32_t length = 0;
  if (!GetVarint32(&rest, &length) || !GetBytes(&rest, length, bytes)) return false;
  *in = rest;
  return true;
}

}  // namespace tidesdb
