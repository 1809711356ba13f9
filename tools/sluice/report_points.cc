#include "tools/sluice/report_points.h"

#include <algorithm>
#include <set>

namespace sluice::tool {

namespace {

const report_axis file_axis{"file", "file", plot_unit::count, false};
constexpr const char* threads_key = "threads";

/// What a row says of an axis, else what its configuration or the whole result's says. Lists count as their
/// length.
json axis_value(const report_point& point, const report_axis& axis) {
  const std::string key = axis.key;
  if (key == file_axis.key) return point.file;
  const json& whole = point.from->object;
  if (key == "machine") return words_at(whole, "/machine/name");
  const std::vector<std::string> keys =
      key == threads_key ? std::vector<std::string>{key, "lanes"} : std::vector<std::string>{key};
  for (const std::string& name : keys)
    for (const auto& [object, before] :
         {std::pair{point.values, "/"}, {point.values, "/config/"}, {&whole, "/config/"}}) {
      const json::json_pointer at(before + name);
      if (!object->contains(at)) continue;
      const json& found = object->at(at);
      if (found.is_array()) return found.size();
      if (found.is_number() || found.is_string()) return found;
    }
  return nullptr;
}

/// Equal for points that agree in all of `axes`.
std::string place_on(const report_point& point, const std::vector<report_axis>& axes) {
  json places = json::array();
  for (const report_axis& axis : axes) places.push_back(axis_value(point, axis));
  return places.dump(-1, ' ', false, json::error_handler_t::replace);  // file names may be no UTF-8
}

std::size_t distinct_places(const std::vector<report_point>& points, const std::vector<report_axis>& axes) {
  std::set<std::string> places;
  for (const report_point& point : points) places.insert(place_on(point, axes));
  return places.size();
}

}  // namespace

std::optional<double> report_point::number(const report_metric& metric) const {
  const auto found = number_at(*values, metric.pointer);
  return found ? std::optional(*found * metric.scale) : std::nullopt;
}

const std::vector<report_axis>& report_axes() {
  static const std::vector<report_axis> axes{{"drives", "drives"},
                                             {"block", "block size", plot_unit::bytes},
                                             {"queues", "queues"},
                                             {"depth", "queue depth"},
                                             {threads_key, "threads"},
                                             {"controllers", "controller threads"},
                                             {"cache", "cache size", plot_unit::bytes},
                                             {"page", "page size", plot_unit::bytes},
                                             {"mix", "share of writes", plot_unit::share},
                                             {"pattern", "pattern", plot_unit::count, false},
                                             {"path", "path", plot_unit::count, false},
                                             {"mode", "mode", plot_unit::count, false},
                                             {"policy", "policy", plot_unit::count, false},
                                             {"machine", "machine", plot_unit::count, false}};
  return axes;
}

std::optional<double> axis_number(const report_point& point, const report_axis& axis) {
  const json value = axis_value(point, axis);
  return axis.is_number ? number_at(json{{"value", value}}, "/value") : std::nullopt;
}

std::string axis_text(const report_point& point, const report_axis& axis) {
  if (const auto number = axis_number(point, axis)) return unit_text(*number, axis.unit);
  const json value = axis_value(point, axis);
  return value.is_string() ? value.get<std::string>() : "";
}

std::vector<report_axis> varying_axes(const std::vector<report_point>& points) {
  std::vector<report_axis> varying;
  if (distinct_places(points, {file_axis}) > 1) varying.push_back(file_axis);
  for (const report_axis& axis : report_axes())
    if (distinct_places(points, {axis}) > 1) varying.push_back(axis);
  return varying;
}

std::vector<report_axis> plotted_axes(const std::vector<report_point>& points) {
  std::vector<report_axis> axes = varying_axes(points);
  const std::size_t places = distinct_places(points, axes);
  std::vector<report_axis> others = axes;
  std::erase_if(others, [](const report_axis& axis) { return axis.key == std::string(threads_key); });
  if (distinct_places(points, others) == places) axes = others;
  std::erase_if(axes, [](const report_axis& axis) { return !axis.is_number; });
  return axes;
}

series_split split_over(const report_axis& x, const std::vector<report_point>& points) {
  series_split split;
  std::vector<report_axis> chosen{x};
  std::size_t places = distinct_places(points, chosen);
  for (const report_axis& axis : varying_axes(points)) {
    if (axis.key == std::string(x.key)) continue;
    chosen.push_back(axis);
    const std::size_t finer = distinct_places(points, chosen);
    const bool splits = finer > places || axis.key == std::string(file_axis.key);
    if (!splits) chosen.pop_back();
    (splits ? split.told_by : split.along).push_back(axis);
    places = finer;
  }
  split.named = split.told_by;
  const bool of_files = !split.told_by.empty() && split.told_by.front().key == std::string(file_axis.key);
  // What stays the same within every series changes with what tells them apart, not along them.
  std::erase_if(split.along, [&](const report_axis& axis) {
    std::vector<report_axis> with = split.told_by;
    with.push_back(axis);
    const bool stays = distinct_places(points, with) == distinct_places(points, split.told_by);
    if (stays && of_files) split.named.push_back(axis);
    return stays;
  });
  return split;
}

std::string point_label(const report_point& point, const std::vector<report_axis>& axes) {
  std::string label;
  for (const report_axis& axis : axes) {
    const std::string text = axis_text(point, axis);
    if (text.empty()) continue;
    label += label.empty() ? "" : ", ";
    label += axis.is_number ? std::string(axis.name) + " " + text : text;
  }
  return label;
}

std::vector<plot_series> series_over(const report_axis& x, const report_metric& y,
                                     const std::vector<report_point>& points, const series_split& split) {
  std::vector<plot_series> all;
  std::vector<std::string> places;
  for (const report_point& point : points) {
    const auto across = axis_number(point, x);
    const auto up = point.number(y);
    if (!across || !up) continue;
    const std::string place = place_on(point, split.told_by);
    const auto known = std::find(places.begin(), places.end(), place);
    const auto index = static_cast<std::size_t>(known - places.begin());
    if (known == places.end()) {
      places.push_back(place);
      all.push_back({point_label(point, split.named), {}});
    }
    all[index].points.push_back({*across, *up});
  }
  for (plot_series& series : all)
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const plot_point& a, const plot_point& b) { return a.x < b.x; });
  return all;
}

}  // namespace sluice::tool
