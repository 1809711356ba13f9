#include "tools/sluice/report_points.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::tool {
namespace {

using points = std::vector<report_point>;
using words = std::vector<std::string>;

const report_metric rate{"IOPS", "/iops"};

report_axis axis(const std::string& key) {
  for (const report_axis& each : report_axes())
    if (each.key == key) return each;
  ADD_FAILURE() << "no axis " << key;
  return {"", ""};
}

words keys_of(const std::vector<report_axis>& axes) {
  words keys;
  for (const report_axis& each : axes) keys.emplace_back(each.key);
  return keys;
}

report_result swept(const json& rows) {
  return {.file = "f", .kind = result_kind::bench_io, .object = {{"rows", rows}}};
}

points points_of(const report_result& result, const std::string& file = "") {
  points all;
  for (const json* values : result.points()) all.push_back({values, &result, file});
  return all;
}

/// Rows as `bench io --sweep depth,block` has them: as many threads as fit, so more where queues are deeper.
report_result depths_and_blocks() {
  json rows = json::array();
  for (const int block : {512, 4096})
    for (const int depth : {64, 16})
      rows.push_back({{"block", block}, {"depth", depth}, {"threads", depth * 2}, {"iops", block + depth}});
  return swept(rows);
}

TEST(report_points, an_axis_that_follows_from_others_gets_no_plot_of_its_own) {
  const report_result result = depths_and_blocks();
  EXPECT_EQ(keys_of(varying_axes(points_of(result))), (words{"block", "depth", "threads"}));
  EXPECT_EQ(keys_of(plotted_axes(points_of(result))), (words{"block", "depth"}));
}

TEST(report_points, threads_that_were_swept_get_one) {
  const report_result result = swept({{{"threads", 1}, {"iops", 5}}, {{"threads", 2}, {"iops", 6}}});
  EXPECT_EQ(keys_of(plotted_axes(points_of(result))), words{"threads"});
}

TEST(report_points, series_are_told_by_what_varies_beside_the_axis) {
  const report_result result = depths_and_blocks();
  const series_split split = split_over(axis("depth"), points_of(result));
  EXPECT_EQ(keys_of(split.told_by), words{"block"});
  EXPECT_EQ(keys_of(split.along), words{"threads"});
  const auto series = series_over(axis("depth"), rate, points_of(result), split);
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].label, "block size 512 B");
  EXPECT_EQ(series[1].label, "block size 4 KiB");
  ASSERT_EQ(series[0].points.size(), 2U);
  EXPECT_EQ(series[0].points[0].x, 16) << "sorted by the axis";
  EXPECT_EQ(series[0].points[0].y, 528);
}

TEST(report_points, files_are_told_apart_though_their_rows_would_not_collide) {
  const report_result a =
      swept({{{"depth", 1}, {"mix", 0}, {"iops", 5}}, {{"depth", 2}, {"mix", 0}, {"iops", 6}}});
  const report_result b =
      swept({{{"depth", 4}, {"mix", 0.5}, {"iops", 5}}, {{"depth", 8}, {"mix", 0.5}, {"iops", 6}}});
  points all = points_of(a, "a");
  for (const report_point& point : points_of(b, "b")) all.push_back(point);
  const auto series = series_over(axis("depth"), rate, all, split_over(axis("depth"), all));
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].label, "a, share of writes 0 %");
  EXPECT_EQ(series[1].label, "b, share of writes 50 %");
}

TEST(report_points, a_point_without_rows_has_its_axes_in_its_configuration) {
  const report_result result{
      .file = "f",
      .kind = result_kind::bench_io,
      .object = {{"iops", 7},
                 {"config", {{"drives", {"mem:1MiB", "mem:2MiB"}}, {"lanes", 32}, {"block", 4096}}}}};
  const report_point point = points_of(result).front();
  EXPECT_EQ(axis_number(point, axis("drives")), 2);
  EXPECT_EQ(axis_number(point, axis("threads")), 32);
  EXPECT_EQ(axis_text(point, axis("block")), "4 KiB");
  EXPECT_EQ(axis_text(point, axis("pattern")), "");
}

TEST(report_points, numbers_of_no_plausible_size_and_words_in_their_place_are_left_out) {
  const report_result result =
      swept({{{"depth", 1}, {"iops", 1e300}}, {{"depth", 2}, {"iops", "many"}}, {{"depth", 3}, {"iops", 9}}});
  const auto series =
      series_over(axis("depth"), rate, points_of(result), split_over(axis("depth"), points_of(result)));
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].points.size(), 1U);
}

}  // namespace
}  // namespace sluice::tool
