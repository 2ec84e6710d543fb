// TPC-C's data rules (clause 4.3.2) as in HammerDB's TPROC-C: sizes, names, random texts.
#pragma once

#include <cstdint>
#include <string>

#include "lab/generators/common/random.h"

namespace tidesdb::lab::tpcc {

inline constexpr int kItems = 100000;
inline constexpr int kStockPerWarehouse = kItems;
inline constexpr int kDistricts = 10;  // In each warehouse.
inline constexpr int kCustomersPerDistrict = 3000;
inline constexpr int kOrdersPerDistrict = 3000;
inline constexpr int kNewOrdersPerDistrict = 900;
// The load leaves orders from this number on undelivered: 3000 - 900 + 1.
inline constexpr int kFirstNewOrder = kOrdersPerDistrict - kNewOrdersPerDistrict + 1;
inline constexpr int kUnusedItem = kItems + 1;  // Used by the 1 % of new orders that roll back.
inline constexpr int kLinesMin = 5;
inline constexpr int kLinesMax = 15;
// HammerDB uses one constant C for the load and the run. (The specification has two.)
inline constexpr int kLastNameC = 123;

// Non-uniform random, clause 2.1.6.
int64_t NuRand(Random* random, int64_t a, int64_t low, int64_t high, int64_t c);

// Clause 4.3.2.3: three syllables from the digits of number. REQUIRES: 0 <= number <= 999.
std::string LastName(int number);
// The last name for a customer lookup.
std::string RandomLastName(Random* random);

// Letters and digits, their number uniform in [low, high].
std::string AlphaString(Random* random, int low, int high);
// Exactly `length` digits.
std::string NumberString(Random* random, int length);
// Four random digits and 11111, clause 4.3.2.7.
std::string Zip(Random* random);
// 26 to 50 characters; with `original` it contains the word ORIGINAL (clause 4.3.3.1).
std::string ItemData(Random* random, bool original);

// Selects exactly `wanted` of `total` things, each equally likely, in one pass.
class Sampler {
 public:
  Sampler(int wanted, int total) : wanted_(wanted), left_(total) {}
  // REQUIRES: called at most `total` times.
  bool Take(Random* random);

 private:
  int wanted_;
  int left_;
};

}  // namespace tidesdb::lab::tpcc
