// The versions of one key in memory, newest first, each found in O(log n) steps.
//
// A hot row collects many thousands of versions in one memtable; an old snapshot or a backward scan
// must not walk them all. So each version except the first also has a jump link, as in a
// skew-binary list (Myers, "An applicative random-access stack"). Following the longest link that
// does not overshoot takes O(log n) steps.
//
// Threads: any number of readers; one writer at a time per chain, which publishes a new head with a
//   release store.
// Owns: nothing; the memory is the arena's.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>

#include "format/internal_key.h"

namespace tidesdb {

class KeyVersion {
 public:
  struct Links {
    const KeyVersion* older;
    const KeyVersion* jump;
  };

  // The memory for a version on top of `older` (null: the first of its key), 8-byte aligned.
  static size_t Bytes(const KeyVersion* older, Slice value) {
    return sizeof(KeyVersion) + (older == nullptr ? 0 : sizeof(Links)) + value.size();
  }

  // REQUIRES: Bytes(older, value) bytes at `memory`; value.size() < 4 GiB.
  static const KeyVersion* Make(char* memory, const KeyVersion* older, Trailer trailer,
                                Slice value) {
    auto* version = new (memory) KeyVersion(trailer, static_cast<uint32_t>(value.size()),
                                            older == nullptr ? 0 : older->depth_ + 1);
    char* at = memory + sizeof(KeyVersion);
    if (older != nullptr) {
      new (at) Links{older, JumpFrom(older)};
      at += sizeof(Links);
    }
    if (!value.empty()) std::memcpy(at, value.data(), value.size());
    return version;
  }

  Trailer trailer() const { return trailer_; }
  Slice value() const {
    const char* at = reinterpret_cast<const char*>(this + 1);
    return {depth_ == 0 ? at : at + sizeof(Links), value_bytes_};
  }
  // Null for the oldest.
  const KeyVersion* older() const { return depth_ == 0 ? nullptr : links()->older; }

  // The newest version, this one or older, with trailer <= `limit`. Null if there is none.
  const KeyVersion* NewestAtMost(Trailer limit) const {
    const KeyVersion* at = this;
    while (at->trailer_ > limit) {
      if (at->depth_ == 0) return nullptr;
      const Links* links = at->links();
      at = links->jump->trailer_ > limit ? links->jump : links->older;
    }
    return at;
  }

  // The oldest version, this one or older, with trailer >= `limit`. Null if there is none.
  const KeyVersion* OldestAtLeast(Trailer limit) const {
    if (trailer_ < limit) return nullptr;
    const KeyVersion* at = this;
    while (at->depth_ != 0) {
      const Links* links = at->links();
      if (links->jump->trailer_ >= limit) {
        at = links->jump;
      } else if (links->older->trailer_ >= limit) {
        at = links->older;
      } else {
        break;
      }
    }
    return at;
  }

  const KeyVersion* Oldest() const {
    const KeyVersion* at = this;
    while (at->depth_ != 0) at = at->links()->jump;
    return at;
  }

 private:
  KeyVersion(Trailer trailer, uint32_t value_bytes, uint32_t depth)
      : trailer_(trailer), value_bytes_(value_bytes), depth_(depth) {}

  // REQUIRES: depth_ > 0.
  const Links* links() const { return reinterpret_cast<const Links*>(this + 1); }
  const KeyVersion* jump() const { return depth_ == 0 ? this : links()->jump; }

  // Two jumps of equal length below `older` merge into one; otherwise the new jump has length one.
  static const KeyVersion* JumpFrom(const KeyVersion* older) {
    const KeyVersion* first = older->jump();
    const KeyVersion* second = first->jump();
    return older->depth_ - first->depth_ == first->depth_ - second->depth_ ? second : older;
  }

  const Trailer trailer_;
  const uint32_t value_bytes_;
  const uint32_t depth_;  // The number of older versions.
  // Links if depth_ > 0, then the value's bytes.
};

static_assert(sizeof(KeyVersion) == 16 && alignof(KeyVersion) == 8);

}  // namespace tidesdb
