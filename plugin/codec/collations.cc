#include "codec/collations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/latch.h"

namespace tidesdb::plugin {
namespace {

const charset_info_st* Server(const void* handle) {
  return static_cast<const charset_info_st*>(handle);
}

// The server stops at this many weights (or characters, depending on the collation). The caller has
// already cut the text to the key's part.
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
        cs->levels_for_order;  // One bit for each level; the level is the number of the set bit.
    for (; level > 0; level--) levels &= levels - 1;
    flags = levels & -levels;
  }
  return cs->coll->strnxfrm(cs, to, to_bytes, kNoLimit, from, from_bytes, flags);
}

// Czech words are weighed in several passes without a separator. What has weights compares as it
// is, except for spaces at the end.
size_t WeighTrimmed(const void* handle, int, uint8_t* to, size_t to_bytes, const uint8_t* from,
                    size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  const size_t trimmed = cs->lengthsp(reinterpret_cast<const char*>(from), from_bytes);
  return cs->coll->strnxfrm(cs, to, to_bytes, kNoLimit, from, trimmed, 0);
}

// Thai without padding compares like C strings: a zero byte ends it.
size_t WeighToZero(const void* handle, int level, uint8_t* to, size_t to_bytes, const uint8_t* from,
                   size_t from_bytes) {
  const size_t made = WeighLevel(handle, level, to, to_bytes, from, from_bytes);
  const void* const zero = memchr(to, 0, made);
  return zero == nullptr ? made : static_cast<size_t>(static_cast<const uint8_t*>(zero) - to);
}

// The server sorts Chinese by strokes, which many characters share, but compares it by codes.
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
  // strnxfrmlen() takes the size of this many of the longest characters; short ones have as many
  // weights each.
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

size_t BytesWithoutEnd(const uint8_t* from, size_t from_bytes, Slice end) {
  while (from_bytes >= end.size() &&
         memcmp(from + from_bytes - end.size(), end.data(), end.size()) == 0) {
    from_bytes -= end.size();
  }
  return from_bytes;
}

// LIKE pads with the smallest character, and CHAR with spaces.
size_t UnfilledStart(const void* handle, const uint8_t* from, size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  char smallest[4];
  cs->fill(smallest, cs->mbminlen, static_cast<int>(cs->min_sort_char));
  return BytesWithoutEnd(from, from_bytes, Slice(smallest, cs->mbminlen));
}

// Like my_like_range_*() of the server: the greatest character while there is room, then spaces or
// zeros.
size_t UnfilledEnd(const void* handle, const uint8_t* from, size_t from_bytes) {
  CHARSET_INFO* cs = Server(handle);
  const my_wc_t greatest = cs->max_sort_char;
  uint8_t character[8];
  int bytes = 1;
  if ((cs->state & MY_CS_UNICODE) != 0) {
    bytes = cs->cset->wc_mb(cs, greatest, character, character + sizeof character);
  } else if (greatest <= 0xff) {
    character[0] = static_cast<uint8_t>(greatest);
  } else {
    character[0] = static_cast<uint8_t>(greatest >> 8);
    character[1] = static_cast<uint8_t>(greatest);
    bytes = 2;
  }
  if (bytes <= 0) return from_bytes;
  size_t filled = TrimmedBytes(handle, from, from_bytes);
  for (int i = 1; i < bytes && filled > 0 && from[filled - 1] == 0; i++) filled--;
  const Slice end(reinterpret_cast<const char*>(character), static_cast<size_t>(bytes));
  const size_t unfilled = BytesWithoutEnd(from, filled, end);
  return unfilled < filled ? unfilled : from_bytes;
}

// The letters of a collation that consist of several characters.
using LetterStart = std::array<my_wc_t, MY_UCA_MAX_CONTRACTION>;
struct Letters {
  // Their beginnings: each without the last character, without the last two, and so on. Sorted.
  std::vector<LetterStart> starts;
  // The weights of their first character alone, and of the first two, each alone.
  std::set<std::string> heads;
  std::set<std::pair<std::string, std::string>> pairs;
};

std::string WeightsOf(CHARSET_INFO* cs, const uint8_t* from, size_t from_bytes) {
  std::string weights(64, '\0');
  weights.resize(WeighLevel(cs, 0, reinterpret_cast<uint8_t*>(weights.data()), weights.size(), from,
                            from_bytes));
  return weights;
}

std::string WeightsOf(CHARSET_INFO* cs, const my_wc_t* characters, size_t n) {
  uint8_t bytes[8 * MY_UCA_MAX_CONTRACTION];
  size_t made = 0;
  for (size_t i = 0; i < n && characters[i] != 0; i++) {
    made += static_cast<size_t>(
        std::max(0, cs->cset->wc_mb(cs, characters[i], bytes + made, bytes + sizeof bytes)));
  }
  return WeightsOf(cs, bytes, made);
}

