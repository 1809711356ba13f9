// The drive contract, run on emulated drives of the CPU backend.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/drive_contract.h"

namespace sluice::test {
namespace {

drive_maker emulated_maker(const std::string& name, const std::string& uri) {
  return {name, [uri](const std::string& options) {
            return drive::open(uri + "size=8MiB" + (options.empty() ? "" : "&" + options), to_write());
          }};
}

INSTANTIATE_TEST_SUITE_P(emulator, drive_contract,
                         testing::Values(emulated_maker("ideal", "emu:ideal?"),
                                         emulated_maker("by_region", "emu:ideal?region=256KiB&"),
                                         emulated_maker("timed", "emu:p5800x?jitter_us=30&")),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sluice::test
