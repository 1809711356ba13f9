// Memory orders of residents that order plain bytes, each weakened in turn: ThreadSanitizer must report the
// race. That nothing is reported with all orders as they are is what emulator_tests say in the same preset.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/support/drive_bench.h"

namespace sluice::test {
namespace {

constexpr int reported = 66;  // ThreadSanitizer's exit status

/// Runs in a process of its own, since a report makes that process fail.
void use_a_drive_with(const char* fault) {
  lane::plant(fault);
  for (int round = 0; round < 20; ++round) {
    drive_bench bench(drive::open("emu:ideal?size=8MiB", to_write()));
    if (!bench.fill(0, 64) || !bench.read(0, 64) || bench.wrong(0, 64) != 0) std::exit(1);
  }
  std::exit(0);
}

class emulator_order : public testing::TestWithParam<const char*> {};

TEST_P(emulator_order, is_needed) {
  setenv("TSAN_OPTIONS", "halt_on_error=1:symbolize=0", 1);  // for that process
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(use_a_drive_with(GetParam()), testing::ExitedWithCode(reported), "data race") << GetParam();
}

INSTANTIATE_TEST_SUITE_P(orders, emulator_order, testing::Values("emulator.post", "emulator.parked"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(name.find('.') + 1);
                         });

}  // namespace
}  // namespace sluice::test
