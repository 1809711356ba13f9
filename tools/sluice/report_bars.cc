#include "tools/sluice/report_bars.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace sluice::tool {

namespace {

constexpr std::size_t most_bars = 40;
constexpr std::size_t most_depths_as_bars = 24;

/// A bar for each of the numbers that `object` has.
std::vector<plot_bar> bars_at(const json& object,
                              const std::vector<std::pair<const char*, const char*>>& named) {
  std::vector<plot_bar> bars;
  for (const auto& [label, pointer] : named)
    if (const auto value = number_at(object, pointer)) bars.push_back({label, *value});
  return bars;
}

/// What result.object counts a second: a benchmark's commands or accesses, a search's edges.
std::pair<const char*, const char*> own_rate(const report_result& result) {
  if (result.kind == result_kind::graph) return {"edges/s", "/edges_per_s"};
  return {result.kind == result_kind::bench_cache ? "accesses/s" : "IOPS", "/iops"};
}

json list_at(const json& object, const char* key) {
  const auto list = object.find(key);
  return list != object.end() && list->is_array() ? *list : json::array();
}

/// The numbers of a list, in order.
std::vector<double> numbers_of(const json& list) {
  std::vector<double> numbers;
  for (const json& each : list)
    if (const auto number = number_at(each, "")) numbers.push_back(*number);
  return numbers;
}

/// A bar a number up to `most`, then a line.
void add_sequence(std::vector<report_plot>& plots, const std::string& title, const plot_axis& of,
                  const std::string& step, const std::vector<double>& numbers, std::size_t first) {
  if (numbers.size() <= most_depths_as_bars) {
    bar_plot plot{.title = title, .axis = of, .bars = {}, .sought = {}};
    for (const double number : numbers)
      plot.bars.push_back({fmt::format("{} {}", step, first + plot.bars.size()), number});
    add_bars(plots, plot);
    return;
  }
  plot_series series;
  for (const double number : numbers)
    series.points.push_back({static_cast<double>(first + series.points.size()), number});
  const line_plot plot{.title = title, .x = {step, plot_unit::count}, .y = of, .series = {std::move(series)}};
  plots.push_back({title, "", svg_of(plot), ""});
}

/// Of plans that name several models: how these compare.
void add_models(std::vector<report_plot>& plots, const report_result& result) {
  const std::vector<std::pair<plot_axis, const char*>> figures{
      {{"drives", plot_unit::count}, "/drives"},
      {{"accesses/s reached", plot_unit::number}, "/accesses_per_s"},
      {{"gain over DRAM", plot_unit::ratio}, "/gain"}};
  for (const auto& [axis, pointer] : figures) {
    bar_plot plot{.title = axis.label + " by drive model", .axis = axis, .bars = {}, .sought = {}};
    for (const json* row : result.points())
      if (const auto value = number_at(*row, pointer))
        plot.bars.push_back({words_at(*row, "/drive_model"), *value});
    add_bars(plots, plot);
  }
}

}  // namespace

void add_bars(std::vector<report_plot>& plots, const bar_plot& plot, const std::string& note) {
  if (plot.bars.empty()) return;
  bar_plot drawn = plot;
  std::string said = note;
  if (drawn.bars.size() > most_bars) {
    said = fmt::format("{} of {} are drawn; the table has all. ", most_bars, drawn.bars.size()) + said;
    drawn.bars.resize(most_bars);
  }
  plots.push_back({drawn.title, said, svg_of(drawn), ""});
}

void add_comparators(std::vector<report_plot>& plots, const report_result& result) {
  const auto [unit, pointer] = own_rate(result);
  const auto ours = number_at(result.object, pointer);
  if (!ours) return;
  bar_plot plot{.title = std::string(unit) + " beside others", .axis = {unit}, .bars = {}, .sought = {}};
  plot.bars.push_back({result.is_swept() ? "Sluice, the fastest row" : "Sluice", *ours});
  if (const auto bare = number_at(result.object, "/bare/iops"))
    plot.bars.push_back({"bare limit", *bare, true});
  for (const json& other : list_at(result.object, "comparators")) {
    const auto ratio = number_at(other, "/ratio");  // our rate by theirs
    if (ratio && *ratio > 0) plot.bars.push_back({words_at(other, "/name"), *ours / *ratio, true});
  }
  if (plot.bars.size() > 1) add_bars(plots, plot);
}

