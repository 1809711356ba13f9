// Bar plots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tools/sluice/html_text.h"
#include "tools/sluice/svg_frame.h"
#include "tools/sluice/svg_plot.h"

namespace sluice::tool {

namespace {

constexpr double bars_top = 30, bars_left = 8, bars_right = 280;  // values are written right of that
constexpr double bar_pitch = 38, bar_text = 14, bar_height = 12;
constexpr std::size_t longest_label = 50;

/// The label, cut where it would leave the plot; whole characters stay.
std::string fitting(const std::string& label) {
  if (label.size() <= longest_label) return label;
  std::size_t end = longest_label - 1;
  while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xC0U) == 0x80) --end;
  return label.substr(0, end) + "…";
}

plot_scale scale_of(const bar_plot& plot) {
  std::vector<double> values;
  for (const plot_bar& bar : plot.bars) values.push_back(bar.value);
  if (plot.sought) values.push_back(*plot.sought);
  return plot_scale::around(values);
}

std::string drawn_bar(const bar_plot& plot, const plot_bar& bar, double top, const plot_scale& scale) {
  const auto across = [&](double value) { return bars_left + scale.place(value) * (bars_right - bars_left); };
  const double from = scale.is_log() ? bars_left : across(0);
  const double to = across(bar.value);
  const double middle = top + bar_text + 4 + bar_height / 2;
  const std::string title =
      html_element("title", fmt::format("{}: {}", bar.label, unit_text(bar.value, plot.axis.unit)));
  const std::string drawn =
      scale.is_log()
          ? svg_line("stem", from, middle, to, middle) +
                fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\">{}</circle>", to, middle, title)
          : fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\">{}</rect>",
                        std::min(from, to), middle - bar_height / 2, std::abs(to - from), bar_height, title);
  const std::string sought =
      plot.sought ? svg_line("sought", across(*plot.sought), middle - 8, across(*plot.sought), middle + 8)
                  : "";
  return fmt::format("<g class=\"{}\">{}</g>\n", bar.aside ? "bar other" : "bar", drawn) + sought +
         svg_text(bars_left, top + bar_text, "start", fitting(bar.label)) +
         svg_text(std::max(from, to) + 8, middle + 4, "start", unit_text(bar.value, plot.axis.unit));
}

}  // namespace

std::string svg_of(const bar_plot& plot) {
  const plot_scale scale = scale_of(plot);
  const double bottom = bars_top + bar_pitch * static_cast<double>(plot.bars.size());
  std::string body = svg_text(4, 14, "start", plot.axis.label + (scale.is_log() ? " (log scale)" : ""));
  double top = bars_top - 8;
  for (const plot_bar& bar : plot.bars) {
    body += drawn_bar(plot, bar, top, scale);
    top += bar_pitch;
  }
  return svg_element(plot.title, bottom + 4, body);
}

}  // namespace sluice::tool
