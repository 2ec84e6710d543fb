#include "sim/history.h"

#include <algorithm>
#include <utility>

namespace tidesdb::simtest {

size_t History::Begin(Writes writes) {
  commits_.push_back({std::move(writes), std::nullopt, true});
  return commits_.size() - 1;
}

void History::Acked(size_t ticket, uint64_t sequence) {
  commits_[ticket].sequence = sequence;
  commits_[ticket].open = false;
  ++acked_total_;
}

void History::Failed(size_t ticket, bool in_doubt) { commits_[ticket].open = in_doubt; }

void History::FoundPrepared(size_t ticket) {
  commits_[ticket].sequence.reset();
  commits_[ticket].open = false;
}

void History::Apply(const Writes& writes, Contents* contents) {
  for (const auto& [key, value] : writes) {
    if (value.has_value()) {
      (*contents)[key] = *value;
    } else {
      contents->erase(key);
    }
  }
}

Contents History::ContentsAt(uint64_t sequence) const {
  std::map<uint64_t, const Commit*> acked;
  for (const Commit& commit : commits_) {
    if (commit.sequence.has_value() && *commit.sequence <= sequence) {
      acked[*commit.sequence] = &commit;
    }
  }
  Contents contents = base_;
  for (const auto& [at, commit] : acked) Apply(commit->writes, &contents);
  return contents;
}

std::string History::CheckRecovered(const Contents& found, uint64_t last_sequence,
                                    Promise promise) {
  std::vector<const Commit*> acked;
  std::vector<const Commit*> open;
  for (const Commit& commit : commits_) {
    if (commit.sequence.has_value()) acked.push_back(&commit);
    if (commit.open) open.push_back(&commit);
  }
  std::sort(acked.begin(), acked.end(),
            [](const Commit* a, const Commit* b) { return *a->sequence < *b->sequence; });
  Contents wanted = base_;
  for (const Commit* commit : acked) {
    if (*commit->sequence > last_sequence) {
      if (promise == Promise::kPrefix) break;
      return "commit " + std::to_string(*commit->sequence) +
             " was acknowledged, and the newest recovered one is " + std::to_string(last_sequence);
    }
    Apply(commit->writes, &wanted);
  }
  // Commits in doubt held their locks to the end, so none of them wrote a key that another of them
  // or a later commit wrote: each is there completely or not at all. Every commit writes a key of
  // its own that identifies it.
  for (const Commit* commit : open) {
    const auto own = std::find_if(commit->writes.begin(), commit->writes.end(), [&](const auto& w) {
      return w.second.has_value() && !base_.contains(w.first) && !wanted.contains(w.first);
    });
    if (own == commit->writes.end() || !found.contains(own->first)) continue;
    Apply(commit->writes, &wanted);
    ++in_doubt_kept_;
  }
  base_ = found;
  commits_.clear();
  return wanted == found ? "" : Difference(wanted, found);
}

std::string Difference(const Contents& wanted, const Contents& found) {
  constexpr int kShown = 5;
  std::string text = "contents differ (wanted " + std::to_string(wanted.size()) + " keys, found " +
                     std::to_string(found.size()) + "):";
  int shown = 0;
  const auto describe = [](const Contents& contents, const FamilyKey& key) {
    const auto it = contents.find(key);
    return it == contents.end() ? std::string("(none)") : it->second.substr(0, 24);
  };
  const auto show = [&](const FamilyKey& key) {
    const std::string want = describe(wanted, key);
    const std::string got = describe(found, key);
    if (want == got || ++shown > kShown) return;
    text += " family " + std::to_string(key.first) + " key " + key.second + ": wanted " + want +
            ", found " + got + ";";
  };
  for (const auto& [key, value] : wanted) show(key);
  for (const auto& [key, value] : found) {
    if (!wanted.contains(key)) show(key);
  }
  return text;
}

}  // namespace tidesdb::simtest
