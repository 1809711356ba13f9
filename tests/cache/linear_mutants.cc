// Protocol steps of the cache, each dropped in turn, which the histories of its elements must show: what a
// user of the cache sees is enough.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/cache/linear_world.h"

namespace sluice::cache {
namespace {

constexpr std::uint64_t most_schedules = 3000;

/// The first wrong thing that any scenario shows with the fault in force, or nothing.
std::string found() {
  using lane::explore::policy;
  for (std::uint64_t seed = 1; seed <= most_schedules; ++seed) {
    for (const linear::scenario& what : linear::all()) {
      for (const policy how : {policy::random, policy::one_in_eight, policy::pct}) {
        const std::string why = what.run(what, how, seed);
        if (!why.empty()) return std::string(what.name) + ": " + why;
      }
    }
  }
  return {};
}

class history_mutant : public ::testing::TestWithParam<const char*> {
 protected:
  ~history_mutant() override { lane::plant(""); }
};

TEST_P(history_mutant, is_caught) {
  lane::plant(GetParam());
  const std::string why = found();
  EXPECT_NE(why, "") << GetParam() << " survived";
  RecordProperty("caught_by", why);
}

INSTANTIATE_TEST_SUITE_P(steps, history_mutant,
                         ::testing::Values("cache.ask_twice_why", "cache.clean_pinned", "cache.drop_reprobe",
                                           "cache.drop_revalidation", "cache.drop_set_lock",
                                           "cache.evict_pinned", "cache.flush_before_overwritten",
                                           "cache.same_version", "cache.tier_keep_stale",
                                           "cache.tier_refill_draining", "cache.write_while_writing"),
                         [](const auto& info) { return std::string(info.param).substr(6); });

}  // namespace
}  // namespace sluice::cache
