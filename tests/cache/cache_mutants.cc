// Protocol steps of the cache, each dropped in turn: a schedule must be found that shows the loss. The memory
// orders' mutants are in tests/litmus/cache, since the explorer's schedules are sequentially consistent.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/cache/scenarios.h"

namespace sluice::cache {
namespace {

constexpr std::uint64_t most_schedules = 3000;

/// The first wrong thing that any scenario shows with the fault in force, or nothing.
std::string found() {
  for (std::uint64_t seed = 1; seed <= most_schedules; ++seed) {
    for (const scenarios::scenario& what : scenarios::all()) {
      for (const auto how :
           {lane::explore::policy::random, lane::explore::policy::one_in_eight, lane::explore::policy::pct}) {
        const std::string why = scenarios::run(what, how, seed);
        if (!why.empty()) return std::string(what.name) + ": " + why;
      }
    }
  }
  return {};
}

class cache_mutant : public ::testing::TestWithParam<const char*> {
 protected:
  ~cache_mutant() override { lane::plant(""); }
};

TEST_P(cache_mutant, is_caught) {
  lane::plant(GetParam());
  const std::string why = found();
  EXPECT_NE(why, "") << GetParam() << " survived";
  RecordProperty("caught_by", why);
}

INSTANTIATE_TEST_SUITE_P(steps, cache_mutant,
                         ::testing::Values("cache.drop_set_lock", "cache.drop_reprobe", "cache.clean_pinned",
                                           "cache.drop_span_lock", "cache.evict_pinned",
                                           "cache.drop_revalidation", "cache.write_while_writing",
                                           "cache.drop_arrival", "cache.first_report_only",
                                           "cache.same_source", "cache.leave_others_alone",
                                           "cache.tier_keep_overwritten", "cache.tier_keep_stale",
                                           "cache.tier_pass_filling", "cache.tier_refill_draining"),
                         [](const auto& info) { return std::string(info.param).substr(6); });

// The explorer's scenarios end with every page written; this one cannot.
TEST(mutant, is_caught_that_tries_failed_writes_for_ever) {
  const auto asked = [](const char* fault) {
    lane::plant(fault);
    testing::fake_store store({.pages = 6, .bad_writes = {{0, 100000}, {1, 100000}}});
    testing::plain_cache memory(2, 64, 20'000'000);
    const cache_ref<testing::fake_store_ref> cache(memory.view(), testing::fake_store_ref{&store});
    EXPECT_TRUE(cache.write<std::uint64_t>({0}, 0, 1).is_ok());
    EXPECT_TRUE(cache.write<std::uint64_t>({1}, 0, 1).is_ok());
    const status code = cache.read<std::uint64_t>({5}, 0).code;
    lane::plant("");
    return code;
  };
  EXPECT_EQ(asked(""), status::from_nvme(testing::fake_store::write_failure));
  EXPECT_EQ(asked("cache.retry_failed"), status::timed_out);
}

// A reader that sleeps while its page leaves the frame and comes back: too rare for most schedules drawn at
// random (linear_mutants.cc has a scenario for it).
TEST(mutant, is_caught_that_keeps_the_version) {
  const auto seems_unchanged = [](const char* fault) {
    lane::plant(fault);
    testing::fake_store store({.pages = 6});
    testing::plain_cache memory(2, 64, 20'000'000);
    const cache_ref<testing::fake_store_ref> cache(memory.view(), testing::fake_store_ref{&store});
    const directory_ref& directory = cache.directory();
    const directory_place at = directory.place({0});
    std::optional<frame_word> before[2];
    for (std::uint64_t k = 0; k < 100; ++k) {
      EXPECT_TRUE(cache.read<std::uint64_t>({0}, 0).is_ok());
      const sighting now = directory.find_resident(at, lane::acquire);
      if (before[now.frame] && now.word.same_contents(*before[now.frame])) return true;
      before[now.frame] = now.word;
      for (std::uint64_t other = 1; other < 6; ++other)
        EXPECT_TRUE(cache.read<std::uint64_t>({other}, 0).is_ok());
      EXPECT_FALSE(directory.find_resident(at, lane::acquire).found());
    }
    return false;
  };
  EXPECT_FALSE(seems_unchanged(""));
  EXPECT_TRUE(seems_unchanged("cache.same_version"));
  lane::plant("");
}

}  // namespace
}  // namespace sluice::cache
