// Plots as inline SVG: lines over an axis, and bars. Colours and fonts are the page's (report_style.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/sluice/plot_scale.h"

namespace sluice::tool {

struct plot_axis {
  std::string label;
  plot_unit unit = plot_unit::number;
};

struct plot_point {
  double x = 0, y = 0;
};

/// One line of a plot. `aside` is what the others are held against: grey and dashed.
struct plot_series {
  std::string label;
  std::vector<plot_point> points;
  bool aside = false;
};

/// Lines over an axis, with a mark at each point.
struct line_plot {
  std::string title;
  plot_axis x, y;
  std::vector<plot_series> series;
};

struct plot_bar {
  std::string label;
  double value = 0;
  bool aside = false;
};

/// Bars below one another, each with its value. Where they span more than plot_scale::log_from, marks on a
/// logarithmic scale, which has no zero for a bar to begin at.
struct bar_plot {
  std::string title;
  plot_axis axis;
  std::vector<plot_bar> bars;
  std::optional<double> sought;  ///< a line across all bars
};

/// The `<svg>` element, well-formed XML whatever the labels hold. There is at least one point, or bar.
std::string svg_of(const line_plot& plot);
std::string svg_of(const bar_plot& plot);
/// A list of the series' colours and labels, for below the plot; empty where there is one series.
std::string legend_of(const line_plot& plot);

}  // namespace sluice::tool
