#include "lsm/drop_rule.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {

void DropRule::StartKey() {
  DCHECK(!pending_);
  stripe_ = kNoStripe;
  cover_ = Cover::kNone;
}

size_t DropRule::StripeOf(SequenceNumber sequence) const {
  if (sequence > view_->visible) return kNoStripe;
  const auto at = std::lower_bound(view_->live.begin(), view_->live.end(), sequence);
  // A live snapshot newer than `visible` bounds no stripe of its own: `visible` is nearer.
  if (at == view_->live.end() || *at > view_->visible) return view_->live.size();
  return static_cast<size_t>(at - view_->live.begin());
}

DropRule::Step DropRule::Feed(Trailer trailer, bool bottom) {
  Step step;
  const size_t stripe = StripeOf(TrailerSequence(trailer));
  if (stripe == kNoStripe) {
    step.keep = true;  // Some reader to come may see just this one.
    return step;
  }
  if (stripe != stripe_) {
    // An older version follows, so what is pending is not the last word at the bottom.
    step.emit_pending = pending_;
    pending_.reset();
    stripe_ = stripe;
    cover_ = Cover::kNone;
  }
  // Rule 5: nobody reads between this tombstone and nothing.
  const bool droppable = bottom && TrailerSequence(trailer) <= view_->Oldest();
  switch (TrailerType(trailer)) {
    case ValueType::kPut:
      if (pending_) {
        pending_.reset();
        if (cover_ == Cover::kNone) cover_ = Cover::kCancelled;
      } else if (cover_ == Cover::kNone) {
        step.keep = true;
        cover_ = Cover::kPut;
      }
      break;
    case ValueType::kDelete:
      pending_.reset();  // This one says the same, and more.
      if (cover_ != Cover::kDelete) step.keep = !droppable;
      cover_ = Cover::kDelete;
      break;
    case ValueType::kSingleDelete:
      if (cover_ == Cover::kDelete) break;
      pending_ = trailer;  // Replaces a newer one, which had nothing else to cancel with.
      pending_droppable_ = droppable;
      break;
  }
  return step;
}

std::optional<Trailer> DropRule::FinishKey() {
  std::optional<Trailer> emit;
  if (pending_ && !pending_droppable_) emit = pending_;
  pending_.reset();
  return emit;
}

}  // namespace tidesdb
