#include "table/block_memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/check.h"
#include "io/mapped_memory.h"

namespace tidesdb {

namespace {

// Slots have an eighth to a 1024th of a span; each size is about a sixteenth larger than the last.
constexpr size_t kSlotsMin = 8;
constexpr size_t kSlotsMax = 1024;
constexpr size_t kStepsPerDoubling = 16;
constexpr size_t kSlotAlignment = 64;
// The heap's overhead of a block.
constexpr size_t kHeapBytes = 16;

class Bits {
 public:
  explicit Bits(size_t count) : words_((count + 63) / 64) {}
  bool Has(size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void Set(size_t i) { words_[i / 64] |= uint64_t{1} << i % 64; }
  void Clear(size_t i) { words_[i / 64] &= ~(uint64_t{1} << i % 64); }
  // REQUIRES (both): such a bit exists.
  size_t FirstClear() const {
    size_t i = 0;
    while (words_[i] == UINT64_MAX) ++i;
    return i * 64 + static_cast<size_t>(std::countr_one(words_[i]));
  }
  size_t FirstSet() const {
    size_t i = 0;
    while (words_[i] == 0) ++i;
    return i * 64 + static_cast<size_t>(std::countr_zero(words_[i]));
  }

 private:
  std::vector<uint64_t> words_;
};

void FreeOnHeap(char* bytes) { ::operator delete(bytes, std::align_val_t(kSlotAlignment)); }
char* NewOnHeap(size_t bytes) {
  return static_cast<char*>(::operator new(bytes, std::align_val_t(kSlotAlignment)));
}

}  // namespace

// The home of a block: a slot, its own mapping, or (without a start) the heap. The size's mutex
// guards everything that changes.
struct BlockSpan {
  BlockSpan(BlockMemory* from, BlockMemory::SizeClass* of, size_t slot_bytes, size_t count,
            size_t pages)
      : memory(from),
        size_class(of),
        room(slot_bytes),
        slots(count),
        used(count),
        warm(count),
        written(pages) {}

  size_t PageOf(size_t offset) const { return offset / kPageBytes; }

  BlockMemory* const memory;
  BlockMemory::SizeClass* const size_class;  // Null: the block has the span alone.
  const size_t room;                         // Of a slot.
  const size_t slots;
  char* start = nullptr;
  uint64_t number = 0;
  size_t taken = 0;  // Slots.
  Bits used;         // Slots.
  Bits warm;         // Free slots with pages.
  size_t warm_slots = 0;
  Bits written;  // Pages written since they were mapped or freed.
  size_t pages_written = 0;
};

struct BlockMemory::SizeClass {
  SizeClass(BlockMemory* memory, size_t slot_bytes, size_t slots)
      : heap(memory, this, slot_bytes, slots, 0) {}

  size_t slot_bytes() const { return heap.room; }
  void CountWarm(size_t slots) {
    warm_slots.fetch_add(slots, std::memory_order_relaxed);
    heap.memory->warm_.fetch_add(slots * slot_bytes(), std::memory_order_relaxed);
  }
  // The oldest first, so that the youngest become empty. Ordered by number, not by address, so that
  // the simulation can repeat a run.
  using Spans = std::map<uint64_t, BlockSpan*>;

  Mutex mu;
  // Removes a free slot of the span from, or adds it to, the free slots with pages.
  void Cool(BlockSpan* span, size_t slot) REQUIRES(mu) {
    CountWarm(0 - size_t{1});
    span->warm.Clear(slot);
    if (--span->warm_slots == 0) warm.erase(span->number);
  }
  void Warm(BlockSpan* span, size_t slot) REQUIRES(mu) {
    CountWarm(1);
    span->warm.Set(slot);
    if (span->warm_slots++ == 0) warm.emplace(span->number, span);
  }

