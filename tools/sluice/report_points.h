// The points of results as series over an axis: which axes vary, and what tells one series from another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/sluice/report_input.h"
#include "tools/sluice/svg_plot.h"

namespace sluice::tool {

/// Something that points differ in.
struct report_axis {
  const char* key;   ///< "block"
  const char* name;  ///< "block size"
  plot_unit unit = plot_unit::count;
  bool is_number = true;
};

/// Something that points say.
struct report_metric {
  const char* name;     ///< "p99"
  const char* pointer;  ///< "/latency_us/p99"
  plot_unit unit = plot_unit::number;
  double scale = 1;  ///< of the number found there
};

/// A point, and the result and the file that it is from.
struct report_point {
  const json* values;
  const report_result* from;
  std::string file;  ///< as an axis has it

  std::optional<double> number(const report_metric& metric) const;
};

/// All axes that points may have, in the order in which they are shown.
const std::vector<report_axis>& report_axes();
/// What `point` has on an axis, as text for people; empty where nothing is known.
std::string axis_text(const report_point& point, const report_axis& axis);
std::optional<double> axis_number(const report_point& point, const report_axis& axis);

/// The axes that `points` differ in.
std::vector<report_axis> varying_axes(const std::vector<report_point>& points);
/// Those of them that plots are drawn over. The number of threads is none where it follows from the others,
/// as where it was not swept.
std::vector<report_axis> plotted_axes(const std::vector<report_point>& points);

/// How points fall into series over an axis.
struct series_split {
  std::vector<report_axis> told_by;  ///< the axes that tell a series from another
  std::vector<report_axis>
      named;  ///< those of its label: where files are told apart, also what differs between them
  std::vector<report_axis> along;  ///< axes that change along a series as well
};
series_split split_over(const report_axis& x, const std::vector<report_point>& points);

/// The label of `point` by the axes that differ: "block size 4 KiB, random".
std::string point_label(const report_point& point, const std::vector<report_axis>& axes);

/// One series for each label, in the order of the points, each sorted by `x`. Points without a number are
/// left out.
std::vector<plot_series> series_over(const report_axis& x, const report_metric& y,
                                     const std::vector<report_point>& points, const series_split& split);

}  // namespace sluice::tool
