#include "tools/sluice/report_compared.h"

#include <algorithm>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "tools/sluice/report_lines.h"

namespace sluice::tool {

namespace {

const plot_axis moved_axis{"GB/s"};

report_metric moved_by(const char* pointer) { return {"GB/s", pointer, plot_unit::number, 1e-9}; }

/// What a row says of a comparator; null where it has none of that name.
const json* comparator_in(const json& row, const std::string& name) {
  const auto all = row.find("comparators");
  if (all == row.end() || !all->is_array()) return nullptr;
  const auto at = std::find_if(all->begin(), all->end(),
                               [&](const json& each) { return words_at(each, "/name") == name; });
  return at == all->end() ? nullptr : &*at;
}

/// Of all comparators, in the order in which rows name them first.
std::vector<std::string> names_in(const std::vector<report_point>& points) {
  std::vector<std::string> names;
  for (const report_point& point : points) {
    const auto all = point.values->find("comparators");
    if (all == point.values->end() || !all->is_array()) continue;
    for (const json& each : *all) {
      const std::string name = words_at(each, "/name");
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

class compared_lines {
 public:
  compared_lines(const report_axis& x, const std::vector<report_point>& points, const series_split& split)
      : x_(x), points_(points), split_(split) {}

  /// Lines of what rows themselves say at `pointer`.
  void add(line_plot& plot, const std::string& label, const char* pointer, bool aside) const {
    add_of(plot, points_, label, pointer, aside);
  }
  /// Lines of what they say of a comparator.
  void add_of_comparator(line_plot& plot, const std::string& name, const std::string& label,
                         const char* pointer) const {
    std::list<json> rows;
    std::vector<report_point> points;
    for (const report_point& point : points_) {
      const json* const other = comparator_in(*point.values, name);
      if (other == nullptr) continue;
      rows.push_back(*point.values);  // with its place on every axis
      rows.back()["other"] = *other;
      points.push_back({&rows.back(), point.from, point.file});
    }
    add_of(plot, points, label, pointer, false);
  }

 private:
  void add_of(line_plot& plot, const std::vector<report_point>& points, const std::string& label,
              const char* pointer, bool aside) const {
    for (plot_series& line : series_over(x_, moved_by(pointer), points, split_)) {
      line.label = line.label.empty() ? label : label + ", " + line.label;
      line.aside = aside;
      plot.series.push_back(std::move(line));
    }
  }

  const report_axis& x_;
  const std::vector<report_point>& points_;
  const series_split& split_;
};

}  // namespace

void add_compared(std::vector<report_plot>& plots, const report_axis& x,
                  const std::vector<report_point>& points, const series_split& split) {
  const std::vector<std::string> names = names_in(points);
  if (names.empty()) return;
  const compared_lines lines(x, points, split);
  line_plot all{.title = std::string("GB/s against ") + x.name + ", beside others",
                .x = {x.name, x.unit},
                .y = moved_axis,
                .series = {}};
  lines.add(all, "Sluice", "/bytes_per_s", false);
  lines.add(all, "bare", "/bare/bytes_per_s", true);
  for (const std::string& name : names) lines.add_of_comparator(all, name, name, "/other/bytes_per_s");
  add_lines(plots, std::move(all), "");
  line_plot served{.title = std::string("GB/s of pages served by the CPU against ") + x.name,
                   .x = {x.name, x.unit},
                   .y = moved_axis,
                   .series = {}};
  lines.add_of_comparator(served, "cpu-served", "cold: every page comes", "/other/cold_bytes_per_s");
  lines.add_of_comparator(served, "cpu-served", "hot: every page is there", "/other/hot_bytes_per_s");
  add_lines(plots, std::move(served), "");
}

}  // namespace sluice::tool
