#include "tools/sluice/report_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "tools/sluice/report_bars.h"
#include "tools/sluice/report_compared.h"
#include "tools/sluice/report_lines.h"
#include "tools/sluice/report_points.h"

namespace sluice::tool {

namespace {

using points = std::vector<report_point>;

const report_metric io_rate{"IOPS", "/iops"};
const report_metric cache_rate{"accesses/s", "/iops"};
const report_metric throughput{"GB/s", "/bytes_per_s", plot_unit::number, 1e-9};
const report_metric ratio_to_bare{"ratio to bare", "/ratio_to_bare", plot_unit::ratio};
const report_metric bare_rate{"bare", "/bare/iops"};
const report_metric hits{"hit rate", "/hit_rate", plot_unit::share};
const std::vector<report_metric> percentiles{{"p50", "/latency_us/p50", plot_unit::micros},
                                             {"p99", "/latency_us/p99", plot_unit::micros},
                                             {"p99.9", "/latency_us/p999", plot_unit::micros}};

bool is_axis(const report_axis& axis, std::string_view key) { return axis.key == key; }

const report_metric& rate_of(result_kind kind) {
  return kind == result_kind::bench_cache ? cache_rate : io_rate;
}

points points_of_result(const report_result& result, const std::string& file) {
  points all;
  for (const json* values : result.points()) all.push_back({values, &result, file});
  return all;
}

/// What changes along the lines beside their axis.
std::string along_note(const series_split& split) {
  if (split.along.empty()) return "";
  std::string names;
  for (const report_axis& axis : split.along) names += (names.empty() ? "" : ", ") + std::string(axis.name);
  return "Along the axis these change too: " + names + ".";
}

line_plot empty_plot(const std::string& what, const report_axis& x, const plot_axis& y) {
  return {.title = what + " against " + x.name, .x = {x.name, x.unit}, .y = y, .series = {}};
}

void add_metric(std::vector<report_plot>& plots, const report_axis& x, const report_metric& y,
                const points& of, const series_split& split) {
  line_plot plot = empty_plot(y.name, x, {y.name, y.unit});
  plot.series = series_over(x, y, of, split);
  add_lines(plots, std::move(plot), along_note(split));
}

/// The rate; where it is a single line, beside the bare limit.
void add_rate(std::vector<report_plot>& plots, const report_axis& x, const points& of,
              const series_split& split) {
  const report_metric& rate = rate_of(of.front().from->kind);
  line_plot plot = empty_plot(rate.name, x, {rate.name, rate.unit});
  plot.series = series_over(x, rate, of, split);
  if (plot.series.size() == 1) {
    plot.series.front().label = "Sluice";
    for (plot_series& bare : series_over(x, bare_rate, of, split)) {
      bare.label = "bare";
      bare.aside = true;
      plot.series.push_back(std::move(bare));
    }
  }
  add_lines(plots, std::move(plot), along_note(split));
}

/// Percentiles together where they are of one series, else a plot each.
void add_latencies(std::vector<report_plot>& plots, const report_axis& x, const points& of,
                   const series_split& split) {
  line_plot together = empty_plot("latency", x, {"latency", plot_unit::micros});
  for (const report_metric& percentile : percentiles) {
    std::vector<plot_series> lines = series_over(x, percentile, of, split);
    if (lines.size() == 1) {
      lines.front().label = percentile.name;
      together.series.push_back(std::move(lines.front()));
      continue;
    }
    line_plot plot = empty_plot(std::string("latency ") + percentile.name, x, {"latency", plot_unit::micros});
    plot.series = std::move(lines);
    add_lines(plots, std::move(plot), along_note(split));
  }
  add_lines(plots, std::move(together), along_note(split));
}

void add_curves(std::vector<report_plot>& plots, const report_axis& x, const points& of) {
  const series_split split = split_over(x, of);
  add_rate(plots, x, of, split);
  if (is_axis(x, "block")) {
    add_metric(plots, x, throughput, of, split);
    add_compared(plots, x, of, split);
  }
  add_metric(plots, x, ratio_to_bare, of, split);
  add_metric(plots, x, hits, of, split);
  add_latencies(plots, x, of, split);
}

/// A bar a point, labelled by what differs.
void add_point_bars(std::vector<report_plot>& plots, const report_metric& metric, const points& of,
                    const std::string& title) {
  const std::vector<report_axis> axes = varying_axes(of);
  bar_plot plot{.title = title, .axis = {metric.name, metric.unit}, .bars = {}, .sought = {}};
  for (const report_point& point : of)
    if (const auto value = point.number(metric)) {
      const std::string label = point_label(point, axes);
      plot.bars.push_back({label.empty() ? fmt::format("row {}", plot.bars.size() + 1) : label, *value});
    }
  add_bars(plots, plot);
}

void add_bench_plots(std::vector<report_plot>& plots, const report_result& result) {
  const points of = points_of_result(result, "");
  const std::vector<report_axis> axes = plotted_axes(of);
  for (const report_axis& axis : axes) add_curves(plots, axis, of);
  if (axes.empty() && of.size() > 1) {
    for (const report_metric& metric : {rate_of(result.kind), hits, percentiles[0], percentiles[1]})
      add_point_bars(plots, metric, of, std::string(metric.name) + " of each row");
  }
  add_comparators(plots, result);
  add_latency(plots, result);
}

/// The points of those files that are plotted over the axis by themselves.
points sharing_axis(const report_axis& axis, const points& rows) {
  std::map<std::string, points> files;
  for (const report_point& point : rows) files[point.file].push_back(point);
  std::erase_if(files, [&](const auto& file) {
    const std::vector<report_axis> plotted = plotted_axes(file.second);
    return std::none_of(plotted.begin(), plotted.end(),
                        [&](const report_axis& each) { return is_axis(each, axis.key); });
  });
  points sharing = rows;
  std::erase_if(sharing, [&](const report_point& point) { return !files.contains(point.file); });
  return sharing;
}

bool are_of_several_files(const points& of) {
  return std::any_of(of.begin(), of.end(),
                     [&](const report_point& point) { return point.file != of.front().file; });
}

/// Rows of several files over each axis that two of them vary.
void add_shared_curves(std::vector<report_plot>& plots, const points& rows) {
  for (const report_axis& axis : report_axes()) {
    const points of = sharing_axis(axis, rows);
    if (of.empty() || !are_of_several_files(of)) continue;
    const series_split split = split_over(axis, of);
    add_rate(plots, axis, of, split);
    if (is_axis(axis, "block")) add_metric(plots, axis, throughput, of, split);
    add_metric(plots, axis, percentiles[0], of, split);
  }
}

/// Files without rows: one bar each, and together the points of a curve.
void add_single_points(std::vector<report_plot>& plots, points singles) {
  if (singles.size() < 2) return;
  const report_metric& rate = rate_of(singles.front().from->kind);
  add_point_bars(plots, rate, singles, std::string(rate.name) + " of each file");
  for (report_point& point : singles) point.file.clear();
  for (const report_axis& axis : plotted_axes(singles)) add_curves(plots, axis, singles);
}

void add_joint_bench(std::vector<report_plot>& plots, const std::vector<report_result>& results,
                     result_kind kind) {
  points rows, singles;
  for (std::size_t index = 0; index < results.size(); ++index) {
    if (results[index].kind != kind) continue;
    const points of = points_of_result(results[index], numbered_file(index, results[index]));
    points& part = results[index].is_swept() ? rows : singles;
    part.insert(part.end(), of.begin(), of.end());
  }
  add_shared_curves(plots, rows);
  add_single_points(plots, std::move(singles));
}

void add_joint_plans(std::vector<report_plot>& plots, const std::vector<report_result>& results) {
  bar_plot plot{.title = "the model: measured ÷ promised",
                .axis = {"measured ÷ promised", plot_unit::ratio},
                .bars = {},
                .sought = 1};
  for (std::size_t index = 0; index < results.size(); ++index) {
    if (results[index].kind != result_kind::plan) continue;
    if (const auto check = plan_check_of(results[index].object))
      plot.bars.push_back({numbered_file(index, results[index]), check->ratio()});
  }
  if (plot.bars.size() > 1) add_bars(plots, plot, "The line is a model without error.");
}

}  // namespace

std::string numbered_file(std::size_t index, const report_result& result) {
  return fmt::format("{} · {}", index + 1, std::filesystem::path(result.file).filename().string());
}

std::vector<report_plot> plots_of(const report_result& result) {
  std::vector<report_plot> plots;
  if (result.is_bench()) add_bench_plots(plots, result);
  if (result.kind == result_kind::graph) {
    add_search(plots, result);
    add_comparators(plots, result);
  }
  if (result.kind == result_kind::plan) add_plan_plots(plots, result);
  if (result.kind == result_kind::bars) add_bar_values(plots, result);
  return plots;
}

std::vector<report_plot> joint_plots(const std::vector<report_result>& results) {
  std::vector<report_plot> plots;
  for (const result_kind kind : {result_kind::bench_io, result_kind::bench_cache, result_kind::bench})
    add_joint_bench(plots, results, kind);
  add_joint_plans(plots, results);
  return plots;
}

}  // namespace sluice::tool
