// A value read without a copy: the bytes stay where they are, pinned, until Reset().
#pragma once

#include <string>
#include <utility>

#include "tidesdb/slice.h"

namespace tidesdb {

// Threads: one at a time. Must be reset or destroyed before the Db closes.
class PinnedValue {
 public:
  // Gives back what keeps the bytes alive; called once.
  using Release = void (*)(void* owner, void* arg);

  PinnedValue() = default;
  ~PinnedValue() { Reset(); }
  PinnedValue(const PinnedValue&) = delete;
  PinnedValue& operator=(const PinnedValue&) = delete;

  // Valid until Reset(), the next read into this object, or the end of the transaction.
  Slice slice() const { return slice_; }

  void Reset() {
    if (release_ != nullptr) std::exchange(release_, nullptr)(owner_, arg_);
    slice_ = Slice();
  }
  // Points at bytes that release(owner, arg) gives back; release may be null for bytes that outlive
  // this.
  void Pin(Slice bytes, Release release, void* owner, void* arg) {
    Reset();
    slice_ = bytes;
    release_ = release;
    owner_ = owner;
    arg_ = arg;
  }
  // Copies; the buffer's memory is used again by later calls.
  void Assign(Slice bytes) {
    Reset();
    buffer_.assign(bytes.data(), bytes.size());
    slice_ = buffer_;
  }

 private:
  Slice slice_;
  Release release_ = nullptr;
  void* owner_ = nullptr;
  void* arg_ = nullptr;
  std::string buffer_;
};

}  // namespace tidesdb
