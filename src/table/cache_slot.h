// One place in the block cache's hash table: a key, a block, and one atomic word that says which
// threads may touch them.
//
// The word holds the number of pins, the state, and the clock's counter:
//
//   kEmpty --Publish--> kVisible --TryEvict (no pins)--> kEmpty
//                          |
//                          +----Doom (pinned)----> kDoomed --TryReclaim (no pins)--> kEmpty
//
//   kAlone: a block that found no room; it is in no table and goes with its last pin.
//
// Threads: TryPin and Unpin from any thread, without a lock. All other changes of state happen
//   under the mutex of the slot's shard. A thread may pin a slot that has just become empty or
//   another block's: it notices from the replaced word and the key, and takes the pin back. So
//   there can be pins in any state, and every change of state must keep those of other threads.
// Invariants:
//   1. Key and block of a slot change only while its state is kEmpty, by the thread with the mutex.
//   2. A thread that sees kVisible and holds a pin may read the block until Unpin.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "table/block_cache.h"

namespace tidesdb {

struct alignas(64) BlockCache::Handle {
 public:
  enum class State : uint64_t { kEmpty = 0, kVisible = 1, kDoomed = 2, kAlone = 3 };

  static constexpr uint64_t kPin = 1;            // Bits 0..31.
  static constexpr unsigned kStateShift = 32;    // Bits 32..33.
  static constexpr unsigned kCounterShift = 40;  // Bits 40..63: races may pass kCounterMax.
  static constexpr uint64_t kCounterUnit = uint64_t{1} << kCounterShift;
  static constexpr uint64_t kCounterMax = 3;

  static uint64_t PinsOf(uint64_t word) { return word & 0xffffffff; }
  static State StateOf(uint64_t word) { return static_cast<State>(word >> kStateShift & 3); }
  static uint64_t CounterOf(uint64_t word) { return word >> kCounterShift; }
  static uint64_t StateBits(State state) { return static_cast<uint64_t>(state) << kStateShift; }

  // --- Any thread ---

  bool Holds(uint64_t file, uint64_t at) const {
    return offset.load(std::memory_order_relaxed) == at &&
           file_number.load(std::memory_order_relaxed) == file;
  }

  // What a thread must do with the slot after it has returned its pin.
  enum class AfterUnpin : uint8_t { kNothing, kReclaim, kFree };

  // Pins the slot if it holds the block. Otherwise *after says what remains to be done. `count`:
  // counts as a use of the block.
  bool TryPin(uint64_t file, uint64_t at, bool count, AfterUnpin* after) {
    *after = AfterUnpin::kNothing;
    // Relaxed: just a guess, the exchange below decides.
    const uint64_t guess = word.load(std::memory_order_relaxed);
    if (StateOf(guess) != State::kVisible || !Holds(file, at)) return false;
    SchedulingPoint();
    const uint64_t add = count && CounterOf(guess) < kCounterMax ? kPin + kCounterUnit : kPin;
    // Acquire: pairs with Publish, so that key and block are seen as published.
    const uint64_t before = word.fetch_add(add, std::memory_order_acquire);
    if (StateOf(before) == State::kVisible && Holds(file, at)) return true;
    *after = Unpin();
    return false;
  }

  AfterUnpin Unpin() {
    // Release: this thread's reads of the block come before its memory is freed. Acquire: if this
    // thread frees it, all others' reads came before.
    const uint64_t before = word.fetch_sub(kPin, std::memory_order_acq_rel);
    DCHECK(PinsOf(before) > 0);
    if (PinsOf(before) != 1) return AfterUnpin::kNothing;
    if (StateOf(before) == State::kDoomed) return AfterUnpin::kReclaim;
    return StateOf(before) == State::kAlone ? AfterUnpin::kFree : AfterUnpin::kNothing;
  }

  // --- Under the shard's mutex ---

  // Puts a block into an empty slot and pins it. Stray pins of other threads stay counted.
  void Publish(uint64_t file, uint64_t at, BlockBytes block, size_t block_size, uint64_t counter,
               uint64_t pins) {
    file_number.store(file, std::memory_order_relaxed);
    offset.store(at, std::memory_order_relaxed);
    bytes = std::move(block);
    size = block_size;
    word.fetch_add(StateBits(State::kVisible) + counter * kCounterUnit + pins * kPin,
                   std::memory_order_release);
  }

  // Empties a visible slot without pins; the caller takes the block out. If the clock's counter is
  // above zero and `force` is false, counts it down and leaves the slot.
  bool TryEvict(bool force) {
    uint64_t now = word.load(std::memory_order_relaxed);
    while (StateOf(now) == State::kVisible && PinsOf(now) == 0) {
      const uint64_t counter = CounterOf(now) < kCounterMax ? CounterOf(now) : kCounterMax;
      const bool empty = force || counter == 0;
      const uint64_t next = empty ? 0 : StateBits(State::kVisible) | (counter - 1) << kCounterShift;
      // Acquire: after the reads of all threads that had it pinned.
      if (word.compare_exchange_weak(now, next, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return empty;
      }
    }
    return false;
  }

  // Hides a visible slot. True: it had no pins, is empty now, and the caller takes the block out;
  // otherwise the holder of the last pin does.
  bool Doom() {
    uint64_t now = word.load(std::memory_order_relaxed);
    while (StateOf(now) == State::kVisible) {
      const bool empty = PinsOf(now) == 0;
      const uint64_t next = empty ? 0 : StateBits(State::kDoomed) | PinsOf(now);
      if (word.compare_exchange_weak(now, next, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return empty;
      }
    }
    return false;
  }

  // Empties a doomed slot without pins. False: a stray pin came first, and its holder will do it,
  // or another thread has done it.
  bool TryReclaim() {
    uint64_t now = word.load(std::memory_order_relaxed);
    // A stray pin that was taken back may have left a count.
    while (StateOf(now) == State::kDoomed && PinsOf(now) == 0) {
      if (word.compare_exchange_weak(now, 0, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  std::atomic<uint64_t> word = 0;
  // Relaxed: reads without a pin are guesses; with a pin, invariant 1 holds.
  std::atomic<uint64_t> file_number = 0;
  std::atomic<uint64_t> offset = 0;
  // The number of the table's blocks placed after this slot because it was taken: a search that
  // finds 0 ends here. Relaxed: written under the mutex. A search that reads an old number misses a
  // block and reads it from disk.
  std::atomic<uint32_t> passed = 0;
  uint32_t shard = 0;  // The shard that has it in its table; constant.
  size_t size = 0;
  BlockBytes bytes;
};
static_assert(sizeof(BlockCache::Handle) == 64);

}  // namespace tidesdb
