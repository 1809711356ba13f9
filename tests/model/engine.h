// An explicit-state model checker: walks every interleaving of a small protocol and shows the shortest way to
// a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::model {

/// One move of one actor, for the trace: who (a lane's number, or nobody), does what, with which slot, way or
/// page.
struct step {
  const char* what = "";
  int who = -1;
  int where = -1;
  bool counted = false;  ///< the move that a livelock search looks for
  std::string text() const {
    std::string line = who >= 0 ? "lane " + std::to_string(who) + " " : "";
    line += what;
    return where >= 0 ? line + " " + std::to_string(where) : line;
  }
};

enum class outcome : std::uint8_t { holds, violation, stuck, livelock, too_large };

inline const char* name(outcome o) {
  switch (o) {
    case outcome::holds:
      return "holds";
    case outcome::violation:
      return "violation";
    case outcome::stuck:
      return "stuck";
    case outcome::livelock:
      return "livelock";
    case outcome::too_large:
      break;
  }
  return "too large";
}

struct report {
  outcome what = outcome::holds;
  std::string why;
  std::vector<std::string> trace;  ///< the moves from the start to the fault
  std::size_t states = 0;
  std::size_t ends = 0;  ///< states that satisfy the goal

  bool holds() const { return what == outcome::holds; }
  std::string text() const {
    std::string all = std::string(name(what)) + " after " + std::to_string(states) + " states";
    if (!why.empty()) all += ": " + why;
    for (const std::string& line : trace) all += "\n  " + line;
    return all;
  }
};

/// Where a model puts the states that may follow the one it was asked about.
template <class State>
class moves {
 public:
  void add(const State& next, step how) { next_.emplace_back(next, how); }
  /// The move `how` breaks a promise of the protocol.
  void violate(const char* why, step how) {
    if (why_ == nullptr) why_ = why, how_ = how;
  }
  bool violated() const { return why_ != nullptr; }
  const char* why() const { return why_; }
  const step& violation() const { return how_; }
  const std::vector<std::pair<State, step>>& all() const { return next_; }
  void clear() { next_.clear(), why_ = nullptr; }

 private:
  std::vector<std::pair<State, step>> next_;
  const char* why_ = nullptr;
  step how_;
};

/// Explores a Model, which has: `state` (bytes without padding), `state start() const`, `void steps(const
/// state&, moves<state>&) const` and `bool finished(const state&) const`.
template <class Model>
class explorer {
 public:
  using state = typename Model::state;
  static_assert(std::has_unique_object_representations_v<state>, "states are compared byte by byte");

  explicit explorer(const Model& model, std::size_t most_states = 6'000'000)
      : model_(model), most_states_(most_states) {}

  /// Breadth first from the start. Violation: a move that the model forbids. Stuck: a state from which no
  /// finished state can be reached, whatever is scheduled.
  report run() {
    reach(model_.start(), 0, {});
    for (std::uint32_t at = 0; at < states_.size(); ++at) {
      if (states_.size() > most_states_) return finish(outcome::too_large, "", 0);
      if (!expand(at)) {
        report found = finish(outcome::violation, moves_.why(), at);
        found.trace.push_back(moves_.violation().text());
        return found;
      }
    }
    return judge_ends();
  }

  /// After a run that holds: a cycle of moves that all satisfy `idle` (nobody's work ends) and hold a counted
  /// move, so that the system works for ever and gets nowhere.
  template <class Idle>
  report find_livelock(Idle idle) {
    std::vector<std::vector<edge>> graph(states_.size());
    for (const edge& e : edges_)
      if (idle(states_[e.from], states_[e.to])) graph[e.from].push_back(e);
    const std::vector<std::uint32_t> component = strong_components(graph);
    for (const auto& out : graph)
      for (const edge& e : out)
        if (e.counted && component[e.from] == component[e.to]) return finish(outcome::livelock, "", e.from);
    return finish(outcome::holds, "", 0);
  }

 private:
  struct edge {
    std::uint32_t from;
    std::uint32_t to;
    bool counted;
  };
  static constexpr std::uint32_t none = 0xffffffffU;