void add_latency(std::vector<report_plot>& plots, const report_result& result) {
  if (result.points().size() > 1) return;
  bar_plot plot{.title = "latency", .axis = {"latency", plot_unit::micros}, .bars = {}, .sought = {}};
  plot.bars = bars_at(*result.points().front(), {{"p50", "/latency_us/p50"},
                                                 {"p99", "/latency_us/p99"},
                                                 {"p99.9", "/latency_us/p999"},
                                                 {"max", "/latency_us/max"}});
  add_bars(plots, plot);
}

void add_search(std::vector<report_plot>& plots, const report_result& result) {
  const std::vector<double> depths = numbers_of(list_at(result.object, "depth_histogram"));
  if (!depths.empty())
    add_sequence(plots, "vertices by distance", {"vertices", plot_unit::count}, "distance", depths, 0);
  const std::vector<double> trials = numbers_of(list_at(result.object, "seconds"));
  if (trials.size() > 1)
    add_sequence(plots, "time of each trial", {"seconds", plot_unit::seconds}, "trial", trials, 1);
}

void add_plan_plots(std::vector<report_plot>& plots, const report_result& result) {
  if (result.is_swept()) add_models(plots, result);
  bar_plot limits{.title = "what limits it",
                  .axis = {"accesses/s", plot_unit::number},
                  .bars = bars_at(result.object, {{"the link", "/limits/link"},
                                                  {"the drives", "/limits/drive"},
                                                  {"queue depth", "/limits/queue_depth"},
                                                  {"the SMs", "/limits/sms"}}),
                  .sought = number_at(result.object, "/config/accesses_per_s")};
  const std::string model = result.is_swept() ? " Of " + words_at(result.object, "/drive_model") + "." : "";
  add_bars(plots, limits, (limits.sought ? "The line is what is wanted." : "") + model);
  if (const auto check = plan_check_of(result.object))
    add_bars(plots,
             {.title = "the model's promise and what was measured",
              .axis = {"accesses/s", plot_unit::number},
              .bars = {{"promised by the model", check->promised, true}, {"measured", check->measured}},
              .sought = {}},
             plan_error_text(*check) + ".");
}

void add_bar_values(std::vector<report_plot>& plots, const report_result& result) {
  bar_plot plot{.title = "values beside what was sought",
                .axis = {"value ÷ sought", plot_unit::ratio},
                .bars = {},
                .sought = 1};
  for (const json& bar : list_at(result.object, "bars")) {
    const auto value = number_at(bar, "/value");
    const auto sought = number_at(bar, "/bar");
    if (value && sought && *sought > 0)
      plot.bars.push_back({words_at(bar, "/id") + ", " + words_at(bar, "/unit"), *value / *sought});
  }
  add_bars(plots, plot, "The line is what was sought. Of a rate more is better, of registers fewer.");
}

std::optional<plan_check> plan_check_of(const json& plan) {
  const auto either = [&plan](const std::string& pointer) {
    const auto number = number_at(plan, pointer);
    return number ? number : number_at(plan, pointer + "/accesses_per_s");
  };
  const auto promised = either("/verified/promised");
  const auto measured = either("/verified/measured");
  if (!promised || !measured || *promised <= 0) return std::nullopt;
  return plan_check{*promised, *measured};
}

std::string plan_error_text(const plan_check& check) {
  const double error = check.ratio() - 1;
  return fmt::format("measured {:.1f} % {} than promised", std::abs(error) * 100,
                     error < 0 ? "less" : "more");
}

}  // namespace sluice::tool
