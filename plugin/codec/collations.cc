#include "codec/collations.h"

#include <algorithm>
#include <cstring>

namespace tidesdb::plugin {
namespace {

const charset_info_st* Server(const void* handle) {
  return static_cast<const charset_info_st*>(handle);
}

// The server stops at this many weights (or characters, which of them depends on the collation);
// what a key takes was cut before.
constexpr uint kNoLimit = 0x7fffffff;

size_t WeighLevel(const void* handle, int level, uint8_t* to, size_t to_bytes, const uint8_t* from,
                  size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  uint flags = 0;
  if (cs->levels_for_order != MY_CS_COLL_LEVELS_S1) {
    uint levels =
        cs->levels_for_order;  // A bit each; the level is the number of a bit that is set.
    for (; level > 0; level--) levels &= levels - 1;
    flags = levels & -levels;
  }
  return cs->coll->strnxfrm(cs, to, to_bytes, kNoLimit, from, from_bytes, flags);
}

size_t WeighFull(const void* handle, int, uint8_t* to, size_t to_bytes, const uint8_t* from,
                 size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  return cs->coll->strnxfrm(cs, to, to_bytes, static_cast<uint>(to_bytes), from, from_bytes,
                            MY_STRXFRM_PAD_WITH_SPACE | MY_STRXFRM_PAD_TO_MAXLEN);
}

size_t WeightsBytesMax(const void* handle, size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  // strnxfrmlen() takes the bytes of so many of the longest characters; short ones weigh as much
  // each.
  return cs->coll->strnxfrmlen(cs, std::max<size_t>(1, from_bytes) * cs->mbmaxlen) + 16;
}

size_t PrefixBytes(const void* handle, const uint8_t* from, size_t from_bytes, uint32_t chars_max) {
  CHARSET_INFO* cs = Server(handle);
  if (cs->mbmaxlen == 1) return std::min<size_t>(from_bytes, chars_max);
  if (from_bytes <= chars_max) return from_bytes;
  const auto* text = reinterpret_cast<const char*>(from);
  return std::min<size_t>(from_bytes, cs->charpos(text, text + from_bytes, chars_max));
}

// One space weighs `pad`, and two spaces twice that.
bool FindPad(CHARSET_INFO* cs, int level, Collation::Pad* pad) {
  uint8_t spaces[16];
  const size_t space_bytes = cs->mbminlen;
  for (size_t i = 0; i < 2; i++) {
    cs->fill(reinterpret_cast<char*>(spaces + i * space_bytes), space_bytes, ' ');
  }
  uint8_t weights[64];
  const size_t one = WeighLevel(cs, level, weights, sizeof weights, spaces, space_bytes);
  if (one == 0 || one > sizeof pad->weights) return false;
  memcpy(pad->weights, weights, one);
  pad->bytes = static_cast<uint8_t>(one);
  const size_t two = WeighLevel(cs, level, weights, sizeof weights, spaces, 2 * space_bytes);
  return two == 2 * one && memcmp(weights, pad->weights, one) == 0 &&
         memcmp(weights + one, pad->weights, one) == 0;
}

void FillCommon(CHARSET_INFO* cs, Collation* collation) {
  collation->handle = cs;
  collation->weights_bytes_max = WeightsBytesMax;
  collation->prefix_bytes = PrefixBytes;
  collation->pad_space = (cs->state & MY_CS_NOPAD) == 0;
}

}  // namespace

bool FillCollation(CHARSET_INFO* cs, Collation* collation) {
  FillCommon(cs, collation);
  collation->weigh = WeighLevel;
  collation->levels = std::max(1, __builtin_popcount(cs->levels_for_order));
  // Only the Unicode collations give one level at a time.
  if (cs->levels_for_order > MY_CS_COLL_LEVELS_S1 && cs->uca == nullptr) return false;
  if (collation->levels > Collation::kLevelsMax) return false;
  if (!collation->pad_space) return true;
  for (int level = 0; level < collation->levels; level++) {
    if (!FindPad(cs, level, &collation->pad[level])) return false;
  }
  return true;
}

uint32_t FillFullCollation(CHARSET_INFO* cs, uint32_t chars_max, Collation* collation) {
  FillCommon(cs, collation);
  collation->weigh = WeighFull;
  collation->levels = 1;
  return static_cast<uint32_t>(cs->coll->strnxfrmlen(cs, size_t{chars_max} * cs->mbmaxlen));
}

}  // namespace tidesdb::plugin
