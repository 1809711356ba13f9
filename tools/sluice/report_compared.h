// Plots of rows that were compared with other ways: how much each way moves, over the size of a block.
#pragma once

#include <vector>

#include "tools/sluice/report_plots.h"
#include "tools/sluice/report_points.h"

namespace sluice::tool {

/// Ours, the bare limit and each comparator; then pages that the CPU serves, when they must come and when
/// they are there. Nothing where rows have no comparators. (Figures 5 and 6 of the BaM paper.)
void add_compared(std::vector<report_plot>& plots, const report_axis& x,
                  const std::vector<report_point>& points, const series_split& split);

}  // namespace sluice::tool
