#include "tools/bench/data.h"

#include <bit>
#include <cstring>

namespace tidesdb::bench {
namespace {

constexpr size_t kTagBytes = sizeof(uint64_t);
constexpr size_t kOffsets = 4096;  // Possible starts of a value's bytes within the random ones.

uint64_t LoadWord(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

}  // namespace

uint64_t Mix(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

uint64_t Scatter(uint64_t number, uint64_t count) {
  // A permutation of the next power of two, repeated until the result is below count.
  const unsigned bits = static_cast<unsigned>(std::bit_width(count));
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const unsigned shift = (bits + 1) / 2;
  do {
    number = (number * 0x9e3779b97f4a7c15 + 0x632be5ab) & mask;
    number ^= number >> shift;
    number = (number * 0xbf58476d1ce4e5b9) & mask;
    number ^= number >> shift;
  } while (number >= count);
  return number;
}

Key::Key(uint64_t number, uint64_t odd) {
  std::memcpy(bytes_.data(), "benchkey", kKeyBytes - sizeof(uint64_t));
  uint64_t position = 2 * number + odd;
  for (size_t i = kKeyBytes; i-- > kKeyBytes - sizeof position; position >>= 8) {
    bytes_[i] = static_cast<char>(position & 0xff);
  }
}

Values::Values(size_t bytes) : value_(bytes, '\0') {
  Random random(1);
  while (random_.size() < kOffsets + bytes) {
    const uint64_t word = random.Next();
    random_.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
}

std::string_view Values::Of(uint64_t number, uint64_t version) {
  const uint64_t tag = Mix(number * 0x10001 + version);
  std::memcpy(value_.data(), &tag, kTagBytes);
  std::memcpy(value_.data() + kTagBytes, random_.data() + tag % kOffsets,
              value_.size() - kTagBytes);
  return value_;
}

uint64_t CheckOf(std::string_view value) {
  if (value.size() < kValueBytesMin) return value.size();
  return LoadWord(value.data()) + 31 * LoadWord(value.data() + value.size() - kTagBytes) +
         value.size();
}

void AddOne(std::string* value) {
  const uint64_t tag = LoadWord(value->data()) + 1;
  std::memcpy(value->data(), &tag, kTagBytes);
}

}  // namespace tidesdb::bench
