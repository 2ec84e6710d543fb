// The arithmetic of AUTO_INCREMENT, as InnoDB does it.
//
// Threads: pure functions.
#pragma once

#include <cstdint>

namespace tidesdb::plugin {

// The next value of the counter after `need` rows took values of the series offset, offset + step,
// ... from `current` on. UINT64_MAX if the type's values are used up.
inline uint64_t NextAutoIncrement(uint64_t current, uint64_t need, uint64_t step, uint64_t offset,
                                  uint64_t max) {
  if (current > max) return UINT64_MAX;
  if (offset > step) offset = 0;  // The manual says that it is ignored then.
  uint64_t next = current > offset ? current - offset : offset - current;
  next -= next % step;
  __extension__ using Wide = unsigned __int128;
  const Wide wide = Wide{next} + offset + Wide{need} * step;
  return wide > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(wide);
}

// The first value of the series that is not below current. An offset beyond the step wraps, as in
// the server and in InnoDB: the value is still one of current ... current + step - 1.
inline uint64_t RoundAutoIncrement(uint64_t current, uint64_t step, uint64_t offset, uint64_t max) {
  if (step <= 1 || current >= max || current > UINT64_MAX - step) return current;
  const uint64_t rounded = (current - 1 + step - offset) / step * step + offset;
  return rounded >= max ? current : rounded;
}

// How far beyond the counter a commit may record it, so that not every commit has to. A crash can
// skip this many values; it is small compared with what the type has left.
inline uint64_t AutoIncrementAhead(uint64_t counter, uint64_t max) {
  constexpr uint64_t kAheadMax = 32;
  constexpr uint64_t kShareOfRest = 1024;
  if (counter >= max) return 0;
  const uint64_t share = (max - counter) / kShareOfRest;
  return share < kAheadMax ? share : kAheadMax;
}

}  // namespace tidesdb::plugin
