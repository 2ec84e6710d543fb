#include "codec/collations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/latch.h"

namespace tidesdb::plugin {
namespace {

const charset_info_st* Server(const void* handle) {
  return static_cast<const charset_info_st*>(handle);
}

// The server stops at this many weights (or characters, which of them depends on the collation);
// what a key takes was cut before.
constexpr uint kNoLimit = 0x7fffffff;

bool IsNamed(CHARSET_INFO* cs, std::string_view name) {
  return name == std::string_view(cs->coll_name.str, cs->coll_name.length);
}

bool IsCzech(CHARSET_INFO* cs) {
  return IsNamed(cs, "cp1250_czech_cs") || IsNamed(cs, "latin2_czech_cs");
}

bool IsThai(CHARSET_INFO* cs) {
  return IsNamed(cs, "tis620_thai_ci") || IsNamed(cs, "tis620_thai_nopad_ci");
}

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

// Czech words are weighed in several passes without a separator. What is weighed is compared as it
// is, but not the spaces at the end.
size_t WeighTrimmed(const void* handle, int, uint8_t* to, size_t to_bytes, const uint8_t* from,
                    size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  const size_t trimmed = cs->lengthsp(reinterpret_cast<const char*>(from), from_bytes);
  return cs->coll->strnxfrm(cs, to, to_bytes, kNoLimit, from, trimmed, 0);
}

// Thai without padding is compared as C strings are: a zero ends it.
size_t WeighToZero(const void* handle, int level, uint8_t* to, size_t to_bytes, const uint8_t* from,
                   size_t from_bytes) {
  const size_t made = WeighLevel(handle, level, to, to_bytes, from, from_bytes);
  const void* const zero = memchr(to, 0, made);
  return zero == nullptr ? made : static_cast<size_t>(static_cast<const uint8_t*>(zero) - to);
}

// The server sorts Chinese by strokes, of which many characters have the same number, but compares
// it by codes.
size_t WeighByCode(const void* handle, int, uint8_t* to, size_t to_bytes, const uint8_t* from,
                   size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  const uint8_t* const end = from + from_bytes;
  size_t made = 0;
  while (from < end && made + 2 <= to_bytes) {
    const int bytes = cs->charlen(from, end);
    if (bytes == 1) {
      to[made++] = cs->sort_order[*from++];
      continue;
    }
    // Half a character is greater than every whole one.
    to[made++] = bytes == 2 ? from[0] : 0xff;
    to[made++] = bytes == 2 ? from[1] : from[0];
    from += bytes == 2 ? 2 : 1;
  }
  return made;
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

size_t TrimmedBytes(const void* handle, const uint8_t* from, size_t from_bytes) {
  return Server(handle)->lengthsp(reinterpret_cast<const char*>(from), from_bytes);
}

// The smallest character, so often that a CHAR column is full.
size_t UnfilledBytes(const void* handle, const uint8_t* from, size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  uint8_t smallest[4];
  const size_t bytes = cs->mbminlen;
  cs->fill(reinterpret_cast<char*>(smallest), bytes, static_cast<int>(cs->min_sort_char));
  while (from_bytes >= bytes && memcmp(from + from_bytes - bytes, smallest, bytes) == 0) {
    from_bytes -= bytes;
  }
  return from_bytes;
}

// What the letters of a collation that are several characters start with: all of these but the last,
// all but the last two, and so on. Sorted.
using LetterStart = std::array<my_wc_t, MY_UCA_MAX_CONTRACTION>;
using LetterStarts = std::vector<LetterStart>;

LetterStarts FindLetterStarts(const MY_CONTRACTIONS& contractions) {
  LetterStarts starts;
  for (size_t i = 0; i < contractions.nitems; i++) {
    const MY_CONTRACTION& letter = contractions.item[i];
    if (letter.with_context) continue;  // Weighs its last character, by the one in front of it.
    LetterStart start = {};
    for (size_t n = 0; n + 1 < start.size() && letter.ch[n + 1] != 0; n++) {
      start[n] = letter.ch[n];
      starts.push_back(start);
    }
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

// Kept for good, as the server keeps its collations.
const LetterStarts& LetterStartsOf(CHARSET_INFO* cs) {
  static Latch latch;  // Guards all.
  static std::map<CHARSET_INFO*, std::unique_ptr<const LetterStarts>> all;
  const LatchGuard guard(latch);
  auto& starts = all[cs];
  if (starts == nullptr) {
    starts = std::make_unique<const LetterStarts>(FindLetterStarts(cs->uca->level[0].contractions));
  }
  return *starts;
}

size_t SettledBytes(const Collation& collation, const uint8_t* from, size_t from_bytes) {
  CHARSET_INFO* cs = Server(collation.handle);
  const auto& starts = *static_cast<const LetterStarts*>(collation.letters);
  constexpr size_t kLast = MY_UCA_MAX_CONTRACTION - 1;
  std::array<my_wc_t, kLast> last = {};      // The last characters, the newest at the end,
  std::array<const uint8_t*, kLast> places;  // and where they are.
  places.fill(nullptr);
  const uint8_t* at = from;
  const uint8_t* const end = from + from_bytes;
  while (at < end) {
    my_wc_t character = 0;
    const int bytes = cs->cset->mb_wc(cs, &character, at, end);
    std::move(last.begin() + 1, last.end(), last.begin());
    std::move(places.begin() + 1, places.end(), places.begin());
    last.back() = bytes > 0 ? character : 0;
    places.back() = at;
    at += std::max(1, bytes);
  }
  for (size_t i = 0; i < kLast; i++) {
    if (places[i] == nullptr) continue;
    LetterStart start = {};
    std::copy(last.begin() + static_cast<ptrdiff_t>(i), last.end(), start.begin());
    if (std::binary_search(starts.begin(), starts.end(), start)) {
      return static_cast<size_t>(places[i] - from);
    }
  }
  return from_bytes;
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

// The server's weights are not always what its comparison goes by.
decltype(Collation::weigh) WeigherOf(CHARSET_INFO* cs) {
  if (IsCzech(cs)) return WeighTrimmed;
  if (IsNamed(cs, "big5_chinese_ci") || IsNamed(cs, "big5_chinese_nopad_ci")) return WeighByCode;
  if (IsThai(cs) && (cs->state & MY_CS_NOPAD) != 0) return WeighToZero;
  return WeighLevel;
}

}  // namespace

bool FillCollation(CHARSET_INFO* cs, Levels levels, Collation* collation) {
  collation->handle = cs;
  collation->weights_bytes_max = WeightsBytesMax;
  collation->prefix_bytes = PrefixBytes;
  collation->trimmed_bytes = TrimmedBytes;
  collation->weigh = WeigherOf(cs);
  if (IsCzech(cs)) return true;
  collation->levels = std::max(1, __builtin_popcount(cs->levels_for_order));
  // Only the Unicode collations give one level at a time.
  if (collation->levels > 1 && cs->uca == nullptr) return false;
  if (collation->levels > Collation::kLevelsMax) return false;
  if (levels == Levels::kFirst) collation->levels = 1;
  // Without padding the server still pads all levels but the first: it takes one letter for a
  // letter with an accent that does not count.
  const int unpadded = (cs->state & MY_CS_NOPAD) != 0 ? 1 : 0;
  if (unpadded != 0) collation->unfilled_bytes = UnfilledBytes;
  for (int level = unpadded; level < collation->levels; level++) {
    if (!FindPad(cs, level, &collation->pad[level])) return false;
  }
  return true;
}

bool WeighsAcrossCharacters(CHARSET_INFO* cs) {
  return cs->uca != nullptr || IsNamed(cs, "latin1_german2_ci");
}

uint32_t FillStarts(CHARSET_INFO* cs, uint32_t characters, Collation* collation) {
  if (cs->uca != nullptr && !LetterStartsOf(cs).empty()) {
    collation->letters = &LetterStartsOf(cs);
    collation->settled_bytes = SettledBytes;
  }
  constexpr uint32_t kUnicodeWeight = 2;
  return characters *
         std::max<uint32_t>(collation->pad[0].bytes, cs->uca != nullptr ? kUnicodeWeight : 1);
}

const char* WhyNoIndex(CHARSET_INFO* cs, bool filled, bool prefix) {
  if (cs == &my_charset_bin) return nullptr;
  const bool filled_unpadded = filled && (cs->state & MY_CS_NOPAD) != 0;
  if (filled_unpadded && IsThai(cs)) return "sorts a tone after the spaces that fill CHAR";
  if (prefix && filled_unpadded) return "counts the spaces at the end of a prefix";
  if (prefix && IsCzech(cs)) return "compares words as wholes";
  if (prefix && IsThai(cs)) return "sorts a vowel behind the consonant that follows it";
  return nullptr;
}

}  // namespace tidesdb::plugin
