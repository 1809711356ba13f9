// What ThreadSanitizer sees of lanes: real races are reported, also between lanes of one OS thread, and
// nothing else is.
#include <gtest/gtest.h>

#include <cstdlib>

#include "sluice/lane/atomic.h"
#include "sluice/lane/explore.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"

#if SLUICE_TSAN

namespace sluice::lane {
namespace {

/// Lane 0 writes a value and raises a flag with `raise`; lane 1 waits for the flag and reads the value.
struct message {
  order raise;
  std::uint32_t* words;
  void operator()() const {
    if (lane_index() == 0) {
      words[0] = 42;
      on_device(words[1]).store(1, raise);
    }
    if (lane_index() != 1) return;
    while (on_device(words[1]).load(acquire) == 0) executor::relax();
    if (words[0] != 42) std::abort();
  }
};

/// Each lane writes its word, meets the others by a ballot or a sync, and reads its neighbour's.
struct neighbours {
  bool by_sync;
  std::uint32_t* words;
  void operator()() const {
    const warp_team all = warp_team::whole();
    words[lane_index()] = lane_index();
    if (by_sync)
      all.sync();
    else
      all.ballot(true);
    if (words[lane_index() ^ 1U] != (lane_index() ^ 1U)) std::abort();
  }
};

struct neighbours_in_a_block {
  std::uint32_t* words;
  void operator()() const {
    words[thread_index()] = thread_index();
    sync_block();
    if (words[thread_index() ^ 32U] != (thread_index() ^ 32U)) std::abort();
  }
};

template <class Kernel>
void run_watched(const Kernel& kernel, std::uint32_t lanes = 32) {
  launch(*machine::cpu(1), {1, lanes}, kernel);
}

/// Runs in a process of its own, since a report makes that process fail.
template <class Kernel>
void run_watched_and_exit(const Kernel& kernel) {
  run_watched(kernel);
  std::exit(0);
}

constexpr int reported = 66;  // ThreadSanitizer's exit status

class watched : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  std::uint32_t words_[64] = {};
};

using watched_death = watched;

TEST_F(watched_death, reports_a_flag_that_is_raised_without_release) {
  EXPECT_EXIT(run_watched_and_exit(message{relaxed, words_}), testing::ExitedWithCode(reported), "data race");
}

TEST_F(watched_death, reports_that_a_ballot_orders_nothing) {
  EXPECT_EXIT(run_watched_and_exit(neighbours{false, words_}), testing::ExitedWithCode(reported),
              "data race");
}

TEST_F(watched_death, reports_a_race_under_a_seeded_schedule) {
  const auto explored = [&] {
    explore::run({.lanes = 2}, message{relaxed, words_});
    std::exit(0);
  };
  EXPECT_EXIT(explored(), testing::ExitedWithCode(reported), "data race");
}

TEST_F(watched, accepts_release_and_acquire) { run_watched(message{release, words_}); }

TEST_F(watched, accepts_a_team_sync) { run_watched(neighbours{true, words_}); }

TEST_F(watched, accepts_a_block_sync) { run_watched(neighbours_in_a_block{words_}, 64); }

TEST_F(watched, accepts_that_a_launch_sees_what_came_before_and_its_waiter_what_it_did) {
  const auto cpu = machine::cpu(2);
  for (std::uint32_t round = 1; round < 4; ++round) {
    words_[0] = round;
    launch(*cpu, {4, 8}, [words = words_] { words[1 + grid_index()] = words[0]; });
    for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(words_[1 + lane], round);
  }
}

TEST_F(watched, accepts_a_thousand_seeded_schedules) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    words_[0] = words_[1] = 0;
    const explore::result seen = explore::run({.seed = seed, .lanes = 3}, message{release, words_},
                                              {[&] { on_device(words_[2]).fetch_add(1, relaxed); }});
    ASSERT_TRUE(seen.ok) << seen.why;
  }
}

}  // namespace
}  // namespace sluice::lane

#endif
