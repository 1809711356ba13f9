#include "sluice/lane/launch.h"

#include <gtest/gtest.h>

#include <vector>

#include "sluice/lane/atomic.h"
#include "sluice/lane/identity.h"

namespace sluice::lane {
namespace {

struct count_lanes {
  std::uint32_t* seen;
  SLUICE_HD void operator()() const { on_device(seen[grid_index()]).fetch_add(1, relaxed); }
};

TEST(machine, runs_every_lane_once) {
  const auto cpu = machine::cpu(2);
  for (const grid shape : {grid{1, 32}, grid{300, 64}, grid{5, 7}, grid{3, 1024}}) {
    std::vector<std::uint32_t> seen(std::size_t{shape.blocks} * shape.block_lanes);
    launch(*cpu, shape, count_lanes{seen.data()});
    for (const std::uint32_t times : seen) ASSERT_EQ(times, 1U);
  }
}

}  // namespace
}  // namespace sluice::lane
