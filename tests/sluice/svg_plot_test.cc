#include "tools/sluice/svg_plot.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::tool {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

line_plot two_lines() {
  return {.title = "IOPS against <depth>",
          .x = {"queue depth", plot_unit::count},
          .y = {"IOPS", plot_unit::number},
          .series = {{"a & b", {{16, 1e6}, {64, 2e6}}}, {"bare", {{16, 3e6}, {64, 3e6}}, true}}};
}

TEST(svg_plot, lines_have_a_mark_and_a_text_for_each_point) {
  const std::string svg = svg_of(two_lines());
  EXPECT_EQ(times(svg, "<polyline"), 2U);
  EXPECT_EQ(times(svg, "<circle"), 4U);
  EXPECT_TRUE(holds(svg, "<title>a &amp; b, 64: 2 M</title>"));
  EXPECT_TRUE(holds(svg, "aria-label=\"IOPS against &lt;depth&gt;\""));
}

TEST(svg_plot, a_legend_tells_series_apart_and_one_alone_needs_none) {
  line_plot plot = two_lines();
  EXPECT_TRUE(holds(legend_of(plot), "a &amp; b"));
  EXPECT_EQ(times(legend_of(plot), "<li>"), 2U);
  plot.series.pop_back();
  EXPECT_EQ(legend_of(plot), "");
}

TEST(svg_plot, says_which_axis_is_logarithmic) {
  line_plot plot = two_lines();
  EXPECT_FALSE(holds(svg_of(plot), "(log scale)"));
  plot.series[0].points[0].y = 1e3;
  EXPECT_TRUE(holds(svg_of(plot), "IOPS (log scale)"));
}

TEST(svg_plot, texts_of_an_axis_do_not_overlap) {
  line_plot plot = two_lines();
  for (double x = 65; x < 70; ++x) plot.series[0].points.push_back({x, 1e6});
  EXPECT_TRUE(holds(svg_of(plot), ">64</text>"));
  EXPECT_FALSE(holds(svg_of(plot), ">65</text>"));
}

TEST(svg_plot, bars_begin_at_0_unless_they_span_too_much) {
  bar_plot plot{.title = "t", .axis = {"IOPS"}, .bars = {{"ours", 10}, {"theirs", 5}}, .sought = {}};
  EXPECT_EQ(times(svg_of(plot), "<rect"), 2U);
  plot.bars.push_back({"tiny", 0.1});
  EXPECT_EQ(times(svg_of(plot), "<rect"), 0U);
  EXPECT_EQ(times(svg_of(plot), "<circle"), 3U);
}

TEST(svg_plot, a_long_label_is_cut_between_characters) {
  std::string label;
  for (int n = 0; n < 60; ++n) label += "é";
  const bar_plot plot{.title = "t", .axis = {"IOPS"}, .bars = {{label, 1}}, .sought = {}};
  EXPECT_TRUE(holds(svg_of(plot), "é…</text>"));
  EXPECT_TRUE(holds(svg_of(plot), "<title>" + label + ": 1</title>"));
}

}  // namespace
}  // namespace sluice::tool
