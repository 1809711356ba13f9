#include "sluice/lane/explore.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "sluice/base/error.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/sleep.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"

namespace sluice::lane {
namespace {

using explore::options;
using explore::policy;
using explore::result;

constexpr policy every_policy[] = {policy::random, policy::one_in_eight, policy::pct};

/// The first seed whose run fails, or 0 where none of `schedules` does.
template <class Run>
std::uint64_t first_failure(std::uint64_t schedules, Run run) {
  for (std::uint64_t seed = 1; seed <= schedules; ++seed)
    if (!run(seed).ok) return seed;
  return 0;
}

/// Two lanes add to a word; `atomically`, or by a load and a store between which an update can be lost.
result count_to_ten(options how, bool atomically) {
  std::uint32_t word = 0, done = 0;
  how.lanes = 2;
  return explore::run(how, [&] {
    for (int i = 0; i < 5; ++i) {
      const auto sum = on_device(word);
      if (atomically)
        sum.fetch_add(1, relaxed);
      else
        sum.store(sum.load(relaxed) + 1, relaxed);
    }
    if (on_device(done).fetch_add(1, acq_rel) == 1 && word != 10) explore::fail("lost an update");
  });
}

TEST(explore, finds_a_lost_update_under_every_policy) {
  for (const policy how : every_policy) {
    const auto run = [&](bool atomically) {
      return [=](std::uint64_t seed) {
        return count_to_ten({.how = how, .seed = seed, .expected_steps = 20}, atomically);
      };
    };
    const std::uint64_t seed = first_failure(1000, run(false));
    EXPECT_NE(seed, 0U) << to_string(how);
    EXPECT_EQ(run(false)(seed).why, "lost an update");
    EXPECT_EQ(first_failure(2000, run(true)), 0U) << to_string(how);
  }
}

TEST(explore, replays_a_run_by_its_seed) {
  for (const policy how : every_policy) {
    std::uint32_t different = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const result first = count_to_ten({.how = how, .seed = seed}, false);
      count_to_ten({.how = how, .seed = seed + 1000}, false);
      const result again = count_to_ten({.how = how, .seed = seed}, false);
      ASSERT_EQ(first.hash, again.hash);
      ASSERT_EQ(first.steps, again.steps);
      ASSERT_EQ(first.why, again.why);
      different += first.hash != count_to_ten({.how = how, .seed = seed + 1}, false).hash ? 1 : 0;
    }
    EXPECT_GE(different, 25U) << to_string(how);
  }
}

/// A service thread's loop, and a lane that rings once. With `look_first` it looks at the bell only before it
/// says that it sleeps, so a ring in between wakes nobody.
result ring_once(options how, bool look_first) {
  std::uint32_t bell = 0, sleeper = 0;
  how.lanes = 1;
  const auto rung = [&] { return on_system(bell).load(cuda::std::memory_order_seq_cst) != 0; };
  const auto serve = [&] {
    const std::uint64_t begun = clock_ns();
    while (!rung()) {
      const bool seen = look_first && rung();
      sleep_unless(sleeper, std::chrono::seconds(1), [&] { return look_first ? seen : rung(); });
    }
    if (clock_ns() - begun > 500'000'000) explore::fail("slept through the bell");
  };
  return explore::run(how, [&] { ring({&bell, &sleeper}, 1); }, {serve});
}

TEST(explore, finds_a_lost_wake_up_and_the_right_order_has_none) {
  for (const policy how : every_policy) {
    const auto run = [&](bool look_first) {
      return [=](std::uint64_t seed) {
        return ring_once({.how = how, .seed = seed, .expected_steps = 12}, look_first);
      };
    };
    EXPECT_NE(first_failure(2000, run(true)), 0U) << to_string(how);
    EXPECT_EQ(first_failure(5000, run(false)), 0U) << to_string(how);
  }
}

/// Two lanes and a lock; with `patient` a lane that finds it taken lets the others run.
result take_a_lock(options how, bool patient) {
  std::uint32_t lock = 0;
  how.lanes = 2;
  how.max_steps = 20'000;
  return explore::run(how, [&] {
    while (on_device(lock).exchange(1, acquire) != 0)
      if (patient) executor::relax();
    on_device(lock).store(0, release);
  });
}

TEST(explore, finds_by_pct_a_spin_that_starves_whom_it_waits_for) {
  const auto run = [](policy how, bool patient) {
    return [=](std::uint64_t seed) {
      return take_a_lock({.how = how, .seed = seed, .depth = 2, .expected_steps = 6}, patient);
    };
  };
  EXPECT_NE(first_failure(200, run(policy::pct, false)), 0U);
  EXPECT_EQ(first_failure(200, run(policy::random, false)), 0U)
      << "chance alone always lets the holder go on";
  EXPECT_EQ(first_failure(2000, run(policy::pct, true)), 0U);
}

TEST(explore, lets_time_leap_where_everybody_waits) {
  for (const policy how : every_policy) {
    std::uint64_t waited = 0;
    const result seen = explore::run({.how = how, .lanes = 4}, [&] {
      const std::uint64_t begun = clock_ns();
      budget patience(10'000'000'000);
      while (!patience.spent()) {
      }
      if (lane_index() == 0) waited = clock_ns() - begun;
    });
    EXPECT_TRUE(seen.ok) << seen.why;
    EXPECT_GE(waited, 10'000'000'000U);
    EXPECT_LT(waited, 30'000'000'000U);
  }
}

TEST(explore, does_not_let_time_leap_while_somebody_works) {
  std::uint32_t word = 0;
  const result seen = explore::run({.lanes = 2}, [&] {
    if (lane_index() == 0) {
      for (int i = 0; i < 1000; ++i) on_device(word).fetch_add(1, relaxed);
      on_device(word).store(1'000'000, release);
      return;
    }
    budget patience(100'000'000);
    while (on_device(word).load(acquire) != 1'000'000)
      if (patience.spent()) explore::fail("the deadline overtook the work");
  });
  EXPECT_TRUE(seen.ok) << seen.why;
}

TEST(explore, runs_blocks_as_room_allows_and_tasks_beside_them) {
  for (const policy how : every_policy) {
    std::uint32_t running = 0, most = 0, lanes = 0;
    bool watched = false;
    const auto kernel = [&] {
      if (thread_index() == 0)
        on_device(most).fetch_max(on_device(running).fetch_add(1, relaxed) + 1, relaxed);
      sync_block();
      on_device(lanes).fetch_add(warp_team::whole().size() == 3 ? 1 : 0, relaxed);
      sync_block();
      if (thread_index() == 0) on_device(running).fetch_sub(1, relaxed);
    };
    const auto watch = [&] {
      while (on_device(lanes).load(acquire) != 60) executor::relax();
      watched = true;
    };
    const result seen = explore::run({.how = how, .blocks = 10, .warps = 2, .lanes = 3, .resident_blocks = 2},
                                     kernel, {watch});
    EXPECT_TRUE(seen.ok) << seen.why;
    EXPECT_EQ(most, 2U);
    EXPECT_TRUE(watched);
  }
}

TEST(explore, reports_a_misuse_and_a_thrown_exception) {
  EXPECT_NE(explore::run({.lanes = 2},
                         [] {
                           if (lane_index() == 0)
                             warp_team::whole().sync();
                           else
                             sync_block();
                         })
                .why.find("no progress"),
            std::string::npos);
  EXPECT_EQ(explore::run({.lanes = 1}, [] {}, {[] { throw std::runtime_error("the task's own words"); }}).why,
            "the task's own words");
}

TEST(explore, groups_converged_lanes_in_more_than_one_way) {
  std::uint32_t together = 0, apart = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const result seen = explore::run({.seed = seed, .lanes = 4}, [&] {
      on_device(warp_team::converged().size() == 4 ? together : apart).fetch_add(1, relaxed);
    });
    ASSERT_TRUE(seen.ok) << seen.why;
  }
  EXPECT_GT(together, 40U);
  EXPECT_GT(apart, 40U);
}

TEST(explore, refuses_to_run_inside_another_and_to_fail_outside) {
  EXPECT_NE(explore::run({.lanes = 1}, [] { explore::run({}, [] {}); }).why.find("inside another"),
            std::string::npos);
  EXPECT_THROW(explore::fail("nobody explores"), error);
}

}  // namespace
}  // namespace sluice::lane
