#include "tests/model/queue_model.h"

#include <gtest/gtest.h>

#include <iterator>

namespace sluice::model {
namespace {

struct sound_case {
  const char* name;
  queue_setup setup;
};

class sound_queue : public testing::TestWithParam<sound_case> {};

TEST_P(sound_queue, ends_every_command_whatever_is_scheduled) {
  const report found = explore(queue_model(GetParam().setup));
  EXPECT_TRUE(found.holds()) << found.text();
  EXPECT_GT(found.ends, 0U);
}

constexpr sound_case sound_cases[] = {
    {"two_lanes", {.rounds = 2}},
    {"two_lanes_prefetch", {.rounds = 3, .prefetch = true}},
    {"three_lanes", {.lanes = 3, .rounds = 2}},
    {"teams_of_two", {.depth = 4, .team = 2}},
    {"lost_command", {.rounds = 2, .lost = 0, .failures = 1}},
    {"lost_command_prefetch", {.rounds = 3, .lost = 0, .failures = 1, .prefetch = true}},
    {"lost_command_depth_four", {.depth = 4, .lost = 0, .failures = 1}},
    {"lost_command_three_lanes", {.lanes = 3, .rounds = 2, .lost = 0, .failures = 1}},
    {"lost_command_teams_of_two", {.depth = 4, .team = 2, .lost = 0, .failures = 1}},
    {"lost_second_of_a_team", {.depth = 4, .team = 2, .lost = 1, .failures = 1}},
    {"false_alarm", {.rounds = 2, .failures = 1}},
    {"false_alarm_teams_of_two", {.depth = 4, .team = 2, .failures = 1}},
    {"two_lives_lost", {.rounds = 2, .failures = 2}},
    {"two_lives_lost_three_lanes", {.lanes = 3, .failures = 2}},
};

INSTANTIATE_TEST_SUITE_P(design_section_4, sound_queue, testing::ValuesIn(sound_cases),
                         [](const auto& info) { return info.param.name; });

struct fault_case {
  const char* name;
  queue_fault fault;
  outcome what;
  queue_setup setup;
};

class faulty_queue : public testing::TestWithParam<fault_case> {};

TEST_P(faulty_queue, is_caught) {
  const report found = explore(queue_model(GetParam().setup, GetParam().fault));
  EXPECT_EQ(found.what, GetParam().what) << found.text();
  EXPECT_TRUE(explore(queue_model(GetParam().setup)).holds()) << "only the fault may break it";
}

constexpr queue_setup plain{.rounds = 2};
constexpr queue_setup four_slots{.depth = 4, .rounds = 2};
constexpr queue_setup prefetch{.rounds = 3, .prefetch = true};
constexpr queue_setup one_lost{.lost = 0, .failures = 1};
constexpr queue_setup one_lost_of_two_rounds{.rounds = 2, .lost = 0, .failures = 1};
constexpr queue_setup two_failures{.failures = 2};

#define SLUICE_FAULT(name, what, setup) \
  { #name, queue_fault::name, outcome::what, setup }
constexpr fault_case fault_cases[] = {
    SLUICE_FAULT(no_turn_wait, violation, plain),
    SLUICE_FAULT(no_next_slot_rule, stuck, plain),
    SLUICE_FAULT(marks_before_the_entry, violation, four_slots),
    SLUICE_FAULT(combiner_stops_early, stuck, plain),
    SLUICE_FAULT(rings_the_unwrapped_tail, violation, plain),
    SLUICE_FAULT(turn_wait_does_not_reap, stuck, prefetch),
    SLUICE_FAULT(reaps_without_lock, violation, plain),
    SLUICE_FAULT(ignores_the_phase, violation, plain),
    SLUICE_FAULT(never_rings_the_completions, stuck, plain),
    SLUICE_FAULT(claims_without_cas, violation, plain),
    SLUICE_FAULT(frees_before_the_continuation, stuck, plain),
    SLUICE_FAULT(waiter_watches_the_slot, violation, plain),
    SLUICE_FAULT(fails_without_looking_again, violation, one_lost),
    SLUICE_FAULT(times_out_a_lost_slot, violation, two_failures),
    SLUICE_FAULT(failure_leaves_the_lock, violation, one_lost_of_two_rounds),
    SLUICE_FAULT(closed_bit_in_its_own_word, violation, one_lost),
    SLUICE_FAULT(late_takers_owe, stuck, one_lost),
    SLUICE_FAULT(leaves_without_arriving, stuck, one_lost),
    SLUICE_FAULT(arrives_before_pending, violation, one_lost),
    SLUICE_FAULT(watcher_does_not_wait, violation, one_lost),
    SLUICE_FAULT(counts_late_takers, stuck, one_lost),
    SLUICE_FAULT(claims_before_deletion, violation, one_lost),
    SLUICE_FAULT(aborts_at_failure, violation, one_lost),
    SLUICE_FAULT(reads_deleted_before_word, violation, one_lost),
    SLUICE_FAULT(restarts_at_turn_zero, stuck, one_lost),
    SLUICE_FAULT(first_turn_not_beyond, stuck, one_lost),
    SLUICE_FAULT(wipes_the_slots, violation, one_lost),
    SLUICE_FAULT(opens_before_rebuilding, violation, one_lost),
    SLUICE_FAULT(opens_before_clearing_deleted, violation, one_lost),
};
#undef SLUICE_FAULT

INSTANTIATE_TEST_SUITE_P(planted, faulty_queue, testing::ValuesIn(fault_cases),
                         [](const auto& info) { return info.param.name; });

TEST(queue_model, plants_every_fault_that_it_knows) {
  EXPECT_EQ(std::size(fault_cases), static_cast<std::size_t>(queue_fault::opens_before_clearing_deleted));
}

}  // namespace
}  // namespace sluice::model
