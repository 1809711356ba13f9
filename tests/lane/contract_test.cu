#include "tests/lane/contract.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"

namespace sluice::lane {
namespace {

using memory::buffer;
using memory::place;

/// Every machine that this computer has.
std::vector<std::unique_ptr<machine>> machines() {
  std::vector<std::unique_ptr<machine>> all;
  all.push_back(machine::cpu(1));
  all.push_back(machine::cpu(3));
  if (machine::has_cuda()) all.push_back(machine::cuda());
  return all;
}

std::uint32_t first_word(const buffer& of) {
  std::uint32_t word = 0;
  memory::copy_out(of.view(), 0, std::as_writable_bytes(std::span(&word, 1)));
  return word;
}

/// Runs the kernel that `make(verdict, words)` returns on every machine; `words` is zeroed, two words a lane.
template <class Make>
void holds_everywhere(grid shape, Make make) {
  for (const auto& on : machines()) {
    SCOPED_TRACE(on->name());
    const buffer broken(on->kind(), place::device, 4);
    const buffer words(on->kind(), place::device, std::size_t{shape.blocks} * shape.block_lanes * 8);
    launch(*on, shape,
           make(contract::verdict{broken.lanes_as<std::uint32_t>()}, words.lanes_as<std::uint32_t>()));
    EXPECT_EQ(first_word(broken), 0U);
  }
}

TEST(lanes, know_their_place_and_run_once) {
  for (const grid shape : {grid{1, 32}, grid{300, 64}, grid{5, 7}, grid{3, 1024}}) {
    for (const auto& on : machines()) {
      const std::size_t lanes = std::size_t{shape.blocks} * shape.block_lanes;
      const buffer broken(on->kind(), place::device, 4);
      const buffer seen(on->kind(), place::device, lanes * 4);
      launch(*on, shape,
             contract::lanes_know_their_place{{broken.lanes_as<std::uint32_t>()},
                                              seen.lanes_as<std::uint32_t>(),
                                              shape.blocks,
                                              shape.block_lanes});
      std::vector<std::uint32_t> times(lanes);
      memory::copy_out(seen.view(), 0, std::as_writable_bytes(std::span(times)));
      EXPECT_EQ(times, std::vector<std::uint32_t>(lanes, 1)) << on->name();
      EXPECT_EQ(first_word(broken), 0U) << on->name();
    }
  }
}

TEST(teams, of_a_whole_warp_agree) {
  for (const grid shape : {grid{3, 64}, grid{1, 32}, grid{2, 7}, grid{1, 1}})
    holds_everywhere(shape, [](auto is, auto) { return contract::whole_warps_agree{is}; });
}

TEST(teams, of_part_of_a_warp_agree_and_go_their_own_way) {
  holds_everywhere({3, 96}, [](auto is, auto) { return contract::partial_teams_agree{is}; });
}

TEST(teams, of_one_lane_agree) {
  holds_everywhere({2, 64}, [](auto is, auto) { return contract::teams_of_one_agree{is}; });
}

TEST(teams, of_converged_lanes_hold_the_caller) {
  holds_everywhere({8, 64}, [](auto is, auto) { return contract::converged_lanes_hold_the_caller{is}; });
}

TEST(teams, of_companions_meet_again) {
  holds_everywhere({8, 64}, [](auto is, auto) { return contract::companions_meet_again{is}; });
}

TEST(teams, order_memory_by_a_sync) {
  holds_everywhere({4, 64}, [](auto is, auto words) {
    return contract::a_team_sync_orders_memory{is, words};
  });
}

TEST(words, come_where_they_are_wanted) {
  holds_everywhere({4, 64}, [](auto is, auto words) { return contract::words_come_where_wanted{is, words}; });
}

TEST(lanes, may_wait_for_a_lane_of_their_warp) {
  holds_everywhere({4, 64}, [](auto is, auto words) {
    return contract::a_lane_may_wait_for_its_warp_mate{is, words};
  });
}

TEST(blocks, order_memory_by_a_sync) {
  holds_everywhere({4, 256}, [](auto is, auto words) {
    return contract::a_block_sync_orders_memory{is, words};
  });
}

TEST(blocks, that_are_resident_may_wait_for_one_another) {
  using kernel = contract::resident_blocks_may_wait_for_one_another;
  for (const auto& on : machines()) {
    for (const std::uint32_t lanes : {32U, 256U}) {
      const buffer broken(on->kind(), place::device, 4);
      const buffer arrived(on->kind(), place::device, 4);
      const grid shape{resident_blocks<kernel>(*on, lanes), lanes};
      launch(*on, shape, kernel{{broken.lanes_as<std::uint32_t>()}, arrived.lanes_as<std::uint32_t>()});
      EXPECT_EQ(first_word(broken), 0U) << on->name();
      EXPECT_EQ(first_word(arrived), shape.blocks) << on->name();
    }
  }
}

TEST(waits, end_at_their_budget_and_by_the_abort_word) {
  for (const auto& on : machines()) {
    const buffer abort(on->kind(), place::pinned, 4);
    launch(*on, {2, 64},
           contract::a_wait_ends_when_it_is_told_to{{nullptr}, abort.lanes_as<std::uint32_t>()});
    EXPECT_EQ(abort.host_as<std::uint32_t>()[0], 1U);
  }
}

TEST(machine, is_reached_by_the_host_while_a_kernel_runs) {
  using kernel = contract::the_host_reaches_a_running_kernel;
  for (const auto& on : machines()) {
    const buffer broken(on->kind(), place::device, 4);
    const buffer words(on->kind(), place::pinned, 256);
    std::uint32_t* const host = words.host_as<std::uint32_t>().data();
    preload<kernel>(*on);
    const auto running = start(*on, {1, 1},
                               kernel{{broken.lanes_as<std::uint32_t>()},
                                      words.lanes_as<std::uint32_t>(),
                                      words.lanes_as<std::uint32_t>() + 32});
    EXPECT_FALSE(running->finished());
    on_system(host[0]).store(41, release);
    EXPECT_GT(running->wait().seconds, 0);
    EXPECT_TRUE(running->finished());
    EXPECT_EQ(on_system(host[32]).load(acquire), 42U);
    EXPECT_EQ(first_word(broken), 0U);
  }
}

TEST(machine, copies_into_gpu_memory_while_a_kernel_runs) {
  if (!machine::has_cuda()) GTEST_SKIP() << "no GPU here";
  using kernel = contract::the_host_reaches_a_running_kernel;
  const auto on = machine::cuda();
  const buffer broken(on->kind(), place::device, 4);
  const buffer words(on->kind(), place::device, 256);
  preload<kernel>(*on);
  const auto running = start(*on, {1, 1},
                             kernel{{broken.lanes_as<std::uint32_t>()},
                                    words.lanes_as<std::uint32_t>(),
                                    words.lanes_as<std::uint32_t>() + 32});
  const std::uint32_t sent = 41;
  memory::copy_in(words.view(), 0, std::as_bytes(std::span(&sent, 1)));
  running->wait();
  std::uint32_t answer = 0;
  memory::copy_out(words.view(), 128, std::as_writable_bytes(std::span(&answer, 1)));
  EXPECT_EQ(answer, 42U);
  EXPECT_EQ(first_word(broken), 0U);
}

}  // namespace
}  // namespace sluice::lane
