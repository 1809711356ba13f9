// Line plots.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/sluice/html_text.h"
#include "tools/sluice/svg_frame.h"
#include "tools/sluice/svg_plot.h"

namespace sluice::tool {

namespace {

constexpr double plot_height = 260;
constexpr double plot_top = 30, plot_bottom = 214;
constexpr double plot_left = 62, plot_right = 346;
constexpr double inset = 12;  // of the outermost points of x

// Colours that the page defines, then the same with dashes.
constexpr std::size_t colours = 8;
constexpr std::size_t dashes = 3;

std::string class_of(const plot_series& series, std::size_t index) {
  if (series.aside) return "aside";
  return fmt::format("c{} d{}", index % colours, index / colours % dashes);
}

struct line_scales {
  plot_scale x, y;

  explicit line_scales(const line_plot& plot) {
    std::vector<double> xs, ys;
    for (const plot_series& series : plot.series)
      for (const plot_point& point : series.points) {
        xs.push_back(point.x);
        ys.push_back(point.y);
      }
    x = plot_scale::through(std::move(xs));
    y = plot_scale::around(ys);
  }
  double across(double value) const {
    return plot_left + inset + x.place(value) * (plot_right - plot_left - 2 * inset);
  }
  double up(double value) const { return plot_bottom - y.place(value) * (plot_bottom - plot_top); }
};

std::string y_axis(const line_plot& plot, const line_scales& at) {
  std::string svg = svg_text(4, 14, "start", plot.y.label + (at.y.is_log() ? " (log scale)" : ""));
  for (const double tick : at.y.ticks()) {
    svg += svg_line("grid", plot_left, at.up(tick), plot_right, at.up(tick));
    svg += svg_text(plot_left - 6, at.up(tick) + 4, "end", unit_text(tick, plot.y.unit));
  }
  return svg;
}

/// A mark at every tick, and its text where the one before leaves room.
std::string x_axis(const line_plot& plot, const line_scales& at) {
  constexpr double gap = 8;
  std::string svg = svg_line("axis", plot_left, plot_bottom, plot_right, plot_bottom);
  double free_from = 0;
  for (const double tick : at.x.ticks()) {
    const double x = at.across(tick);
    const std::string text = unit_text(tick, plot.x.unit);
    const double half = svg_text_width(text) / 2;
    svg += svg_line("axis", x, plot_bottom, x, plot_bottom + 4);
    if (x - half < free_from || x + half > svg_width) continue;
    svg += svg_text(x, plot_bottom + 18, "middle", text);
    free_from = x + half + gap;
  }
  return svg + svg_text((plot_left + plot_right) / 2, plot_height - 8, "middle",
                        plot.x.label + (at.x.is_log() ? " (log scale)" : ""));
}

std::string drawn_series(const line_plot& plot, const plot_series& series, std::size_t index,
                         const line_scales& at) {
  std::string path, marks;
  for (const plot_point& point : series.points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", at.across(point.x), at.up(point.y));
    marks +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}</title></circle>\n",
                    at.across(point.x), at.up(point.y),
                    html_text(fmt::format("{}{}{}: {}", series.label, series.label.empty() ? "" : ", ",
                                          unit_text(point.x, plot.x.unit), unit_text(point.y, plot.y.unit))));
  }
  return fmt::format("<g class=\"{}\"><polyline points=\"{}\"/>\n{}</g>\n", class_of(series, index), path,
                     marks);
}

}  // namespace

std::string svg_of(const line_plot& plot) {
  const line_scales at(plot);
  std::string body = y_axis(plot, at) + x_axis(plot, at);
  for (std::size_t index = 0; index < plot.series.size(); ++index)
    body += drawn_series(plot, plot.series[index], index, at);
  return svg_element(plot.title, plot_height, body);
}

std::string legend_of(const line_plot& plot) {
  if (plot.series.size() < 2) return "";
  std::string items;
  for (std::size_t index = 0; index < plot.series.size(); ++index)
    items += fmt::format(
        "<li><svg class=\"key {}\" viewBox=\"0 0 28 10\" aria-hidden=\"true\"><line x1=\"1\" y1=\"5\" "
        "x2=\"27\" "
        "y2=\"5\"/><circle cx=\"14\" cy=\"5\" r=\"3\"/></svg>{}</li>\n",
        class_of(plot.series[index], index), html_text(plot.series[index].label));
  return "<ul class=\"legend\">" + items + "</ul>\n";
}

}  // namespace sluice::tool