  static std::uint64_t hash(const state& s) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&s);
    std::uint64_t h = 0x9e3779b97f4a7c15U;
    for (std::size_t i = 0; i < sizeof(state); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, sizeof(state) - i < 8 ? sizeof(state) - i : 8);
      h = (h ^ word) * 0xff51afd7ed558ccdU;
      h ^= h >> 32;
    }
    return h;
  }

  /// The number of a state; a new one is remembered with the move that first led there.
  std::uint32_t reach(const state& s, std::uint32_t parent, const step& how) {
    if (states_.size() * 2 >= table_.size()) grow();
    std::size_t at = hash(s) & (table_.size() - 1);
    for (; table_[at] != none; at = (at + 1) & (table_.size() - 1))
      if (std::memcmp(&states_[table_[at]], &s, sizeof(state)) == 0) return table_[at];
    table_[at] = static_cast<std::uint32_t>(states_.size());
    states_.push_back(s);
    parents_.push_back(parent);
    how_.push_back(how);
    return table_[at];
  }

  void grow() {
    table_.assign(table_.empty() ? 1U << 16 : table_.size() * 4, none);
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      std::size_t at = hash(states_[i]) & (table_.size() - 1);
      while (table_[at] != none) at = (at + 1) & (table_.size() - 1);
      table_[at] = i;
    }
  }

  bool expand(std::uint32_t at) {
    const state from = states_[at];
    moves_.clear();
    model_.steps(from, moves_);
    if (moves_.violated()) return false;
    for (const auto& [next, how] : moves_.all()) {
      const std::uint32_t to = reach(next, at, how);
      if (to != at) edges_.push_back({at, to, how.counted});
    }
    return true;
  }

  /// Backward from every finished state: whoever is not met is stuck.
  report judge_ends() {
    std::vector<std::uint32_t> first(states_.size() + 1, 0);
    for (const edge& e : edges_) ++first[e.to + 1];
    for (std::size_t i = 0; i < states_.size(); ++i) first[i + 1] += first[i];
    std::vector<std::uint32_t> before(edges_.size());
    std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
    for (const edge& e : edges_) before[fill[e.to]++] = e.from;

    std::vector<char> can_end(states_.size(), 0);
    std::vector<std::uint32_t> work;
    for (std::uint32_t i = 0; i < states_.size(); ++i)
      if (model_.finished(states_[i])) can_end[i] = 1, work.push_back(i);
    ends_ = work.size();
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      for (std::uint32_t k = first[at]; k < first[at + 1]; ++k)
        if (can_end[before[k]] == 0) can_end[before[k]] = 1, work.push_back(before[k]);
    }
    for (std::uint32_t i = 0; i < states_.size(); ++i)
      if (can_end[i] == 0) return finish(outcome::stuck, "no end can be reached any more", i);
    return finish(outcome::holds, "", 0);
  }

  report finish(outcome what, const char* why, std::uint32_t at) const {
    report result{what, why, {}, states_.size(), ends_};
    if (what == outcome::holds || what == outcome::too_large) return result;
    for (; at != 0; at = parents_[at]) result.trace.insert(result.trace.begin(), how_[at].text());
    return result;
  }

  /// Tarjan's algorithm with its stack on the heap: the component number of every state.
  static std::vector<std::uint32_t> strong_components(const std::vector<std::vector<edge>>& graph) {
    struct frame {
      std::uint32_t node;
      std::size_t next;
    };
    std::vector<std::uint32_t> index(graph.size(), none);
    std::vector<std::uint32_t> low(graph.size(), 0);
    std::vector<std::uint32_t> component(graph.size(), none);
    std::vector<std::uint32_t> open;
    std::vector<frame> calls;
    std::uint32_t visited = 0;
    std::uint32_t components = 0;
    for (std::uint32_t root = 0; root < graph.size(); ++root) {
      if (index[root] == none) calls.push_back({root, 0});
      while (!calls.empty()) {
        const std::uint32_t node = calls.back().node;
        if (calls.back().next == 0 && index[node] == none)
          index[node] = low[node] = visited++, open.push_back(node);
        if (calls.back().next < graph[node].size()) {
          const std::uint32_t to = graph[node][calls.back().next++].to;
          if (index[to] == none)
            calls.push_back({to, 0});
          else if (component[to] == none && index[to] < low[node])
            low[node] = index[to];
          continue;
        }
        if (low[node] == index[node]) {
          std::uint32_t member = none;
          do component[member = open.back()] = components, open.pop_back();
          while (member != node);
          ++components;
        }
        calls.pop_back();
        if (!calls.empty() && low[node] < low[calls.back().node]) low[calls.back().node] = low[node];
      }
    }
    return component;
  }

  const Model& model_;
  std::size_t most_states_;
  std::vector<state> states_;
  std::vector<std::uint32_t> parents_;
  std::vector<step> how_;
  std::vector<std::uint32_t> table_;
  std::vector<edge> edges_;
  moves<state> moves_;
  std::size_t ends_ = 0;
};

template <class Model>
report explore(const Model& model) {
  return explorer<Model>(model).run();
}

}  // namespace sluice::model
