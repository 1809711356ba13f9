#include "tools/sluice/report_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice::tool {

namespace {

constexpr std::size_t most_series = 24;  // the page's colours and dashes tell so many apart

bool is_curve(const plot_series& series) { return series.points.front().x < series.points.back().x; }

}  // namespace

void add_lines(std::vector<report_plot>& plots, line_plot plot, std::string note) {
  const std::size_t points =
      std::erase_if(plot.series, [](const plot_series& each) { return !is_curve(each); });
  if (plot.series.empty()) return;
  if (points > 0 || plot.series.size() > most_series) {
    note += fmt::format("{}{} of {} lines are drawn, the table has all.", note.empty() ? "" : " ",
                        std::min(plot.series.size(), most_series), plot.series.size() + points);
    plot.series.resize(std::min(plot.series.size(), most_series));
  }
  plots.push_back({plot.title, std::move(note), svg_of(plot), legend_of(plot)});
}

}  // namespace sluice::tool
