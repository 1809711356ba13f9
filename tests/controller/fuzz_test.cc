// Runs the controller's fuzz entry over seeded input, so that every build has tried some.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tests/fuzz/controller_fuzz.cc"  // NOLINT(bugprone-suspicious-include): the fuzzer's one function is what is tested

namespace {

/// Entries that are arbitrary, but for opcodes and small fields that now and then mean something.
std::vector<std::uint8_t> some_input(std::uint32_t seed) {
  std::mt19937 draw(seed);
  std::vector<std::uint8_t> input(65 * (1 + draw() % 40));
  for (auto& byte : input) byte = static_cast<std::uint8_t>(draw());
  for (std::size_t at = 0; at < input.size(); at += 65) {
    std::uint8_t* entry = input.data() + at + 1;
    const std::uint8_t opcodes[] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12};
    if (draw() % 8 != 0) entry[0] = opcodes[draw() % 10];
    if (draw() % 8 != 0) entry[1] = 0;                                      // no fused, PRPs
    if (draw() % 8 != 0) entry[4] = 1, entry[5] = entry[6] = entry[7] = 0;  // namespace 1
    if (draw() % 4 != 0)
      for (std::size_t i = 41; i < 48; ++i) entry[i] = i < 42 ? entry[i] % 16 : 0;  // small LBAs
    if (draw() % 4 != 0) entry[49] = 0;                                             // short
  }
  return input;
}

TEST(controller_fuzz, survives_arbitrary_commands) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const auto input = some_input(seed);
    EXPECT_EQ(LLVMFuzzerTestOneInput(input.data(), input.size()), 0) << "seed " << seed;
  }
}

}  // namespace
