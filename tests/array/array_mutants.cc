// Steps by which a mirror does without a replica, each dropped in turn: a schedule must be found that shows
// the loss.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/array/store_world.h"

namespace sluice::testing {
namespace {

constexpr std::uint64_t most_schedules = 200;

/// The first wrong thing that any scenario shows with the fault in force, or nothing.
std::string found() {
  using lane::explore::policy;
  for (std::uint64_t seed = 1; seed <= most_schedules; ++seed) {
    for (const store_scenario& what : store_scenarios()) {
      for (const policy how : {policy::random, policy::one_in_eight, policy::pct}) {
        store_world w(what);
        const std::string why = w.run(how, seed);
        if (!why.empty()) return std::string(what.name) + ": " + why;
      }
    }
  }
  return {};
}

class array_mutant : public ::testing::TestWithParam<const char*> {
 protected:
  ~array_mutant() override { lane::plant(""); }
};

TEST_P(array_mutant, is_caught) {
  lane::plant(GetParam());
  const std::string why = found();
  EXPECT_NE(why, "") << GetParam() << " survived";
  RecordProperty("caught_by", why);
}

INSTANTIATE_TEST_SUITE_P(steps, array_mutant,
                         ::testing::Values("cache.first_report_only", "cache.same_source",
                                           "mirror.read_the_lost", "mirror.blame_nobody",
                                           "mirror.blame_without_proof", "mirror.forgive_for_ever",
                                           "mirror.leave_out_all", "cache.skip_check",
                                           "cache.loader_checks_alone", "cache.check_unpinned",
                                           "seal.forget_write", "seal.note_late"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(name.find('.') + 1);
                         });

}  // namespace
}  // namespace sluice::testing