  Spans open GUARDED_BY(mu);           // With a free slot.
  Spans warm GUARDED_BY(mu);           // Those of them that have a free slot with pages.
  std::atomic<size_t> warm_slots = 0;  // Total; written under mu, read without it by Trim.
  uint64_t next_number GUARDED_BY(mu) = 0;
  BlockSpan heap;  // Represents the heap.
};

void FreeBlock::operator()(char* bytes) const {
  if (span != nullptr) {
    span->memory->Free(span, bytes);
  } else {
    std::unique_ptr<char[]> freed(bytes);
  }
}

BlockBytes HeapBlock(size_t bytes) {
  return BlockBytes(std::make_unique_for_overwrite<char[]>(bytes).release());
}

size_t RoomOf(const BlockBytes& block, size_t bytes) {
  const BlockSpan* const span = block.get_deleter().span;
  return span != nullptr ? span->room : bytes + kHeapBytes;
}

BlockMemory::BlockMemory(size_t bytes_typical, bool on_heap)
    : span_bytes_(std::clamp(std::bit_floor(bytes_typical / 256), kSpanBytesMin, kSpanBytesMax)),
      on_heap_(on_heap) {
  for (size_t n = kSlotsMin; n <= kSlotsMax; n += std::max<size_t>(1, n / kStepsPerDoubling)) {
    const size_t slot_bytes = span_bytes_ / n & ~(kSlotAlignment - 1);
    if (!classes_.empty() && classes_.back()->slot_bytes() == slot_bytes) continue;
    classes_.push_back(std::make_unique<SizeClass>(this, slot_bytes, span_bytes_ / slot_bytes));
  }
  std::reverse(classes_.begin(), classes_.end());
}

BlockMemory::~BlockMemory() {
  CHECK_MSG(live_bytes() == 0, "a block is still in use when its memory is destroyed");
}

BlockBytes BlockMemory::Allocate(size_t bytes) {
  const auto fits = std::lower_bound(
      classes_.begin(), classes_.end(), bytes,
      [](const auto& size_class, size_t wanted) { return size_class->slot_bytes() < wanted; });
  if (fits == classes_.end()) return AllocateAlone(bytes);
  SizeClass* const size_class = fits->get();
  if (on_heap_) return Count(&size_class->heap, NewOnHeap(bytes));
  MutexLock lock(size_class->mu);
  if (size_class->open.empty()) {
    BlockSpan* const made = NewSpan(size_class);
    if (made == nullptr) return Count(&size_class->heap, NewOnHeap(bytes));
    made->number = size_class->next_number++;
    size_class->open.emplace(made->number, made);
  }
  // A slot with pages needs neither a page fault now nor a call to free others for it.
  const bool warm = !size_class->warm.empty();
  BlockSpan* const span = (warm ? size_class->warm : size_class->open).begin()->second;
  const size_t slot = warm ? span->warm.FirstSet() : span->used.FirstClear();
  if (warm) size_class->Cool(span, slot);
  span->used.Set(slot);
  if (++span->taken == span->slots) size_class->open.erase(span->number);
  const size_t begin = slot * span->room;
  size_t pages = 0;
  for (size_t page = span->PageOf(begin); page <= span->PageOf(begin + span->room - 1); ++page) {
    if (span->written.Has(page)) continue;
    span->written.Set(page);
    ++pages;
  }
  span->pages_written += pages;
  live_.fetch_add(span->room, std::memory_order_relaxed);
  resident_.fetch_add(pages * kPageBytes, std::memory_order_relaxed);
  return {span->start + begin, FreeBlock{span}};
}

// A block that is too large for a slot.
BlockBytes BlockMemory::AllocateAlone(size_t bytes) {
  const size_t room = (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  auto span = std::make_unique<BlockSpan>(this, nullptr, room, 0, 0);
  if (!on_heap_) span->start = MapMemory(room);
  if (span->start != nullptr) mapped_.fetch_add(room, std::memory_order_relaxed);
  char* const start = span->start != nullptr ? span->start : NewOnHeap(bytes);
  return Count(span.release(), start);
}

// A block whose whole room comes from the system.
BlockBytes BlockMemory::Count(BlockSpan* span, char* bytes) {
  live_.fetch_add(span->room, std::memory_order_relaxed);
  resident_.fetch_add(span->room, std::memory_order_relaxed);
  return {bytes, FreeBlock{span}};
}

// Null if the system has no more mappings; the heap is used then.
BlockSpan* BlockMemory::NewSpan(SizeClass* size_class) {
  char* const start = MapMemory(span_bytes_);
  if (start == nullptr) return nullptr;
  mapped_.fetch_add(span_bytes_, std::memory_order_relaxed);
  auto span = std::make_unique<BlockSpan>(this, size_class, size_class->heap.room,
                                          size_class->heap.slots, span_bytes_ / kPageBytes);
  span->start = start;
  return span.release();  // Free() owns it again once it is empty.
}

void BlockMemory::Free(BlockSpan* span, char* bytes) {
  SizeClass* const size_class = span->size_class;
  if (size_class == nullptr || span->start == nullptr) {
    std::unique_ptr<BlockSpan> alone;
    live_.fetch_sub(span->room, std::memory_order_relaxed);
    resident_.fetch_sub(span->room, std::memory_order_relaxed);
    if (size_class == nullptr) alone.reset(span);
    if (span->start == nullptr) return FreeOnHeap(bytes);
    mapped_.fetch_sub(span->room, std::memory_order_relaxed);
    return UnmapMemory(span->start, span->room);
  }
  if (!FreeSlot(span, bytes)) return;
  const std::unique_ptr<BlockSpan> empty(span);
  resident_.fetch_sub(span->pages_written * kPageBytes, std::memory_order_relaxed);
  mapped_.fetch_sub(span_bytes_, std::memory_order_relaxed);
  UnmapMemory(span->start, span_bytes_);
}

bool BlockMemory::FreeSlot(BlockSpan* span, const char* bytes) {
  SizeClass* const size_class = span->size_class;
  MutexLock lock(size_class->mu);
  const size_t slot = static_cast<size_t>(bytes - span->start) / span->room;
  DCHECK(span->used.Has(slot));
  span->used.Clear(slot);
  if (span->taken-- == span->slots) size_class->open.emplace(span->number, span);
  live_.fetch_sub(span->room, std::memory_order_relaxed);
  if (span->taken > 0) {
    size_class->Warm(span, slot);
    return false;
  }
  size_class->open.erase(span->number);
  size_class->warm.erase(span->number);
  size_class->CountWarm(0 - span->warm_slots);
  return true;
}

// A span of each size in turn, and each mutex for one span: others wait for it.
void BlockMemory::Trim(size_t bytes, size_t idle_min) {
  size_t freed = 0;
  while (freed < bytes && warm_bytes() > 0 && idle_bytes() > idle_min) {
    const size_t turn = trim_turn_.fetch_add(1, std::memory_order_relaxed);
    SizeClass& size_class = *classes_[turn % classes_.size()];
    if (size_class.warm_slots.load(std::memory_order_relaxed) == 0) continue;
    MutexLock lock(size_class.mu);
    if (size_class.warm.empty()) continue;
    BlockSpan* const youngest = size_class.warm.rbegin()->second;
    while (youngest->warm_slots > 0) size_class.Cool(youngest, youngest->warm.FirstSet());
    freed += GiveBackUnused(youngest);
  }
}

// Frees the pages of a span that no used slot lies on. Returns their bytes. REQUIRES: the size's
// mutex.
size_t BlockMemory::GiveBackUnused(BlockSpan* span) {
  const auto is_free = [span](size_t page) {
    if (!span->written.Has(page)) return false;
    const size_t last = std::min(((page + 1) * kPageBytes - 1) / span->room, span->slots - 1);
    for (size_t i = page * kPageBytes / span->room; i <= last; ++i) {
      if (span->used.Has(i)) return false;
    }
    return true;
  };
  const size_t pages = span_bytes_ / kPageBytes;
  size_t freed = 0;
  for (size_t page = 0; page < pages; ++page) {
    const size_t begin = page;
    for (; page < pages && is_free(page); ++page) span->written.Clear(page);
    if (page == begin) continue;
    GiveBackPages(span->start + begin * kPageBytes, (page - begin) * kPageBytes);
    freed += page - begin;
  }
  span->pages_written -= freed;
  resident_.fetch_sub(freed * kPageBytes, std::memory_order_relaxed);
  return freed * kPageBytes;
}

}  // namespace tidesdb
