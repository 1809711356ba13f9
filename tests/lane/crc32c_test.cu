// The checksum that a team of any size finds is that of the bytes.
#include "sluice/lane/crc32c.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"

namespace sluice::lane {
namespace {

/// The first `lanes` lanes of a warp as one team, and the others as another.
struct sum_kernel {
  const crc32c_lookup* look;
  const std::byte* bytes;
  std::uint32_t unit;
  std::uint32_t lanes;
  std::uint32_t* sums;  ///< one a lane

  SLUICE_HD void operator()() const {
    const std::uint32_t first = lanes == 32 ? ~0U : (1U << lanes) - 1;
    const bool among = (first >> lane_index() & 1) != 0;
    const warp_team team = warp_team::whole().subset(among ? first : ~first);
    sums[lane_index()] = crc32c(team, *look, bytes, unit);
  }
};

TEST(crc32c_of_a_team, is_that_of_the_bytes) {
  const auto machine = machine::cpu(1);
  const auto look = std::make_unique<crc32c_lookup>(make_crc32c_lookup());
  for (std::uint32_t unit = 512; unit <= 64 * KiB; unit *= 2) {
    std::vector<std::uint64_t> words(unit / 8);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = mix(i + unit);
    const auto bytes = std::as_bytes(std::span(words));
    const std::uint32_t right = sluice::crc32c(bytes);
    EXPECT_EQ(crc32c(solo(), *look, bytes.data(), unit), right);
    for (const std::uint32_t lanes : {1U, 2U, 3U, 7U, 16U, 31U, 32U}) {
      std::vector<std::uint32_t> sums(32);
      launch(*machine, {1, 32}, sum_kernel{look.get(), bytes.data(), unit, lanes, sums.data()});
      for (const std::uint32_t sum : sums) ASSERT_EQ(sum, right) << unit << " bytes, teams of " << lanes;
    }
  }
}

}  // namespace
}  // namespace sluice::lane
