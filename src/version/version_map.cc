#include "version/version_map.h"

namespace tidesdb {

const VersionRef* VersionMap::FindRef(FamilyId family) const {
  if (root_ == nullptr || (height_ * kBits < 32 && family >> (height_ * kBits) != 0)) {
    return nullptr;
  }
  const Node* node = root_.get();
  for (int height = height_ - 1; height > 0; --height) {
    const Inner* inner = static_cast<const Inner*>(node);
    node = inner->children[(family >> (height * kBits)) & kMask].get();
    if (node == nullptr) return nullptr;
  }
  const VersionRef& version = static_cast<const Leaf*>(node)->versions[family & kMask];
  return version == nullptr ? nullptr : &version;
}

VersionMap VersionMap::With(FamilyId family, VersionRef version) const {
  VersionMap map = *this;
  const bool had = FindRef(family) != nullptr;
  if (version == nullptr && !had) return map;
  if (map.height_ == 0) map.height_ = 1;
  while (map.height_ * kBits < 32 && family >> (map.height_ * kBits) != 0) {
    if (map.root_ != nullptr) {
      auto root = std::make_shared<Inner>();
      root->children[0] = map.root_;
      map.root_ = std::move(root);
    }
    ++map.height_;
  }
  if (!had) ++map.size_;
  if (version == nullptr) --map.size_;
  map.root_ = Set(map.root_.get(), map.height_ - 1, family, std::move(version));
  return map;
}

VersionMap::NodeRef VersionMap::Set(const Node* node, int height, FamilyId family,
                                    VersionRef version) {
  const size_t slot = (family >> (height * kBits)) & kMask;
  if (height == 0) {
    auto leaf = node == nullptr ? std::make_shared<Leaf>()
                                : std::make_shared<Leaf>(*static_cast<const Leaf*>(node));
    leaf->versions[slot] = std::move(version);
    for (const VersionRef& other : leaf->versions) {
      if (other != nullptr) return leaf;
    }
    return nullptr;
  }
  auto inner = node == nullptr ? std::make_shared<Inner>()
                               : std::make_shared<Inner>(*static_cast<const Inner*>(node));
  inner->children[slot] = Set(inner->children[slot].get(), height - 1, family, std::move(version));
  for (const NodeRef& child : inner->children) {
    if (child != nullptr) return inner;
  }
  return nullptr;
}

void VersionMap::ForEach(const std::function<void(const VersionRef&)>& fn) const {
  if (root_ != nullptr) Walk(root_.get(), height_ - 1, fn);
}

void VersionMap::Walk(const Node* node, int height,
                      const std::function<void(const VersionRef&)>& fn) {
  if (height == 0) {
    for (const VersionRef& version : static_cast<const Leaf*>(node)->versions) {
      if (version != nullptr) fn(version);
    }
    return;
  }
  for (const NodeRef& child : static_cast<const Inner*>(node)->children) {
    if (child != nullptr) Walk(child.get(), height - 1, fn);
  }
}

}  // namespace tidesdb
