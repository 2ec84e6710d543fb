#include "sim/two_phase.h"

#include <utility>

namespace tidesdb::simtest {

Status TwoPhaseClients::Run(Random* random, std::unique_ptr<Transaction> txn, Writes writes) {
  const std::string name = "xid" + std::to_string(next_++);
  Client& client = clients_[name];  // Its address is stable.
  client.writes = std::move(writes);
  Status prepared = txn->PrepareNamed(name);
  if (!prepared.ok()) {
    client.rolled_back = true;
    txn->Rollback();
    return prepared;
  }
  client.prepared = true;
  if (random->OneIn(6)) {
    client.rolled_back = true;
    txn->Rollback();
    return Status::Ok();
  }
  if (random->OneIn(20)) {
    client.handle = std::move(txn);
    return Status::Ok();
  }
  return Commit(&client, txn.get(), !random->OneIn(4));
}

Status TwoPhaseClients::Commit(Client* client, Transaction* txn, bool ordered) {
  client->decided = true;
  client->ticket = history_->Begin(client->writes);
  if (ordered) txn->OrderCommit();
  Status committed = txn->Commit();
  if (committed.ok()) {
    history_->Acked(client->ticket, txn->CommitSequence());
    client->acked = true;
    ++commits_;
  } else {
    history_->Failed(client->ticket, true);
  }
  return committed;
}

bool TwoPhaseClients::IsThere(const Client& client, const Contents& found) {
  // Its own key is written last and never deleted.
  for (const auto& [key, value] : client.writes) {
    if (key.second.starts_with("own")) return found.contains(key);
  }
  return false;
}

std::string TwoPhaseClients::Recovered(std::vector<std::unique_ptr<Transaction>> prepared,
                                       const Contents& found, bool all) {
  for (auto& txn : prepared) {
    ++found_;
    const std::string name(txn->prepared_name());
    const auto client = clients_.find(name);
    if (client == clients_.end()) return name + " was found prepared, and is unknown or ended";
    if (IsThere(client->second, found)) return name + " is prepared and committed";
    if (client->second.decided) history_->FoundPrepared(client->second.ticket);
    client->second.handle = std::move(txn);
  }
  for (auto it = clients_.begin(); it != clients_.end();) {
    const Client& client = it->second;
    if (client.handle != nullptr) {
      ++it;
      continue;
    }
    const bool there = IsThere(client, found);
    if (there && !client.decided) return it->first + " is committed, which nobody decided";
    if (all && !there && client.prepared && !client.rolled_back) {
      return it->first + " was prepared, and recovery found neither it nor its commit";
    }
    it = clients_.erase(it);
  }
  return "";
}

std::string TwoPhaseClients::Resolve(Random* random) {
  for (auto it = clients_.begin(); it != clients_.end();) {
    Client& client = it->second;
    if (!client.decided && !client.rolled_back && random->OneIn(2)) {
      ++it;  // For another life.
      continue;
    }
    std::unique_ptr<Transaction> txn = std::move(client.handle);
    if (client.decided || (!client.rolled_back && random->OneIn(2))) {
      if (client.acked) ++recommits_;
      const Status committed = Commit(&client, txn.get(), false);
      if (!committed.ok()) return it->first + ", found prepared: " + committed.ToString();
      ++it;
    } else {
      client.rolled_back = true;
      txn->Rollback();
      ++it;
    }
  }
  return "";
}

void TwoPhaseClients::ForgetHandles() {
  for (auto& [name, client] : clients_) client.handle.reset();
}

}  // namespace tidesdb::simtest
