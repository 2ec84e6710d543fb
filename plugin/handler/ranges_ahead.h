// Takes the ranges of one condition (the server's RANGE_SEQ_IF) from the server a few at a time, so that the rows of
// `id IN (...)` can be hinted before they are read one by one.
//
// Threads: used by one thread at a time, as the handler.
// Owns: the taken ranges and the bytes of their keys, which the server may reuse for its next range.
#pragma once

#include "base/server_port.h"

#include <array>
#include <string>
#include <vector>

#include "handler/cold_reads.h"
#include "handler/statement.h"

namespace tidesdb::plugin {

class RangesAhead {
 public:
  RangesAhead(OpenTable* open, Statement* statement) : open_(*open), statement_(*statement) {}
  RangesAhead(const RangesAhead&) = delete;  // The server has its address.
  RangesAhead& operator=(const RangesAhead&) = delete;

  // The same ranges as `ranges`, to be given to the server with this object as the parameter.
  // REQUIRES: rows are not associated with ranges, so that nobody asks `ranges` for the current one.
  RANGE_SEQ_IF* Wrap(const RANGE_SEQ_IF& ranges, void* param);

 private:
  static constexpr size_t kRangesMax = 16;

  static range_seq_t Init(void* param, uint count, uint flags);
  static bool Next(range_seq_t sequence, KEY_MULTI_RANGE* range);
  bool Take();
  bool Keep(key_range* key, size_t place);
  void Hint();

  OpenTable& open_;
  Statement& statement_;
  RANGE_SEQ_IF from_ = {};  // The server's.
  void* param_ = nullptr;
  range_seq_t sequence_ = nullptr;
  RANGE_SEQ_IF wrapped_ = {};

  std::array<KEY_MULTI_RANGE, kRangesMax> taken_;  // Their keys point into bytes_.
  size_t key_bytes_max_ = 0;
  std::vector<uchar> bytes_;
  size_t count_ = 0;
  size_t next_ = 0;
  size_t step_ = 1;  // Grows: most conditions end early or have few ranges.
  ColdReads cold_;
  std::array<std::string, kRangesMax> keys_;
};

}  // namespace tidesdb::plugin
