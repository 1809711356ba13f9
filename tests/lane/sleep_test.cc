#include "sluice/lane/sleep.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "sluice/lane/launch.h"
#include "sluice/lane/wait.h"

namespace sluice::lane {
namespace {

constexpr std::uint32_t rings = 20'000;

/// A drive's service thread: reads the values of the bell, answers each in `seen`, and sleeps by
/// `sleep(look)` between. Returns how many sleeps ran into their limit.
template <class Sleep>
std::uint32_t serve(std::uint32_t& bell, std::uint32_t& seen, Sleep sleep) {
  std::uint32_t last = 0, timeouts = 0;
  const auto look = [&] { return on_system(bell).load(cuda::std::memory_order_seq_cst) != last; };
  while (last != rings) {
    const std::uint64_t begun = clock_ns();
    if (!look()) sleep(look);
    if (clock_ns() - begun > 1'500'000'000) ++timeouts;
    last = on_system(bell).load(acquire);
    on_system(seen).store(last, release);
  }
  return timeouts;
}

/// Lanes ring and wait for each answer, while a thread serves them that sleeps by `sleep(sleeper, look)`.
template <class Sleep>
void expect_no_ring_missed(Sleep sleep) {
  std::uint32_t bell = 0, sleeper = 0, seen = 0, timeouts = 0;
  std::thread service([&] { timeouts = serve(bell, seen, [&](const auto& look) { sleep(sleeper, look); }); });
  const auto cpu = machine::cpu(1);
  launch(*cpu, {1, 1}, [=, to = doorbell{&bell, &sleeper}, from = &seen] {
    for (std::uint32_t value = 1; value <= rings; ++value) {
      ring(to, value);
      while (on_system(*from).load(acquire) != value) executor::relax();
    }
  });
  service.join();
  EXPECT_EQ(timeouts, 0U);
  EXPECT_EQ(sleeper, 0U);
}

TEST(sleep, never_misses_a_ring_of_lanes_that_wait_for_each_answer) {
  expect_no_ring_missed(
      [](std::uint32_t& sleeper, const auto& look) { sleep_unless(sleeper, std::chrono::seconds(2), look); });
}

TEST(sleep, in_a_wait_for_other_things_never_misses_a_ring) {
  const int event = eventfd(0, EFD_CLOEXEC);
  ASSERT_GE(event, 0);
  expect_no_ring_missed([&](std::uint32_t& sleeper, const auto& look) {
    wait_unless(sleeper, event, look, [&] {
      pollfd readable{event, POLLIN, 0};
      if (::poll(&readable, 1, 2000) > 0) {
        eventfd_t rings_heard = 0;
        eventfd_read(event, &rings_heard);
      }
    });
  });
  ::close(event);
}

TEST(sleep, of_waiting_lanes_ends_with_news_or_by_itself) {
  std::uint32_t asked = 0, answered = 0;
  std::thread drive([&] {
    for (std::uint32_t value = 1; value <= 2000; ++value) {
      while (on_system(asked).load(acquire) != value) executor::relax();
      on_system(answered).store(value, release);
      if (value % 2 == 0) spread_news();
    }
  });
  const auto cpu = machine::cpu(1);
  launch(*cpu, {1, 2}, [to = &asked, from = &answered] {
    for (std::uint32_t value = 1; value <= 2000; ++value) {
      if (executor::self().lane == 0) on_system(*to).store(value, release);
      while (on_system(*from).load(acquire) < value) executor::relax();
    }
  });
  drive.join();
  EXPECT_EQ(answered, 2000U);
}

TEST(sleep, of_waiting_lanes_ends_however_long_the_silence_that_it_has_learnt_to_expect) {
  constexpr std::uint32_t rounds = 600;
  std::uint32_t asked = 0, answered = 0;
  std::thread drive([&] {
    for (std::uint32_t value = 1; value <= rounds; ++value) {
      while (on_system(asked).load(acquire) != value) executor::relax();
      // Long enough to be learnt; then now and then much sooner, or later, than is expected.
      const std::uint32_t microseconds = value % 50 == 0 ? 0 : value % 50 == 25 ? 3000 : 300;
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
      on_system(answered).store(value, release);
      if (value % 3 != 0) spread_news();
    }
  });
  const auto cpu = machine::cpu(1);
  launch(*cpu, {1, 2}, [to = &asked, from = &answered] {
    for (std::uint32_t value = 1; value <= rounds; ++value) {
      if (executor::self().lane == 0) {
        on_system(*to).store(value, release);
        executor::note_bell();
      }
      while (on_system(*from).load(acquire) < value) executor::relax();
    }
  });
  drive.join();
  EXPECT_EQ(answered, rounds);
}

TEST(sleep, ends_at_its_time_limit) {
  std::uint32_t sleeper = 0;
  const std::uint64_t begun = clock_ns();
  EXPECT_FALSE(sleep_unless(sleeper, std::chrono::milliseconds(5), [] { return false; }));
  EXPECT_GE(clock_ns() - begun, 4'000'000U);
  EXPECT_EQ(sleeper, 0U);
}

TEST(sleep, does_not_happen_where_the_look_finds_work) {
  std::uint32_t sleeper = 0;
  EXPECT_TRUE(sleep_unless(sleeper, std::chrono::hours(1), [] { return true; }));
  EXPECT_EQ(sleeper, 0U);
}

}  // namespace
}  // namespace sluice::lane
