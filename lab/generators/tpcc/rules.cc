#include "lab/generators/tpcc/rules.h"

#include <array>
#include <string_view>

namespace tidesdb::lab::tpcc {

int64_t NuRand(Random* random, int64_t a, int64_t low, int64_t high, int64_t c) {
  const int64_t mixed = random->Uniform(0, a) | random->Uniform(low, high);
  return (mixed + c) % (high - low + 1) + low;
}

std::string LastName(int number) {
  static constexpr std::array<std::string_view, 10> kSyllables = {
      "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"};
  std::string name;
  for (const int digit : {number / 100 % 10, number / 10 % 10, number % 10}) {
    name += kSyllables[static_cast<size_t>(digit)];
  }
  return name;
}

std::string RandomLastName(Random* random) {
  return LastName(static_cast<int>(NuRand(random, 255, 0, 999, kLastNameC)));
}

std::string AlphaString(Random* random, int low, int high) {
  static constexpr std::string_view kAlphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const size_t length = static_cast<size_t>(random->Uniform(low, high));
  std::string text(length, '\0');
  // One draw gives eight characters: 62^8 < 2^48, so the bias of a 64-bit modulus is negligible.
  uint64_t bits = 0;
  for (size_t i = 0; i < length; ++i) {
    if (i % 8 == 0) bits = random->Next();
    text[i] = kAlphabet[bits % kAlphabet.size()];
    bits /= kAlphabet.size();
  }
  return text;
}

std::string NumberString(Random* random, int length) {
  std::string text(static_cast<size_t>(length), '0');
  for (char& digit : text) digit = static_cast<char>('0' + random->Uniform(0, 9));
  return text;
}

std::string Zip(Random* random) { return NumberString(random, 4) + "11111"; }

std::string ItemData(Random* random, bool original) {
  static constexpr std::string_view kOriginal = "ORIGINAL";
  std::string data = AlphaString(random, 26, 50);
  if (original) {
    const int64_t at = random->Uniform(0, static_cast<int64_t>(data.size() - kOriginal.size()));
    data.replace(static_cast<size_t>(at), kOriginal.size(), kOriginal);
  }
  return data;
}

bool Sampler::Take(Random* random) {
  const bool taken = random->Uniform(1, left_) <= wanted_;
  --left_;
  if (taken) --wanted_;
  return taken;
}

}  // namespace tidesdb::lab::tpcc
