// The checker of histories: it takes what some order explains, and nothing else.
#include "tests/support/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sluice/base/bits.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using kind = operation::kind;

struct moments {
  std::uint64_t called, returned;
};

operation read(std::uint32_t lane, moments when, std::uint64_t result, std::uint64_t element = 0) {
  return {when.called, when.returned, element, 0, result, lane, 0, 8, kind::read};
}
operation write(std::uint32_t lane, moments when, std::uint64_t value, std::uint64_t element = 0) {
  return {when.called, when.returned, element, value, 0, lane, 0, 8, kind::write};
}
operation add(std::uint32_t lane, moments when, std::uint64_t value, std::uint64_t result,
              std::uint32_t bytes = 8) {
  return {when.called, when.returned, 0, value, result, lane, 0, bytes, kind::add};
}
std::string check(const std::vector<operation>& history, std::uint64_t slack = 0) {
  return unexplained(
      history, [](std::uint64_t) { return std::uint64_t{0}; }, slack);
}

TEST(checker_of_histories, takes_what_one_lane_does_in_turn) {
  EXPECT_EQ(check({read(0, {1, 2}, 0), write(0, {3, 4}, 7), read(0, {5, 6}, 7), add(0, {7, 8}, 2, 7),
                   read(0, {9, 10}, 9)}),
            "");
}

TEST(checker_of_histories, lets_overlapping_operations_come_in_any_order) {
  EXPECT_EQ(check({write(0, {1, 10}, 7), read(1, {2, 3}, 7), read(1, {4, 5}, 7)}), "");
  EXPECT_EQ(check({write(0, {1, 10}, 7), read(1, {2, 3}, 0), read(1, {4, 5}, 7)}), "");
  EXPECT_EQ(check({write(0, {1, 10}, 7), write(1, {1, 10}, 8), read(2, {2, 3}, 8), read(2, {4, 5}, 7)}), "");
  EXPECT_EQ(check({add(0, {1, 9}, 1, 1), add(1, {1, 9}, 1, 0), read(2, {1, 9}, 1)}), "");
}

TEST(checker_of_histories, takes_moments_that_touch_for_an_overlap) {
  EXPECT_EQ(check({write(0, {1, 5}, 7), read(1, {5, 6}, 0)}), "");
}

TEST(checker_of_histories, rejects_a_stale_read_after_a_completed_write) {
  EXPECT_THAT(check({write(0, {1, 2}, 7), read(1, {3, 4}, 0)}), HasSubstr("lane 1 read -> 0 [3, 4]"));
}

TEST(checker_of_histories, rejects_a_lost_addition) {
  EXPECT_NE(check({add(0, {1, 9}, 1, 0), add(1, {1, 9}, 1, 0)}), "");
  EXPECT_NE(check({add(0, {1, 2}, 1, 0), add(1, {3, 4}, 1, 1), read(2, {5, 6}, 1)}), "");
}

TEST(checker_of_histories, rejects_the_new_value_and_then_the_old) {
  EXPECT_NE(check({write(0, {1, 10}, 7), read(1, {2, 3}, 7), read(1, {4, 5}, 0)}), "");
  EXPECT_NE(check({write(0, {1, 10}, 7), read(1, {2, 3}, 7), read(2, {4, 5}, 0)}), "");
}

TEST(checker_of_histories, rejects_two_orders_of_the_same_two_writes) {
  EXPECT_NE(check({write(0, {1, 9}, 7), write(1, {1, 9}, 8), read(2, {10, 11}, 7), read(3, {12, 13}, 8)}),
            "");
}

TEST(checker_of_histories, rejects_a_value_that_nobody_wrote) {
  EXPECT_NE(check({write(0, {1, 9}, 7), read(1, {1, 9}, 6)}), "");
}

TEST(checker_of_histories, keeps_each_lane_to_its_own_order_also_within_one_moment) {
  EXPECT_NE(check({write(0, {1, 1}, 7), read(0, {1, 1}, 0)}), "");
}

