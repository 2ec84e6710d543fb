// A value read without a copy: the bytes stay where they are, pinned, until Reset().
#pragma once

#include <string>
#include <utility>

#include "tidesdb/slice.h"

namespace tidesdb {

// Filled by Transaction::Get and GetForUpdate; one object may serve many reads.
// Threads: one at a time, any. Another thread than the reader may reset it.
// Lifetime: may outlive its transaction. While it holds a value, it keeps a cache block or a
//   memtable in memory. Reset it before the Db is destroyed; otherwise that memory is kept until
//   the process ends.
class PinnedValue {
 public:
  // Releases what keeps the bytes alive; called once.
  using Release = void (*)(void* owner, void* arg);

  PinnedValue() = default;
  ~PinnedValue() { Reset(); }
  PinnedValue(const PinnedValue&) = delete;
  PinnedValue& operator=(const PinnedValue&) = delete;

  // The value of the last read. It is empty if the value is empty or was not found; the read's
  // result tells which.
  // Lifetime: until Reset(), the next read into this object, or its destruction.
  Slice slice() const { return slice_; }

  // Releases the value; slice() is empty afterwards. Never fails; harmless if there is no value.
  void Reset() {
    if (release_ != nullptr) std::exchange(release_, nullptr)(owner_, arg_);
    slice_ = Slice();
  }

  // --- For the engine, which fills it ---
  // Points at bytes that release(owner, arg) gives back; release may be null for bytes that outlive
  // this object. Releases the previous value first.
  void Pin(Slice bytes, Release release, void* owner, void* arg) {
    Reset();
    slice_ = bytes;
    release_ = release;
    owner_ = owner;
    arg_ = arg;
  }
  // Copies; later calls reuse the buffer.
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
