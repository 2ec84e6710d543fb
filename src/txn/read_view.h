// The ReadState that a transaction reads from, kept over many reads while it is current.
//
// Threads: one at a time; but any thread may release what PinValue hands out.
#pragma once

#include <atomic>
#include <memory>

#include "format/version_hit.h"
#include "tidesdb/pinned_value.h"
#include "writes/txn_env.h"

namespace tidesdb {

class ReadView {
 public:
  // Both outlive the view.
  ReadView(const TxnEnv* env, const std::atomic<SequenceNumber>* visible,
           const std::atomic<SequenceNumber>* newest)
      : env_(env), visible_(visible), newest_(newest) {}
  ~ReadView() { Drop(); }
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

  // The current state and the newest commit, durable or not. The state holds all versions that this
  // commit can see, although no snapshot is registered for it. Valid until the next call.
  const ReadState& Newest(SequenceNumber* sequence) { return NewestOf(*newest_, 0, sequence); }
  // As Newest, for the newest commit that plain reads see, or for `at_least`, which was the newest.
  const ReadState& Visible(SequenceNumber at_least, SequenceNumber* sequence) {
    return NewestOf(*visible_, at_least, sequence);
  }
  // The current state, for a reader with a registered snapshot.
  const ReadState& Current();

  // Hands over a hit in the state of the last call: valid until `value` is reset.
  void PinValue(const VersionHit& hit, PinnedValue* value);

  // Releases the state, so that its memory and files can be freed.
  void Drop();

 private:
  // One pinned state; lives as long as this view or a value needs it.
  struct Pin {
    std::atomic<uint32_t> references = 1;
    uint64_t number = 0;  // Read before the state was pinned.
    ReadStateRef state;
  };
  static void Unreference(Pin* pin);
  static void ReleaseValue(void* pin, void* arg);
  void Renew();
  const ReadState& NewestOf(const std::atomic<SequenceNumber>& which, SequenceNumber at_least,
                            SequenceNumber* sequence);

  const TxnEnv* const env_;
  const std::atomic<SequenceNumber>* const visible_;
  const std::atomic<SequenceNumber>* const newest_;
  Pin* pin_ = nullptr;
};

}  // namespace tidesdb
