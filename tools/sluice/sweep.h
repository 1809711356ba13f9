// `--sweep AXIS=VALUES`: a benchmark run at every value of an axis, and at every value of one with every
// value of another.
#pragma once

#include <algorithm>
#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/sluice/command.h"

namespace sluice::tool {

/// The axes that the user wants swept, and the values that were named.
class sweep_choice {
 public:
  /// Adds `--sweep` for `axes`: may be repeated, or name several between commas. Lives as long as `command`.
  void add_to(CLI::App& command, const std::vector<std::string>& axes);
  bool any() const { return !swept_.empty(); }
  bool has(const std::string& axis) const { return find(axis) != nullptr; }

  /// The values of an axis that is swept: those that were named, else the `usual` ones. Words are only good
  /// where they are usual ones. Throws error{bad_input}.
  template <class Value>
  std::vector<Value> values_of(const std::string& axis, const std::vector<Value>& usual) const {
    const std::vector<std::string>& words = find(axis)->words;
    if (words.empty()) return usual;
    if constexpr (std::is_same_v<Value, std::string>) {
      return known_words(axis, words, usual);
    } else if constexpr (std::floating_point<Value>) {
      return shares(axis, words);
    } else {
      std::vector<Value> values;
      const std::uint64_t least = std::find(usual.begin(), usual.end(), 0U) != usual.end() ? 0 : 1;
      for (const std::uint64_t value : counts(axis, words, least, std::numeric_limits<Value>::max()))
        values.push_back(static_cast<Value>(value));
      return values;
    }
  }

 private:
  struct swept {
    std::string axis;
    std::vector<std::string> words;
  };
  void take(const std::vector<std::string>& axes, const std::vector<std::string>& words);
  const swept* find(const std::string& axis) const;

  static std::vector<std::string> known_words(const std::string& axis, const std::vector<std::string>& words,
                                              const std::vector<std::string>& known);
  /// Numbers from 0 to 1.
  static std::vector<double> shares(const std::string& axis, const std::vector<std::string>& words);
  /// Whole numbers from `least` to `most`, or sizes. "A..B", with A no less than 1, stands for A, 2 A, 4 A
  /// and so on up to B, "A..B+S" for steps of S.
  static std::vector<std::uint64_t> counts(const std::string& axis, const std::vector<std::string>& words,
                                           std::uint64_t least, std::uint64_t most);

  std::vector<swept> swept_;
};

/// The points of a sweep: at first where no axis is swept, then along one axis after the other.
template <class Point>
class sweep_points {
 public:
  sweep_points(const sweep_choice& choice, Point start) : choice_(choice), points_{std::move(start)} {}

  /// Where `axis` is swept: each point so far with each of its values, by `set(point, value)`.
  template <class Value, class Set>
  void along(const std::string& axis, const std::vector<Value>& usual, Set set) {
    if (!choice_.has(axis)) return;
    std::vector<Point> wider;
    const std::vector<Value> values = choice_.values_of(axis, usual);
    for (const Point& point : points_)
      for (const Value& value : values) set(wider.emplace_back(point), value);
    points_ = std::move(wider);
  }
  const std::vector<Point>& points() const { return points_; }

 private:
  const sweep_choice& choice_;
  std::vector<Point> points_;
};

/// The keys of the fastest of `rows`: what a sweep says as one.
inline json fastest_of(const json& rows) {
  return *std::max_element(rows.begin(), rows.end(),
                           [](const json& a, const json& b) { return a["iops"] < b["iops"]; });
}

}  // namespace sluice::tool
