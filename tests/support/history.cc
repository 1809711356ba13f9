#include "tests/support/history.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "sluice/base/bits.h"
#include "sluice/base/status.h"

namespace sluice::testing {
namespace {

using kind = operation::kind;

std::string told(const operation& o) {
  constexpr const char* names[] = {"read", "write", "add"};
  std::ostringstream line;
  line << "lane " << o.lane << ' ' << names[static_cast<std::uint32_t>(o.what)] << std::hex;
  if (o.what != kind::read) line << ' ' << o.value;
  if (o.what != kind::write) line << " -> " << o.result;
  line << std::dec << " [" << o.called << ", " << o.returned << ']';
  return line.str();
}

/// The search for an order of one element's operations: Wing and Gong's, with Lowe's memory of where it has
/// been. What lanes still have to do is the state, and the element's value; both go back by a trail.
class element_search {
 public:
  element_search(std::vector<std::vector<operation>> by_lane, std::uint64_t value, std::uint64_t slack)
      : lanes_(std::move(by_lane)), next_(lanes_.size()), value_(value), slack_(slack) {
    for (const auto& lane : lanes_) left_ += lane.size();
    least_left_ = left_;
  }

  /// Nothing where there is an order.
  std::string explain() {
    struct choice {
      std::size_t trail;
      std::uint64_t value;
      std::vector<std::size_t> among;
      std::size_t tried = 0;
    };
    std::vector<choice> choices;
    const auto go_on = [&] {
      take_fitting_reads();
      note_where_stuck();
      if (left_ != 0 && seen_.insert(here()).second) choices.push_back({trail_.size(), value_, changes()});
    };
    go_on();
    while (left_ != 0 && !choices.empty()) {
      choice& now = choices.back();
      go_back_to(now.trail, now.value);
      if (now.tried == now.among.size()) {
        choices.pop_back();
        continue;
      }
      if (seen_.size() > most_states) return "too much happened at once to be checked";
      take(now.among[now.tried++]);
      go_on();
    }
    return left_ == 0 ? "" : stuck_;
  }

 private:
  static constexpr std::size_t most_states = 1'000'000;

  bool is_done(std::size_t lane) const { return next_[lane] == lanes_[lane].size(); }
  const operation& next(std::size_t lane) const { return lanes_[lane][next_[lane]]; }
  static std::uint64_t cut(const operation& o, std::uint64_t value) {
    return o.bytes == 4 ? value & 0xffffffffU : value;
  }
  /// Whether it can be the next one as its result tells.
  bool fits(const operation& o) const { return o.what == kind::write || o.result == value_; }

  /// The moment before which whatever comes next must have been called: nothing may follow what was called
  /// after its return.
  std::uint64_t latest_call() const {
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      if (!is_done(lane)) least = std::min(least, next(lane).returned);
    return least > ~slack_ ? least : least + slack_;
  }

  /// A read that may come next and fits may as well come now: it changes nothing for the others.
  void take_fitting_reads() {
    for (bool took = true; took;) {
      took = false;
      const std::uint64_t latest = latest_call();
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        while (!is_done(lane) && next(lane).what == kind::read && next(lane).called <= latest &&
               fits(next(lane))) {
          take(lane);
          took = true;
        }
      }
    }
  }
  /// Lanes whose next operation may come next and changes the element; those that must end first, first.
  std::vector<std::size_t> changes() const {
    std::vector<std::size_t> found;
    const std::uint64_t latest = latest_call();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      if (!is_done(lane) && next(lane).what != kind::read && next(lane).called <= latest && fits(next(lane)))
        found.push_back(lane);
    std::sort(found.begin(), found.end(), [this](std::size_t a, std::size_t b) {
      return std::pair(next(a).returned, a) < std::pair(next(b).returned, b);
    });
    return found;
  }

  void take(std::size_t lane) {
    const operation& o = next(lane);
    if (o.what == kind::write) value_ = cut(o, o.value);
    if (o.what == kind::add) value_ = cut(o, value_ + o.value);
    step(lane, 1);
    trail_.push_back(lane);
    --left_;
  }
  void go_back_to(std::size_t length, std::uint64_t value) {
    for (; trail_.size() > length; trail_.pop_back(), ++left_) step(trail_.back(), ~std::size_t{0});
    value_ = value;
  }
  void step(std::size_t lane, std::size_t by) {
    places_ -= mix(mix(lane + 1) + next_[lane]);
    next_[lane] += by;
    places_ += mix(mix(lane + 1) + next_[lane]);
  }
  /// Where the lanes are, as a sum of hashes, and the value.
  std::pair<std::uint64_t, std::uint64_t> here() const { return {places_, value_}; }

  void note_where_stuck() {
    if (left_ > least_left_ || left_ == 0) return;
    least_left_ = left_;
    std::ostringstream text;
    text << "all but " << left_ << " explained, it held " << std::hex << value_ << std::dec
         << ", and then came";
    int shown = 0;
    const std::uint64_t latest = latest_call();
    for (std::size_t lane = 0; lane < lanes_.size() && shown < 6; ++lane)
      if (!is_done(lane) && next(lane).called <= latest)
        text << (shown++ == 0 ? " " : "; ") << told(next(lane));
    stuck_ = text.str();
  }

  std::vector<std::vector<operation>> lanes_;
  std::vector<std::size_t> next_;
  std::uint64_t value_;
  std::uint64_t slack_;
  std::size_t left_ = 0;
  std::size_t least_left_;
  std::vector<std::size_t> trail_;
  std::uint64_t places_ = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
  std::string stuck_;
};

}  // namespace

history::history(backend on, std::uint32_t warps, std::uint32_t most_each, std::uint32_t warp_lanes)
    : lanes_(warps * warp_lanes),
      most_(most_each),
      warp_lanes_(warp_lanes),
      operations_(on, memory::place::device, std::size_t{lanes_} * most_each * sizeof(operation)),
      counts_(on, memory::place::device, std::size_t{lanes_} * sizeof(std::uint32_t)) {}

history_ref history::ref() const {
  return {operations_.lanes_as<operation>(), counts_.lanes_as<std::uint32_t>(), most_, warp_lanes_};
}

std::vector<operation> history::operations() const {
  std::vector<std::uint32_t> counts(lanes_);
  std::vector<operation> all(std::size_t{lanes_} * most_), kept;
  memory::copy_out(counts_.view(), 0, std::as_writable_bytes(std::span(counts)));
  memory::copy_out(operations_.view(), 0, std::as_writable_bytes(std::span(all)));
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    if (counts[lane] > most_) throw std::length_error("a lane had more to record than there was room for");
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(std::size_t{lane} * most_);
    kept.insert(kept.end(), first, first + counts[lane]);
  }
  return kept;
}

std::string unexplained(const std::vector<operation>& history,
                        const std::function<std::uint64_t(std::uint64_t element)>& start,
                        std::uint64_t slack) {
  std::map<std::uint64_t, std::map<std::uint32_t, std::vector<operation>>> elements;
  for (const operation& o : history)
    if (status::from_bits(o.code).is_ok()) elements[o.element][o.lane].push_back(o);
  for (auto& [element, lanes] : elements) {
    std::vector<std::vector<operation>> by_lane;
    for (auto& [lane, operations] : lanes) by_lane.push_back(std::move(operations));
    const std::string why = element_search(std::move(by_lane), start(element), slack).explain();
    if (!why.empty()) return "element " + std::to_string(element) + ": " + why;
  }
  return {};
}

}  // namespace sluice::testing
