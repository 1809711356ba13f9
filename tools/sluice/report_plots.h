// Which plots the results of a report have.
#pragma once

#include <string>
#include <vector>

#include "tools/sluice/report_input.h"

namespace sluice::tool {

struct report_plot {
  std::string title;
  std::string note;    ///< what a reader must know beside it; may be empty
  std::string svg;     ///< the element
  std::string legend;  ///< a list; may be empty
};

/// Plots of one file: rates and latencies over each axis that its rows vary, what was compared with, what a
/// plan says.
std::vector<report_plot> plots_of(const report_result& result);

/// Plots that hold the results of several files side by side: rows over an axis that they share, and single
/// points.
std::vector<report_plot> joint_plots(const std::vector<report_result>& results);

/// "2 · depth.json": which file of the report.
std::string numbered_file(std::size_t index, const report_result& result);

}  // namespace sluice::tool