Letters FindLetters(CHARSET_INFO* cs) {
  Letters letters;
  const MY_CONTRACTIONS& contractions = cs->uca->level[0].contractions;
  for (size_t i = 0; i < contractions.nitems; i++) {
    const my_wc_t* const letter = contractions.item[i].ch;
    std::string head = WeightsOf(cs, letter, 1);
    letters.pairs.emplace(head, WeightsOf(cs, letter + 1, 1));
    // If the first character keeps its weights, the characters after it do not matter.
    const std::string whole = WeightsOf(cs, letter, MY_UCA_MAX_CONTRACTION);
    if (letter[2] == 0 && Slice(whole).starts_with(head)) continue;
    letters.heads.insert(std::move(head));
    LetterStart start = {};
    for (size_t n = 0; n + 1 < start.size() && letter[n + 1] != 0; n++) {
      start[n] = letter[n];
      letters.starts.push_back(start);
    }
  }
  std::sort(letters.starts.begin(), letters.starts.end());
  letters.starts.erase(std::unique(letters.starts.begin(), letters.starts.end()),
                       letters.starts.end());
  return letters;
}

// Kept forever, like the server's collations. Null: each character is a letter.
const Letters* LettersOf(CHARSET_INFO* cs) {
  static Latch latch(LatchOf::kLetters);  // Guards all of them.
  static std::map<CHARSET_INFO*, std::unique_ptr<const Letters>> all;
  if (cs->uca == nullptr || cs->uca->level[0].contractions.nitems == 0) return nullptr;
  const LatchGuard guard(latch);
  auto& letters = all[cs];
  if (letters == nullptr) letters = std::make_unique<const Letters>(FindLetters(cs));
  return letters.get();
}

size_t AlikeBytes(const Collation& collation, const uint8_t* from, size_t from_bytes) {
  CHARSET_INFO* cs = Server(collation.handle);
  const auto& letters = *static_cast<const Letters*>(collation.letters);
  const uint8_t* const end = from + from_bytes;
  std::string before;
  const uint8_t* place = from;  // Start of the previous character.
  for (const uint8_t* at = from; at < end;) {
    const int bytes = std::max(1, cs->charlen(at, end));
    std::string weights = WeightsOf(cs, at, std::min<size_t>(bytes, end - at));
    if (at != from && letters.pairs.count({before, weights}) != 0) {
      return static_cast<size_t>(place - from);
    }
    before = std::move(weights);
    place = at;
    at += bytes;
  }
  const bool may_go_on = place != end && letters.heads.count(before) != 0;
  return may_go_on ? static_cast<size_t>(place - from) : from_bytes;
}

size_t NoneAlike(const Collation&, const uint8_t*, size_t) { return 0; }

size_t SettledBytes(const Collation& collation, const uint8_t* from, size_t from_bytes) {
  CHARSET_INFO* cs = Server(collation.handle);
  const auto& starts = static_cast<const Letters*>(collation.letters)->starts;
  constexpr size_t kLast = MY_UCA_MAX_CONTRACTION - 1;
  std::array<my_wc_t, kLast> last = {};      // The last characters, the newest at the end,
  std::array<const uint8_t*, kLast> places;  // and their places.
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

// Whether one space has the weight `pad`, and two spaces have it twice.
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

// The server's comparison does not always use its weights.
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
  // Only the Unicode collations can give one level at a time.
  if (collation->levels > 1 && cs->uca == nullptr) return false;
  if (collation->levels > Collation::kLevelsMax) return false;
  if (levels == Levels::kFirst) collation->levels = 1;
  // Even without padding the server pads all levels except the first, so it confuses a letter with
  // one whose accent does not count.
  const int unpadded = (cs->state & MY_CS_NOPAD) != 0 ? 1 : 0;
  collation->unfilled_start = UnfilledStart;
  collation->unfilled_end = UnfilledEnd;
  collation->starts_weigh_alone = !IsThai(cs);
  collation->letters = LettersOf(cs);
  if (collation->letters != nullptr) {
    collation->settled_bytes = SettledBytes;
    collation->alike_bytes = AlikeBytes;
  }
  if (IsThai(cs)) collation->alike_bytes = NoneAlike;
  for (int level = unpadded; level < collation->levels; level++) {
    if (!FindPad(cs, level, &collation->pad[level])) return false;
  }
  return true;
}

bool WeighsAcrossCharacters(CHARSET_INFO* cs) {
  return cs->uca != nullptr || IsNamed(cs, "latin1_german2_ci");
}

uint32_t StartBytes(CHARSET_INFO* cs, uint32_t characters, const Collation& collation) {
  constexpr uint32_t kUnicodeWeight = 2;
  return characters *
         std::max<uint32_t>(collation.pad[0].bytes, cs->uca != nullptr ? kUnicodeWeight : 1);
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
