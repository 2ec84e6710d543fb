#include "dictionary/branches.h"

#include <algorithm>
#include <utility>

#include "codec/bytes.h"

namespace tidesdb::plugin {
namespace {

constexpr size_t kFormatBytes = 8;
constexpr size_t kXidHeaderBytes = kFormatBytes + 2;  // Plus the lengths of both parts.

std::string KeyOf(Slice name) {
  return std::string(name.substr(std::min(kFormatBytes, name.size())));
}

}  // namespace

std::string NameOfXid(const XID& xid) {
  std::string name;
  PutFixed64(&name, static_cast<uint64_t>(xid.formatID));
  name.push_back(static_cast<char>(xid.gtrid_length));
  name.push_back(static_cast<char>(xid.bqual_length));
  name.append(xid.data, static_cast<size_t>(xid.gtrid_length + xid.bqual_length));
  return name;
}

bool XidOfName(Slice name, XID* xid) {
  if (name.size() < kXidHeaderBytes) return false;
  const auto gtrid = static_cast<uint8_t>(name[kFormatBytes]);
  const auto bqual = static_cast<uint8_t>(name[kFormatBytes + 1]);
  if (gtrid > MAXGTRIDSIZE || bqual > MAXBQUALSIZE ||
      name.size() != kXidHeaderBytes + gtrid + bqual) {
    return false;
  }
  const char* const data = name.data() + kXidHeaderBytes;
  xid->set(static_cast<long>(LoadFixed64(name.data())), data, gtrid, data + gtrid, bqual);
  return true;
}

Status Branches::Recover(Db* db) {
  TIDESDB_ASSIGN(auto prepared, db->TakePrepared());
  recovered_ = prepared.size();
  for (auto& transaction : prepared) Park({std::move(transaction), {}, true});
  return Status::Ok();
}

void Branches::Park(Branch branch) {
  LatchGuard guard(latch_);
  std::string key = KeyOf(branch.transaction->prepared_name());
  branches_[std::move(key)] = std::move(branch);
  count_ = branches_.size();
}

Branch Branches::Take(Slice name) {
  LatchGuard guard(latch_);
  const auto found = branches_.find(KeyOf(name));
  if (found == branches_.end()) return {};
  Branch branch = std::move(found->second);
  branches_.erase(found);
  count_ = branches_.size();
  return branch;
}

void Branches::Ended(Branch* branch, uint64_t sequence) {
  SettleTouched(&branch->touched, sequence);
  if (!branch->recovered) return;
  LatchGuard guard(latch_);
  recovered_version_ = std::max(recovered_version_.load(), sequence);
  recovered_.fetch_sub(1, std::memory_order_release);
}

uint Branches::List(XID* list, uint size) {
  LatchGuard guard(latch_);
  uint listed = 0;
  auto it = listed_.empty() ? branches_.begin() : branches_.upper_bound(listed_);
  for (; it != branches_.end() && listed < size; ++it) {
    const Branch& branch = it->second;
    if (branch.recovered && XidOfName(branch.transaction->prepared_name(), &list[listed])) ++listed;
    listed_ = it->first;
  }
  if (listed < size) listed_.clear();
  return listed;
}

std::vector<std::pair<uint64_t, std::string>> Branches::All() {
  std::vector<std::pair<uint64_t, std::string>> all;
  LatchGuard guard(latch_);
  for (const auto& [key, branch] : branches_) {
    all.emplace_back(branch.transaction->id(), branch.transaction->prepared_name());
  }
  return all;
}

void Branches::Clear() {
  LatchGuard guard(latch_);
  branches_.clear();
  count_ = 0;
}

}  // namespace tidesdb::plugin
