// Which versions of a key may go when it is rewritten, given the snapshots that may still read;
// pure.
//
// A "stripe" is what lies between two neighbouring live snapshots: of a key's versions in one
// stripe only the newest can be seen by anybody. Versions newer than `visible` are in no stripe and
// always stay. Rules, per key, newest version first:
//   1. In a stripe, everything older than a put or a delete is hidden and goes.
//   2. Except a tombstone right under a put, unless it is at the bottom: a later SingleDelete may
//      cancel that put, and then the tombstone must still hide what lies deeper.
//   3. A SingleDelete and the put next to it in the same stripe both go, wherever they meet.
//   4. A SingleDelete right over another tombstone in the same stripe goes; the older tombstone
//      says the same and more.
//   5. At the bottom (nothing older of this key lies deeper), a tombstone under which nothing stays
//      goes. Except the newest version, if a snapshot is older: a transaction that writes the key
//      has to find that it changed since. (After a SingleDelete it may not: the key was not there
//      at the snapshot, and is not there now.)
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "format/internal_key.h"
#include "version/snapshot_view.h"

namespace tidesdb {

// Fed with the versions of one key after another.
// Threads: one at a time.
class DropRule {
 public:
  // `view` outlives this.
  explicit DropRule(const SnapshotView* view) : view_(view) {}

  // What to do now. A tombstone's fate can hang on what comes next, so it may be held back (its
  // value is empty: key and trailer are all there is): first write what `released` lists, then the
  // version that was fed if `keep`.
  struct Step {
    // Views this object; valid until the next call.
    std::span<const Trailer> released;
    bool keep = false;
  };

  // Begins the next key.
  void StartKey();
  // REQUIRES: trailers of a key descend. `bottom`: nothing older of this key lies deeper than the
  // output, the same for all versions of a key; needed for tombstones only (NeedsBottom), anything
  // for others.
  Step Feed(Trailer trailer, bool bottom);
  // The key's versions are over: what was held back and stays.
  std::span<const Trailer> FinishKey();

  // True when Feed's answer for this version depends on `bottom`.
  static bool NeedsBottom(Trailer trailer) { return IsTombstone(TrailerType(trailer)); }

 private:
  // What stands over the next older version in the current stripe.
  enum class Cover : uint8_t {
    kNone,       // Nothing.
    kPut,        // A put that stays.
    kDelete,     // A delete, kept or not: hides all older.
    kCancelled,  // A SingleDelete and its put, both gone.
  };

  static constexpr size_t kNoStripe = SIZE_MAX;

  // Index of the oldest snapshot that sees `sequence`; live.size() for `visible`; kNoStripe when
  // newer than that.
  size_t StripeOf(SequenceNumber sequence) const;
  // The pending SingleDelete will not be cancelled any more.
  void SettlePending();
  // `may_go`: rule 5 allows it. Once true of a key's versions, it is of all older ones.
  void FeedInStripe(Trailer trailer, bool may_go, Step* step);

  const SnapshotView* const view_;
  bool newest_ = true;  // No version of the key has been fed.
  size_t stripe_ = kNoStripe;
  Cover cover_ = Cover::kNone;
  std::optional<Trailer> pending_;  // A SingleDelete that may meet its put.
  bool pending_may_go_ = false;
  std::vector<Trailer> held_;      // Tombstones that go unless something older stays, by rule 5.
  std::vector<Trailer> released_;  // What the last call returned.
};

}  // namespace tidesdb
