#include "sluice/emulator/drive_model.h"

#include <gtest/gtest.h>

#include "sluice/base/error.h"

namespace sluice::emulator {
namespace {

TEST(drive_model, has_the_rates_of_its_source_at_the_sizes_that_the_source_names) {
  const drive_model& optane = find_drive_model("p5800x");
  EXPECT_DOUBLE_EQ(optane.rate(direction::read, 512), 5.1e6);
  EXPECT_DOUBLE_EQ(optane.rate(direction::read, 4096), 1.5e6);
  EXPECT_DOUBLE_EQ(optane.rate(direction::write, 512), 1.0e6);
  EXPECT_DOUBLE_EQ(optane.rate(direction::write, 4096), 1.5e6);
}

TEST(drive_model, takes_time_in_proportion_to_the_bytes_between_two_sizes) {
  const drive_model& optane = find_drive_model("p5800x");
  const double halfway = (512 + 4096) / 2;
  const double seconds = (1 / 5.1e6 + 1 / 1.5e6) / 2;
  EXPECT_NEAR(optane.rate(direction::read, static_cast<std::uint64_t>(halfway)), 1 / seconds, 1e-3);
}

TEST(drive_model, moves_whole_blocks) {
  for (const drive_model& model : drive_models())
    EXPECT_EQ(model.rate(direction::read, 8), model.rate(direction::read, 512)) << model.name;
}

TEST(drive_model, is_limited_by_bytes_where_commands_are_long) {
  const drive_model& optane = find_drive_model("p5800x");
  EXPECT_DOUBLE_EQ(optane.rate(direction::read, 1 << 20), 7.2e9 / (1 << 20));
  EXPECT_DOUBLE_EQ(optane.rate(direction::write, 1 << 20), 6.2e9 / (1 << 20));
}

TEST(drive_model, never_moves_more_bytes_than_it_can) {
  for (const drive_model& model : drive_models()) {
    for (std::uint64_t bytes = 512; bytes <= 1 << 20; bytes *= 2) {
      const auto size = static_cast<double>(bytes);
      EXPECT_LE(model.rate(direction::read, bytes) * size, model.read.bytes_per_s * 1.000001) << model.name;
      EXPECT_LE(model.rate(direction::write, bytes) * size, model.write.bytes_per_s * 1.000001) << model.name;
    }
  }
}

TEST(drive_model, reads_and_writes_by_turns) {
  const drive_model& optane = find_drive_model("p5800x");
  EXPECT_DOUBLE_EQ(optane.mixed_rate(512, 0), 5.1e6);
  EXPECT_DOUBLE_EQ(optane.mixed_rate(512, 1), 1.0e6);
  EXPECT_NEAR(optane.mixed_rate(512, 0.5), 2 / (1 / 5.1e6 + 1 / 1.0e6), 1e-3);
}

TEST(drive_model, says_where_its_figures_are_from) {
  for (const drive_model& model : drive_models()) {
    EXPECT_FALSE(model.source.empty()) << model.name;
    EXPECT_EQ(model.dollars_per_gb.has_value(), !model.price_source.empty()) << model.name;
  }
}

TEST(drive_model, names_the_nearest_model_where_there_is_none) {
  try {
    find_drive_model("p5800");
    FAIL();
  } catch (const error& refusal) {
    EXPECT_EQ(refusal.kind(), error_kind::bad_input);
    EXPECT_NE(refusal.mend().find("did you mean 'p5800x'?"), std::string::npos) << refusal.mend();
  }
  EXPECT_THROW(find_drive_model(""), error);
}

}  // namespace
}  // namespace sluice::emulator
