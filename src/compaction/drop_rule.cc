#include "compaction/drop_rule.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {

void DropRule::StartKey() {
  DCHECK(!pending_ && held_.empty());
  newest_ = true;
  stripe_ = kNoStripe;
  cover_ = Cover::kNone;
}

size_t DropRule::StripeOf(SequenceNumber sequence) const {
  if (sequence > view_->visible) return kNoStripe;
  const auto at = std::lower_bound(view_->live.begin(), view_->live.end(), sequence);
  // A live snapshot newer than `visible` does not bound a stripe: `visible` is nearer.
  if (at == view_->live.end() || *at > view_->visible) return view_->live.size();
  return static_cast<size_t>(at - view_->live.begin());
}

DropRule::Step DropRule::Feed(Trailer trailer, bool bottom) {
  released_.clear();
  Step step;
  const size_t stripe = StripeOf(TrailerSequence(trailer));
  const bool may_go = bottom && (!newest_ || TrailerSequence(trailer) <= view_->Oldest());
  newest_ = false;
  if (stripe == kNoStripe) {
    step.keep = true;  // A later reader may see just this one.
    return step;
  }
  if (stripe != stripe_) {
    SettlePending();
    stripe_ = stripe;
    cover_ = Cover::kNone;
  }
  FeedInStripe(trailer, may_go, &step);
  if (step.keep) {
    // A version stays under the tombstones, so they hide something.
    released_.insert(released_.begin(), held_.begin(), held_.end());
    held_.clear();
  }
  step.released = released_;
  return step;
}

void DropRule::FeedInStripe(Trailer trailer, bool may_go, Step* step) {
  switch (TrailerType(trailer)) {
    case ValueType::kPut:
      if (pending_) {
        pending_.reset();
        if (cover_ == Cover::kNone) cover_ = Cover::kCancelled;
      } else if (cover_ == Cover::kNone) {
        step->keep = true;
        cover_ = Cover::kPut;
      }
      break;
    case ValueType::kDelete:
      pending_.reset();  // This one hides the same, and more.
      if (cover_ != Cover::kDelete) {
        if (may_go) {
          held_.push_back(trailer);
        } else {
          step->keep = true;
        }
      }
      cover_ = Cover::kDelete;
      break;
    case ValueType::kSingleDelete:
      if (cover_ == Cover::kDelete) break;
      pending_ = trailer;  // Replaces a newer one, which has nothing else to cancel.
      pending_may_go_ = may_go;
      break;
  }
}

void DropRule::SettlePending() {
  if (!pending_) return;
  if (pending_may_go_) {
    held_.push_back(*pending_);
  } else {
    // Nothing is held above it, so newer versions cannot go either.
    released_.push_back(*pending_);
  }
  pending_.reset();
}

std::span<const Trailer> DropRule::FinishKey() {
  released_.clear();
  SettlePending();
  held_.clear();
  return released_;
}

}  // namespace tidesdb
