#include "tools/sluice/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "sluice/base/sizes.h"
#include "tools/sluice/html_text.h"
#include "tools/sluice/report_bars.h"
#include "tools/sluice/report_points.h"

namespace sluice::tool {

namespace {

using cells = std::vector<std::string>;
constexpr auto words_column = report_table::column_kind::words;

/// Four digits, or all of a whole part that has more.
std::string plain_number(const std::optional<double>& number) {
  if (!number) return "";
  if (std::abs(*number) >= 1000 && std::abs(*number) < 1e15)
    return (*number < 0 ? "-" : "") +
           format_grouped(static_cast<std::uint64_t>(std::llround(std::abs(*number))));
  return fmt::format("{:.4g}", *number);
}

std::string number_text(const json& values, const std::string& pointer, plot_unit unit) {
  const auto number = number_at(values, pointer);
  return number ? unit_text(*number, unit) : "";
}

std::string scaled_text(const json& values, const std::string& pointer, double scale) {
  const auto number = number_at(values, pointer);
  return number ? plain_number(*number * scale) : "";
}

/// How many cores the program kept busy.
std::string cores_text(const json& values) {
  const auto busy = number_at(values, "/cpu_seconds");
  const auto seconds = number_at(values, "/seconds");
  return busy && seconds && *seconds > 0 ? fmt::format("{:.2f}", *busy / *seconds) : "";
}

cells bench_cells(const report_point& point, const std::vector<report_axis>& axes) {
  const json& values = *point.values;
  cells row;
  for (const report_axis& axis : axes) row.push_back(axis_text(point, axis));
  row.push_back(number_text(values, "/iops", plot_unit::number));
  row.push_back(scaled_text(values, "/bytes_per_s", 1e-9));
  row.push_back(number_text(values, "/bare/iops", plot_unit::number));
  row.push_back(number_text(values, "/ratio_to_bare", plot_unit::ratio));
  row.push_back(number_text(values, "/hit_rate", plot_unit::share));
  for (const char* percentile : {"p50", "p99", "p999", "max"})
    row.push_back(scaled_text(values, std::string("/latency_us/") + percentile, 1));
  row.push_back(scaled_text(values, "/seconds", 1));
  row.push_back(cores_text(values));
  for (const char* key : {"/commands_issued", "/commands_served", "/dropped", "/verified"})
    row.push_back(count_at(values, key));
  return row;
}

report_table bench_columns(const report_result& result, const std::vector<report_axis>& axes) {
  report_table table;
  for (const report_axis& axis : axes)
    table.add_column(axis.name, axis.is_number ? report_table::column_kind::numbers : words_column);
  table.add_column(result.kind == result_kind::bench_cache ? "accesses/s" : "IOPS");
  for (const char* heading : {"GB/s", "bare/s", "ratio to bare", "hit rate", "p50 µs", "p99 µs", "p99.9 µs",
                              "max µs", "seconds", "cores", "issued", "served", "dropped"})
    table.add_column(heading);
  table.add_column("verified", words_column);
  return table;
}

/// Columns for the axes that vary, and before the table what all rows have in common.
std::string bench_table(const report_result& result) {
  std::vector<report_point> points;
  for (const json* values : result.points()) points.push_back({values, &result, ""});
  const std::vector<report_axis> varying = varying_axes(points);
  std::vector<report_axis> common = report_axes();
  std::erase_if(common, [&](const report_axis& axis) {
    return std::any_of(varying.begin(), varying.end(),
                       [&](const report_axis& each) { return std::string_view(each.key) == axis.key; });
  });
  report_table table = bench_columns(result, varying);
  for (const report_point& point : points) table.add_row(bench_cells(point, varying));
  const std::string label = point_label(points.front(), common);
  return (label.empty() ? "" : html_element("p", (points.size() > 1 ? "All rows: " : "") + label + ".")) +
         table.html();
}

std::string comparator_table(const report_result& result) {
  const auto others = result.object.find("comparators");
  if (others == result.object.end() || !others->is_array()) return "";
  report_table table;
  table.add_column("compared with", words_column).add_column("GB/s").add_column("seconds");
  table.add_column("our rate ÷ theirs").add_column("why it is not here", words_column);
  for (const json& other : *others)
    table.add_row({words_at(other, "/name"), scaled_text(other, "/bytes_per_s", 1e-9),
                   scaled_text(other, "/seconds", 1), number_text(other, "/ratio", plot_unit::ratio), ""});
  const auto missing = result.object.find("comparators_missing");
  if (missing != result.object.end() && missing->is_array())
    for (const json& other : *missing)
      table.add_row({words_at(other, "/name"), "", "", "", words_at(other, "/why")});
  return table.html();
}

cells plan_cells(const json& plan) {
  const auto check = plan_check_of(plan);
  return {words_at(plan, "/drive_model"),
          number_text(plan, "/latency_us", plot_unit::micros),
          count_at(plan, "/queue_depth"),
          count_at(plan, "/drives"),
          count_at(plan, "/queues"),
          count_at(plan, "/depth"),
          words_at(plan, "/limit"),
          number_text(plan, "/accesses_per_s", plot_unit::number),
          scaled_text(plan, "/bytes_per_s", 1e-9),
          scaled_text(plan, "/cost_per_gb", 1),
          number_text(plan, "/gain", plot_unit::ratio),
          check ? unit_text(check->promised, plot_unit::number) : "",
          check ? unit_text(check->measured, plot_unit::number) : "",
          check ? plan_error_text(*check) : "",
          words_at(plan, "/source")};
}

std::string plan_table(const report_result& result) {
  report_table table;
  table.add_column("drive model", words_column);
  for (const char* heading : {"latency", "in flight", "drives", "queues a drive", "entries a queue"})
    table.add_column(heading);
  table.add_column("limit", words_column);
  for (const char* heading : {"reaches/s", "GB/s", "$/GB", "gain over DRAM", "promised/s", "measured/s"})
    table.add_column(heading);
  table.add_column("the model's error", words_column).add_column("figures from", words_column);
  for (const json* plan : result.points()) table.add_row(plan_cells(*plan));
  return table.html();
}

/// What a bar says beside its own columns.
std::string other_figures(const json& bar) {
  std::string text;
  for (const auto& [key, value] : bar.items()) {
    if (!value.is_number() && key != "bound_by") continue;
    if (key == "value" || key == "bar") continue;
    text += (text.empty() ? "" : "; ") + key + " " +
            (value.is_number() ? plain_number(value.get<double>()) : value.dump());
  }
  return text;
}

std::string bars_table(const report_result& result) {
  report_table table;
  table.add_column("bar", words_column).add_column("value").add_column("sought");
  for (const char* heading : {"unit", "met", "other figures", "command", "comparator"})
    table.add_column(heading, words_column);
  for (const json& bar : result.object["bars"])
    table.add_row({words_at(bar, "/id"), plain_number(number_at(bar, "/value")),
                   plain_number(number_at(bar, "/bar")), words_at(bar, "/unit"), words_at(bar, "/met"),
                   other_figures(bar), words_at(bar, "/command"), words_at(bar, "/comparator")});
  return table.html();
}

std::string graph_table(const report_result& result) {
  const json& object = result.object;
  report_table table;
  for (const char* heading : {"vertices", "edges", "source", "reached", "edges/s", "seconds", "needed",
                              "moved", "moved ÷ needed", "hit rate", "issued", "served", "dropped"})
    table.add_column(heading);
  table.add_column("verified", words_column);
  table.add_row({count_at(object, "/vertices"), count_at(object, "/edges"), count_at(object, "/source"),
                 count_at(object, "/reached"), number_text(object, "/edges_per_s", plot_unit::number),
                 words_at(object, "/seconds"), number_text(object, "/io/bytes_needed", plot_unit::bytes),
                 number_text(object, "/io/bytes_moved", plot_unit::bytes),
                 number_text(object, "/io/amplification", plot_unit::ratio),
                 number_text(object, "/io/hit_rate", plot_unit::share),
                 count_at(object, "/io/commands_issued"), count_at(object, "/io/commands_served"),
                 count_at(object, "/io/commands_dropped"), words_at(object, "/verified")});
  return table.html();
}

std::string depth_table(const report_result& result) {
  const auto depths = result.object.find("depth_histogram");
  if (depths == result.object.end() || !depths->is_array()) return "";
  report_table table;
  table.add_column("distance").add_column("vertices");
  for (std::size_t depth = 0; depth < depths->size(); ++depth)
    table.add_row({std::to_string(depth), count_at(*depths, "/" + std::to_string(depth))});
  return table.html();
}

}  // namespace

std::string tables_of(const report_result& result) {
  switch (result.kind) {
    case result_kind::bench_io:
    case result_kind::bench_cache:
    case result_kind::bench:
      return bench_table(result) + comparator_table(result);
    case result_kind::graph:
      return graph_table(result) + comparator_table(result) + depth_table(result);
    case result_kind::plan:
      return plan_table(result);
    case result_kind::bars:
      return bars_table(result);
  }
  return {};
}

}  // namespace sluice::tool
