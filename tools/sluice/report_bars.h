// Plots of one file that are no curves: what was compared with, latencies of a single point, searches, plans,
// bars.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/sluice/report_plots.h"
#include "tools/sluice/report_points.h"

namespace sluice::tool {

/// Makes a plot of `plot` where it has a bar; of many bars the first.
void add_bars(std::vector<report_plot>& plots, const bar_plot& plot, const std::string& note = "");

/// Ours, the bare limit and the comparators; of a sweep, of its fastest row.
void add_comparators(std::vector<report_plot>& plots, const report_result& result);
/// Percentiles of a result without rows.
void add_latency(std::vector<report_plot>& plots, const report_result& result);
/// Vertices by depth, and each trial's time.
void add_search(std::vector<report_plot>& plots, const report_result& result);
/// What limits a plan, or how its models compare; and the model's error where it was measured.
void add_plan_plots(std::vector<report_plot>& plots, const report_result& result);
/// Each value beside what was sought.
void add_bar_values(std::vector<report_plot>& plots, const report_result& result);

/// What a plan promised and what was measured, in accesses a second.
struct plan_check {
  double promised = 0, measured = 0;
  double ratio() const { return measured / promised; }
};
/// None where the plan was not verified.
std::optional<plan_check> plan_check_of(const json& plan);
/// "1.2 % more than promised"
std::string plan_error_text(const plan_check& check);

}  // namespace sluice::tool
