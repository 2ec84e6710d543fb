#include "io/fault_rules.h"

namespace tidesdb {

const FaultRule* FaultRules::Match(IoOp op, Slice path, Random* random) {
  const FaultRule* hit = nullptr;
  for (Armed& armed : rules_) {
    const FaultRule& rule = armed.rule;
    if (rule.op != IoOp::kAny && rule.op != op) continue;
    if (path.find(rule.path_part) == Slice::npos) continue;
    ++armed.seen;
    const bool fires = rule.one_in != 0
                           ? random->OneIn(rule.one_in)
                           : armed.seen >= rule.nth && armed.seen - rule.nth < rule.times;
    if (fires && hit == nullptr) hit = &rule;
  }
  return hit;
}

}  // namespace tidesdb
