// Decides when reads that are known ahead are worth a hint (Transaction::Prefetch): once the reads before them waited
// for files.
//
// Threads: used by one thread at a time, as the handler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tidesdb/stats.h"

namespace tidesdb::plugin {

class ColdReads {
 public:
  // Forgets earlier reads. Call it before the first read of a scan, which then reads a first row without a hint.
  void Begin() {
    read_from_ = ThreadBlocksRead();
    hinted_ = rows_ = 0;
    passed_ = 1;
    in_vain_ = false;
  }
  // A row was looked up.
  void CountRow() { rows_++; }
  // `coming`: how many entries of the scan follow until the next call. Returns whether to hint their rows. Of those
  // since the last call
  // - at least every eighth row was not in memory: a hint wakes threads;
  // - at least every second was looked up: a condition on the index does not reject most of them;
  // - less than half of the hinted ones had to be read again: the cache keeps them for so long.
  bool Pays(size_t coming) {
    const uint64_t now = ThreadBlocksRead();
    const uint64_t read = now - read_from_;
    in_vain_ = in_vain_ || (hinted_ > 0 && read * 2 > rows_);
    const uint64_t missed = hinted_ + read;
    const bool pays = !in_vain_ && missed > 0 && missed * 8 >= rows_ && rows_ * 2 >= passed_;
    read_from_ = now;
    hinted_ = rows_ = 0;
    passed_ = coming;
    return pays;
  }
  // What Prefetch returned.
  void Hinted(uint64_t missed) {
    hinted_ = missed;
    read_from_ = ThreadBlocksRead();
  }

 private:
  uint64_t read_from_ =
      0;                  // ThreadBlocksRead() after the last hint, or at the last call of Pays().
  uint64_t hinted_ = 0;   // Blocks read by the last hint.
  uint64_t rows_ = 0;     // Looked up since the last call of Pays(),
  uint64_t passed_ = 1;   // of so many entries.
  bool in_vain_ = false;  // For the rest of the scan.
};

}  // namespace tidesdb::plugin
