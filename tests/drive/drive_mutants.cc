// Steps by which a seal is kept true, each dropped in turn: a crash must be found after which a good page
// looks bad.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/drive/seal_fixture.h"

namespace sluice::drive {
namespace {

/// Pages that look bad after a host that writes was cut off, with all that it wrote on the drives, or that
/// closed well.
std::uint64_t looking_bad() {
  const test::shelf before = test::with_seal(2, layout::stripe);
  std::uint64_t bad = 0;
  for (std::uint64_t writes = 0;; ++writes) {
    test::shelf shelf = before.copy();
    shelf.cut_power_after(writes);
    bool finished = true;
    try {
      volume opened = volume::open(shelf.drives(), access::write);
      opened.write(opened.find("data").first_byte, std::vector<std::byte>(8192, std::byte{3}));
      opened.flush();
    } catch (const test::power_cut&) {
      finished = false;
    }
    shelf.restart([] { return true; });
    bad += test::scrubbed(shelf, false).counts().bad;
    if (finished) return bad;
  }
}

class seal_mutant : public ::testing::TestWithParam<const char*> {
 protected:
  ~seal_mutant() override { lane::plant(""); }
};

TEST_P(seal_mutant, is_caught) {
  EXPECT_EQ(looking_bad(), 0U);
  lane::plant(GetParam());
  EXPECT_NE(looking_bad(), 0U) << GetParam() << " survived";
}

INSTANTIATE_TEST_SUITE_P(steps, seal_mutant,
                         ::testing::Values("seal.drop_mark", "seal.mark_late", "seal.drop_bits"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(name.find('.') + 1);
                         });

}  // namespace
}  // namespace sluice::drive
