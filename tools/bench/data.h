// Keys and values of a benchmark, derived from numbers, so that every answer can be checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidesdb::bench {

constexpr size_t kKeyBytes = 16;
constexpr size_t kValueBytesMin = 16;
constexpr size_t kValueBytesMax = 64 << 10;

// Spreads the bits of a number: distinct numbers stay distinct.
uint64_t Mix(uint64_t number);

// A small generator (SplitMix64); the same seed gives the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15); }
  // Below count, nearly uniform for counts far below 2^64.
  uint64_t Below(uint64_t count) { return Next() % count; }

 private:
  uint64_t state_;
};

// Maps each number below count to a different one, scattered. REQUIRES: number < count.
uint64_t Scatter(uint64_t number, uint64_t count);

// The key of a number; between two of them is a key that is never in the data.
class Key {
 public:
  explicit Key(uint64_t number) : Key(number, 0) {}
  static Key Missing(uint64_t number) { return Key(number, 1); }
  std::string_view bytes() const { return {bytes_.data(), bytes_.size()}; }

 private:
  Key(uint64_t number, uint64_t odd);

  std::array<char, kKeyBytes> bytes_;
};

// Makes values of one size. The first eight bytes are a separate number; the rest follows it.
class Values {
 public:
  // REQUIRES: kValueBytesMin <= bytes <= kValueBytesMax.
  explicit Values(size_t bytes);
  // The value of a number's version. Lives until the next call.
  std::string_view Of(uint64_t number, uint64_t version);

 private:
  std::string random_;
  std::string value_;
};

// A checksum of a value's ends and length; its sums show whether the right values were read.
uint64_t CheckOf(std::string_view value);

// Adds one to the first eight bytes of a value, and so to its check.
void AddOne(std::string* value);

}  // namespace tidesdb::bench