TEST(checker_of_histories, looks_at_each_element_alone) {
  EXPECT_EQ(check({write(0, {1, 2}, 7, 5), read(1, {3, 4}, 0, 6), read(1, {5, 6}, 7, 5)}), "");
  EXPECT_THAT(check({write(0, {1, 2}, 7, 5), read(1, {3, 4}, 0, 6), read(1, {5, 6}, 0, 5)}),
              HasSubstr("element 5:"));
}

TEST(checker_of_histories, takes_a_failed_operation_for_none) {
  operation failed = write(0, {1, 2}, 7);
  failed.code = status::from_nvme(0x280).bits();
  EXPECT_EQ(check({failed, read(1, {3, 4}, 0)}), "");
  EXPECT_NE(check({failed, read(1, {3, 4}, 7)}), "");
}

TEST(checker_of_histories, adds_within_four_bytes) {
  EXPECT_EQ(
      check({add(0, {1, 2}, 0xffffffff, 0, 4), add(0, {3, 4}, 2, 0xffffffff, 4), add(0, {5, 6}, 0, 1, 4)}),
      "");
}

TEST(checker_of_histories, forgives_clocks_that_differ_by_the_slack) {
  EXPECT_EQ(check({write(0, {1, 20}, 7), read(1, {25, 26}, 0)}, 5), "");
  EXPECT_NE(check({write(0, {1, 20}, 7), read(1, {26, 27}, 0)}, 5), "");
}

/// Lanes that really share a word, one step at a time: each operation takes effect at a moment drawn between
/// its call and its return.
std::vector<operation> true_history(std::uint64_t seed, std::uint32_t lanes, int each) {
  std::mt19937_64 random(seed);
  struct event {
    std::uint64_t at;
    operation o;
  };
  std::vector<event> events;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    std::uint64_t now = random() % 10;
    for (int k = 0; k < each; ++k) {
      const std::uint64_t called = now + 1 + random() % 20, at = called + random() % 30,
                          returned = at + random() % 30;
      const auto what = static_cast<kind>(random() % 3);
      events.push_back({at, {called, returned, 0, random() % 100, 0, lane, 0, 8, what}});
      now = returned;
    }
  }
  std::vector<event*> in_order;
  for (event& e : events) in_order.push_back(&e);
  std::stable_sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return a->at < b->at; });
  std::uint64_t value = 0;
  for (event* e : in_order) {
    e->o.result = e->o.what == kind::write ? 0 : value;
    if (e->o.what == kind::write) value = e->o.value;
    if (e->o.what == kind::add) value += e->o.value;
  }
  std::vector<operation> all;
  for (const event& e : events) all.push_back(e.o);
  return all;
}

TEST(checker_of_histories, explains_whatever_can_happen) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    ASSERT_EQ(check(true_history(seed, 2 + seed % 7, 20)), "") << "seed " << seed;
}

/// Tells by trying every order.
bool has_an_order(std::vector<operation> left, std::uint64_t value) {
  if (left.empty()) return true;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const operation o = left[i];
    const bool first = std::all_of(left.begin(), left.end(), [&o](const operation& other) {
      return other == o || (other.returned >= o.called && (other.lane != o.lane || other.called >= o.called));
    });
    if (!first || (o.what != kind::write && o.result != value)) continue;
    std::vector<operation> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (has_an_order(rest, o.what == kind::read ? value : o.what == kind::write ? o.value : value + o.value))
      return true;
  }
  return false;
}

TEST(checker_of_histories, says_what_trying_every_order_says) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::vector<operation> history = true_history(seed, 3, 2);
    history[mix(seed) % history.size()].result = mix(seed + 1) % 100;  // mostly wrong now
    operation& sooner = history[mix(seed + 2) % history.size()];
    sooner.returned = std::max(sooner.called, sooner.returned - mix(seed) % 8);
    const bool explained = has_an_order(history, 0);
    refused += explained ? 0 : 1;
    ASSERT_EQ(check(history).empty(), explained) << "seed " << seed;
  }
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 1900);
}

}  // namespace
}  // namespace sluice::testing
