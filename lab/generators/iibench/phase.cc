#include "lab/generators/iibench/phase.h"

#include <algorithm>
#include <charconv>

namespace tidesdb::lab::iibench {
namespace {

// The number after "qr" or "qp"; 0 for any other text.
int RateOf(std::string_view digits) {
  int rate = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rate);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && rate > 0 ? rate : 0;
}

bool MakePhase(const std::string& name, const Sizes& sizes, Phase* phase) {
  phase->name = name;
  phase->seconds = sizes.write_seconds;
  if (name == "l.i0") {
    phase->kind = PhaseKind::kLoad;
    phase->rows = sizes.load_rows;
    phase->batch = sizes.load_batch;
    return true;
  }
  if (name == "l.x") {
    phase->kind = PhaseKind::kIndex;
    return true;
  }
  if (name == "l.i1" || name == "l.i2") {
    phase->kind = PhaseKind::kChurn;
    phase->rows = name == "l.i1" ? sizes.i1_rows : sizes.i2_rows;
    phase->batch = name == "l.i1" ? sizes.i1_batch : sizes.i2_batch;
    return true;
  }
  const std::string_view head = std::string_view(name).substr(0, 2);
  if (head != "qr" && head != "qp") return false;
  phase->kind = head == "qr" ? PhaseKind::kRangeQueries : PhaseKind::kPointQueries;
  phase->rate = RateOf(std::string_view(name).substr(2));
  phase->batch = std::min(sizes.query_batch, phase->rate);
  phase->seconds = sizes.query_seconds;
  return phase->rate != 0;
}

// Whether the earlier phases leave what this one needs.
Outcome CheckOrder(const std::vector<Phase>& before, const Phase& phase) {
  for (const Phase& earlier : before) {
    if (earlier.name == phase.name) {
      return Outcome::Fail("--phases: " + phase.name + " comes twice");
    }
  }
  if (phase.kind == PhaseKind::kLoad && !before.empty()) {
    return Outcome::Fail("--phases: l.i0 makes the tables: it must come first");
  }
  const bool loaded = !before.empty() && before.front().kind == PhaseKind::kLoad;
  const bool indexed = std::any_of(before.begin(), before.end(), [](const Phase& earlier) {
    return earlier.kind == PhaseKind::kIndex;
  });
  if (loaded && phase.kind == PhaseKind::kRangeQueries && !indexed) {
    return Outcome::Fail("--phases: " + phase.name + " needs the indexes of l.x before it");
  }
  return {};
}

}  // namespace

Outcome Phases(const Sizes& sizes, std::vector<Phase>* phases) {
  phases->clear();
  for (const std::string& name : sizes.phases) {
    Phase phase;
    if (!MakePhase(name, sizes, &phase)) {
      return Outcome::Fail("--phases: '" + name +
                           "' is unknown; known are l.i0, l.x, l.i1, l.i2, qrN and qpN, N rows a "
                           "second");
    }
    LAB_TRY(CheckOrder(*phases, phase));
    if (phase.inserts() && phase.rows == 0 && phase.seconds == 0) {
      return Outcome::Fail(phase.name + " has no end: give it a number of rows or of seconds");
    }
    phases->push_back(std::move(phase));
  }
  if (phases->empty()) return Outcome::Fail("--phases: none");
  return {};
}

std::optional<double> SecondsLeft(const std::vector<Phase>& phases, const Progress& progress) {
  const Phase& current = phases[progress.phase];
  double rate = progress.last_rate;
  if (current.rate == 0 && progress.rows > 0 && progress.elapsed_s > 0) {
    rate = progress.rows / progress.elapsed_s;
  }
  double left = 0;
  for (size_t i = progress.phase; i < phases.size(); ++i) {
    const Phase& phase = phases[i];
    if (!phase.inserts()) continue;  // No estimate: unknown duration.
    const bool now = i == progress.phase;
    const double by_time = phase.seconds - (now ? progress.elapsed_s : 0);
    const double rows = static_cast<double>(phase.rows) - (now ? progress.rows : 0);
    const bool by_rows_known = phase.rows != 0 && rate > 0;
    if (phase.seconds == 0 && !by_rows_known) return std::nullopt;
    double seconds = phase.seconds != 0 ? by_time : rows / rate;
    if (phase.seconds != 0 && by_rows_known) seconds = std::min(seconds, rows / rate);
    left += std::max(0.0, seconds);
  }
  return left;
}

}  // namespace tidesdb::lab::iibench
