// The steps of the insert benchmark by name, and the amount of work of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/generators/common/outcome.h"

namespace tidesdb::lab::iibench {

enum class PhaseKind : uint8_t {
  kLoad,          // l.i0: inserts in primary key order, without secondary indexes.
  kIndex,         // l.x: the three secondary indexes.
  kChurn,         // l.i1, l.i2: inserts at the high end, equally many deletes at the low end.
  kRangeQueries,  // qrN: range queries on the secondary indexes, N inserts and deletes a second.
  kPointQueries,  // qpN: the same with point queries on the primary key.
};

// Limits are for each client; 0: none. The first one reached ends the phase.
struct Phase {
  std::string name;
  PhaseKind kind = PhaseKind::kLoad;
  int64_t rows = 0;
  int seconds = 0;
  int batch = 0;  // Rows of an insert, which is one transaction, and of a delete.
  int rate = 0;   // Rows a second to insert and to delete; 0: as fast as possible.

  bool inserts() const { return kind != PhaseKind::kIndex; }
  bool deletes() const { return inserts() && kind != PhaseKind::kLoad; }
  bool queries() const {
    return kind == PhaseKind::kRangeQueries || kind == PhaseKind::kPointQueries;
  }
};

// The amounts of work; Phases() makes phases from them.
struct Sizes {
  std::vector<std::string> phases;
  int clients = 1;
  int64_t load_rows = 0;
  int64_t i1_rows = 0;
  int64_t i2_rows = 0;
  int query_seconds = 0;
  int write_seconds = 0;  // Of each of l.i0, l.i1 and l.i2; 0 for none.
  int load_batch = 100;
  int i1_batch = 50;
  int i2_batch = 5;
  int query_batch = 50;  // For the writes during the queries; at most the rate.
};

// The phases in order. Fails for an unknown or repeated name, for an order in which a phase lacks
// what it needs, and for a phase without an end.
Outcome Phases(const Sizes& sizes, std::vector<Phase>* phases);

// The estimated seconds until all phases are done, from the progress of the current one; nullopt if
// unknown.
struct Progress {
  size_t phase = 0;      // Index of the current one.
  double rows = 0;       // Inserted in it, per client.
  double elapsed_s = 0;  // Of it.
  double last_rate = 0;  // Rows a second per client in the last unlimited phase.
};
std::optional<double> SecondsLeft(const std::vector<Phase>& phases, const Progress& progress);

}  // namespace tidesdb::lab::iibench
