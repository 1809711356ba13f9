// `--sweep AXIS`: a benchmark run at every value of an axis, and at every value of one with every value of
// another.
#pragma once

#include <algorithm>
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/sluice/command.h"

namespace sluice::tool {

/// The axes that the user wants swept.
class sweep_choice {
 public:
  /// Adds `--sweep` for `axes`: may be repeated, or name several between commas.
  void add_to(CLI::App& command, const std::vector<std::string>& axes) {
    std::string names;
    for (const std::string& axis : axes) names += (names.empty() ? "" : ", ") + axis;
    command.add_option("--sweep", axes_, "measure all values of an axis: " + names)
        ->check(CLI::IsMember(axes))
        ->expected(1)
        ->take_all()
        ->delimiter(',');
  }
  bool any() const { return !axes_.empty(); }
  bool has(const std::string& axis) const {
    return std::find(axes_.begin(), axes_.end(), axis) != axes_.end();
  }

 private:
  std::vector<std::string> axes_;
};

/// The points of a sweep: at first where no axis is swept, then along one axis after the other.
template <class Point>
class sweep_points {
 public:
  sweep_points(const sweep_choice& choice, Point start) : choice_(choice), points_{std::move(start)} {}

  /// Where `axis` is swept: each point so far with each of `values`, by `set(point, value)`.
  template <class Value, class Set>
  void along(const std::string& axis, const std::vector<Value>& values, Set set) {
    if (!choice_.has(axis)) return;
    std::vector<Point> wider;
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
