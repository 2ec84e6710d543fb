// Numbers to bytes and back, for the plugin's own formats.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb::plugin {

// Only for little-endian machines, like the server's record buffers.
inline void PutFixed32(std::string* out, uint32_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline void PutFixed64(std::string* out, uint64_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline uint32_t LoadFixed32(const char* p) {
  uint32_t value;
  memcpy(&value, p, sizeof value);
  return value;
}
inline uint64_t LoadFixed64(const char* p) {
  uint64_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

// Big-endian: the bytes compare like the numbers.
inline void PutBig32(std::string* out, uint32_t value) {
  value = __builtin_bswap32(value);
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline void PutBig64(std::string* out, uint64_t value) {
  value = __builtin_bswap64(value);
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline uint64_t LoadBig64(const char* p) { return __builtin_bswap64(LoadFixed64(p)); }

inline void PutVarint32(std::string* out, uint32_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// Takes numbers off the front of a slice. Returns: false when the bytes end too early.
inline bool TakeVarint32(Slice* in, uint32_t* value) {
  uint32_t result = 0;
  for (unsigned shift = 0; shift < 35 && !in->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    result |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}
inline bool TakeFixed32(Slice* in, uint32_t* value) {
  if (in->size() < sizeof *value) return false;
  *value = LoadFixed32(in->data());
  in->remove_prefix(sizeof *value);
  return true;
}
inline bool TakeFixed64(Slice* in, uint64_t* value) {
  if (in->size() < sizeof *value) return false;
  *value = LoadFixed64(in->data());
  in->remove_prefix(sizeof *value);
  return true;
}

inline void PutLengthPrefixed(std::string* out, Slice bytes) {
  PutVarint32(out, static_cast<uint32_t>(bytes.size()));
  out->append(bytes);
}
inline bool TakeLengthPrefixed(Slice* in, Slice* bytes) {
  uint32_t length;
  if (!TakeVarint32(in, &length) || in->size() < length) return false;
  *bytes = in->substr(0, length);
  in->remove_prefix(length);
  return true;
}

}  // namespace tidesdb::plugin
