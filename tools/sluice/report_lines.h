// Plots of one file that are curves, as its page takes them.
#pragma once

#include <string>
#include <vector>

#include "tools/sluice/report_plots.h"
#include "tools/sluice/svg_plot.h"

namespace sluice::tool {

/// Adds the plot where there is a line; single points are none. `note` goes below it.
void add_lines(std::vector<report_plot>& plots, line_plot plot, std::string note);

}  // namespace sluice::tool
