// Decides which versions of a key may be dropped when it is rewritten, given the snapshots that may
// still read; pure.
//
// A "stripe" lies between two neighbouring live snapshots: of a key's versions in one stripe only
// the newest can be seen. Versions newer than `visible` are in no stripe and always stay. Rules for
// each key, newest version first:
//   1. In a stripe, everything older than a put or a delete is hidden and dropped.
//   2. Except a tombstone directly under a put, unless it is at the bottom: a later SingleDelete may
//      cancel that put, and then the tombstone must still hide deeper versions.
//   3. A SingleDelete and the put next to it in the same stripe are both dropped, wherever they meet.
//   4. A SingleDelete directly over another tombstone in the same stripe is dropped; the older
//      tombstone hides the same and more.
//   5. At the bottom (no deeper, older version of this key), a tombstone with nothing left under it is
//      dropped. Except the newest version, if a snapshot is older: a transaction that writes the key
//      must see that it has changed. (After a SingleDelete it need not: the key did not exist at the
//      snapshot and does not exist now.)
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "format/internal_key.h"
#include "version/snapshot_view.h"

namespace tidesdb {

// Gets the versions of one key after another.
// Threads: one at a time.
class DropRule {
 public:
  // `view` outlives this.
  explicit DropRule(const SnapshotView* view) : view_(view) {}

  // What to do now. A tombstone's fate can depend on the next version, so it may be held back (its
  // value is empty: key and trailer suffice). First write the versions in `released`, then the
  // version just fed if `keep`.
  struct Step {
    // Views this object; valid until the next call.
    std::span<const Trailer> released;
    bool keep = false;
  };

  // Begins the next key.
  void StartKey();
  // REQUIRES: trailers of a key descend. `bottom`: no older version of this key is deeper than the
  //   output; the same for all versions of a key. Needed for tombstones only (NeedsBottom),
  //   arbitrary for others.
  Step Feed(Trailer trailer, bool bottom);
  // Ends the key: returns the held-back versions that stay.
  std::span<const Trailer> FinishKey();

  // Whether Feed's result for this version depends on `bottom`.
  static bool NeedsBottom(Trailer trailer) { return IsTombstone(TrailerType(trailer)); }

 private:
  // What covers the next older version in the current stripe.
  enum class Cover : uint8_t {
    kNone,       // Nothing.
    kPut,        // A put that stays.
    kDelete,     // A delete, kept or not: hides all older versions.
    kCancelled,  // A SingleDelete and its put, both dropped.
  };

  static constexpr size_t kNoStripe = SIZE_MAX;

  // Index of the oldest snapshot that sees `sequence`; live.size() for `visible`; kNoStripe if it
  // is newer than that.
  size_t StripeOf(SequenceNumber sequence) const;
  // The pending SingleDelete will not be cancelled any more.
  void SettlePending();
  // `may_go`: rule 5 allows it. Once true for a version of a key, it is true for all older ones.
  void FeedInStripe(Trailer trailer, bool may_go, Step* step);

  const SnapshotView* const view_;
  bool newest_ = true;  // The key has got no version yet.
  size_t stripe_ = kNoStripe;
  Cover cover_ = Cover::kNone;
  std::optional<Trailer> pending_;  // A SingleDelete that may meet its put.
  bool pending_may_go_ = false;
  std::vector<Trailer> held_;      // Tombstones dropped by rule 5 unless something older stays.
  std::vector<Trailer> released_;  // The result of the last call.
};

}  // namespace tidesdb
