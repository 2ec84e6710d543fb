// A hold on the contents of one decoded block, wherever they are.
#pragma once

#include <utility>

#include "base/check.h"
#include "format/version_hit.h"
#include "table/block_cache.h"
#include "table/block_memory.h"
#include "tidesdb/slice.h"

namespace tidesdb {

// Threads: one at a time.
// Owns: a pin in the cache, or the bytes themselves.
class BlockRef {
 public:
  BlockRef() = default;
  ~BlockRef() { Release(); }
  BlockRef(BlockRef&& other) noexcept { *this = std::move(other); }
  BlockRef& operator=(BlockRef&& other) noexcept {
    if (this != &other) {
      Release();
      contents_ = std::exchange(other.contents_, Slice());
      cache_ = std::exchange(other.cache_, nullptr);
      handle_ = std::exchange(other.handle_, nullptr);
      owned_ = std::move(other.owned_);
      in_use_ = std::exchange(other.in_use_, false);
    }
    return *this;
  }
  BlockRef(const BlockRef&) = delete;
  BlockRef& operator=(const BlockRef&) = delete;

  // Another thread has used it in the cache lately. Set for blocks that BlockSource::Fetch has
  // peeked at.
  bool in_use() const { return in_use_; }
  void set_in_use() { in_use_ = true; }

  // Valid until Release(), also after a move to another BlockRef.
  Slice contents() const { return contents_; }

  void Release() {
    if (handle_ != nullptr) cache_->Release(std::exchange(handle_, nullptr));
    owned_.reset();
    contents_ = Slice();
    in_use_ = false;
  }
  void PinCached(BlockCache* cache, BlockCache::Handle* handle, Slice contents) {
    Release();
    cache_ = cache;
    handle_ = handle;
    contents_ = contents;
  }
  // REQUIRES: memory of the heap.
  void Own(BlockBytes bytes, Slice contents) {
    DCHECK(bytes.get_deleter().span == nullptr);
    Release();
    owned_ = std::move(bytes);
    contents_ = contents;
  }

  // Hands the hold over to the hit; the contents do not move.
  void MoveTo(VersionHit* hit) {
    if (handle_ != nullptr) {
      hit->owner = cache_;
      hit->arg = std::exchange(handle_, nullptr);
      hit->release = [](void* owner, void* arg) {
        static_cast<BlockCache*>(owner)->Release(static_cast<BlockCache::Handle*>(arg));
      };
    } else {
      hit->owner = owned_.release();
      hit->arg = nullptr;
      hit->release = [](void* owner, void*) { BlockBytes freed(static_cast<char*>(owner)); };
    }
    contents_ = Slice();
  }

 private:
  Slice contents_;
  BlockCache* cache_ = nullptr;
  BlockCache::Handle* handle_ = nullptr;
  BlockBytes owned_;
  bool in_use_ = false;
};

}  // namespace tidesdb
