// A value read without a copy: the bytes stay where they are, pinned, until Reset().
#pragma once

#include <string>
#include <utility>

#include "tidesdb/slice.h"

namespace tidesdb {

// Filled by Transaction::Get and GetForUpdate; one object may be used for many reads.
// Threads: one at a time, any. It may be reset by another thread than the one that read.
// Lifetime: may outlive its transaction. While it holds a value, a block of the cache or a memtable
//   stays in memory for it. To be reset before the Db is destroyed; where it is not, what it points
//   to is kept until the process ends.
class PinnedValue {
 public:
  // Gives back what keeps the bytes alive; called once.
  using Release = void (*)(void* owner, void* arg);

  PinnedValue() = default;
  ~PinnedValue() { Reset(); }
  PinnedValue(const PinnedValue&) = delete;
  PinnedValue& operator=(const PinnedValue&) = delete;

  // The value of the last read; empty when there was none, as it is for an empty value: the read's
  // result tells them apart.
  // Lifetime: until Reset(), the next read into this object, or its destruction.
  Slice slice() const { return slice_; }

  // Lets go of the value; slice() is empty then. Never fails; harmless when there is none.
  void Reset() {
    if (release_ != nullptr) std::exchange(release_, nullptr)(owner_, arg_);
    slice_ = Slice();
  }

  // --- For the engine, which fills it ---
  // Points at bytes that release(owner, arg) gives back; release may be null for bytes that outlive
  // this. Gives back what was held before.
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
  Release release_ = nullptr;  // Null: the bytes are in buffer_, or there are none.
  void* owner_ = nullptr;
  void* arg_ = nullptr;
  std::string buffer_;
};

}  // namespace tidesdb
