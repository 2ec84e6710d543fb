// Maps family ids to versions; a copy costs a pointer, a change copies the path to one leaf.
//
// Threads: a map is immutable while copies of it are read; With() makes a new one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "format/internal_key.h"
#include "version/version.h"

namespace tidesdb {

// A radix tree over ids with path copying: thousands of families, few changed at a time.
class VersionMap {
 public:
  VersionMap() = default;

  // Null if the family is unknown. Lives as long as this map or a copy of it.
  const Version* Find(FamilyId family) const {
    const VersionRef* ref = FindRef(family);
    return ref == nullptr ? nullptr : ref->get();
  }
  // A null reference if unknown.
  VersionRef Get(FamilyId family) const {
    const VersionRef* ref = FindRef(family);
    return ref == nullptr ? nullptr : *ref;
  }
  // This map with one version replaced; a null version removes the family.
  VersionMap With(FamilyId family, VersionRef version) const;

  size_t size() const { return size_; }
  // In ascending order of ids.
  void ForEach(const std::function<void(const VersionRef&)>& fn) const;

 private:
  static constexpr int kBits =
      6;  // 64 slots a node: two nodes up to 4096 families, three to 262144.
  static constexpr FamilyId kMask = (1 << kBits) - 1;

  struct Node {};  // An Inner or, at height 0, a Leaf. shared_ptr knows which one to free.
  using NodeRef = std::shared_ptr<const Node>;
  struct Inner : Node {
    std::array<NodeRef, 1 << kBits> children;
  };
  struct Leaf : Node {
    std::array<VersionRef, 1 << kBits> versions;
  };

  const VersionRef* FindRef(FamilyId family) const;
  static NodeRef Set(const Node* node, int height, FamilyId family, VersionRef version);
  static void Walk(const Node* node, int height, const std::function<void(const VersionRef&)>& fn);

  NodeRef root_;
  int height_ = 0;  // Levels of nodes; the tree covers ids below 2^(kBits * height_).
  size_t size_ = 0;
};

}  // namespace tidesdb
