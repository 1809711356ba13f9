// Other ways to the sums of vectors, on the CPU backend: each adds what plain C++ adds, and whoever adds
// anything else is caught.
#include "tools/sluice/comparators/sum_comparator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "sluice/base/error.h"
#include "tests/support/refusal.h"
#include "tools/sluice/comparators/plain_sum.h"
#include "tools/sluice/comparators/sum_comparisons.h"

namespace sluice::tool {
namespace {

using test::refusal;
using test::refusal_of;
using vector_add::element;

class sums {
 public:
  explicit sums(const vector_add::vectors& of, std::uint32_t trials = 1, bool stopped = false)
      : what_(*machine_, of, 5, trials, [stopped] { return stopped; }) {}
  sum_comparison& what() { return what_; }
  sum_times by(const sum_comparator& which) { return which.run(what_); }

 private:
  std::unique_ptr<lane::machine> machine_ = lane::machine::cpu(2);
  sum_comparison what_;
};

TEST(sum_comparators, add_what_plain_cplus_adds) {
  for (const element of : {element::u32, element::u64, element::f32, element::f64})
    for (const std::uint64_t count : {1, 2, 3, 5, 127, 100'003})
      for (const sum_comparator& one : sum_comparators()) {
        const sum_times times = sums({.of = of, .elements = count}, 2).by(one);
        EXPECT_EQ(times.trials, 2U) << one.name;
        EXPECT_GT(times.seconds, 0) << one.name;
      }
}

TEST(sum_comparators, tiles_follow_one_another) {
  sums of({.of = element::u64, .elements = 5'000'001});  // three tiles
  EXPECT_EQ(sum_by_copy_engine(of.what()).trials, 1U);
}

TEST(sum_comparators, a_sum_that_is_wrong_is_caught) {
  for (const sum_run by : {sum_by_copy_engine, sum_by_zero_copy}) {
    sums of({.of = element::u32, .elements = 1'000});
    *of.what().pinned().a() ^= std::byte{1};
    const refusal told = refusal_of([&] { by(of.what()); });
    EXPECT_EQ(told.kind, error_kind::wrong_answer);
    EXPECT_NE(told.line.find("element 0 of C is"), std::string::npos) << told.line;
  }
}

TEST(sum_comparators, an_earlier_trials_sums_do_not_pass) {
  sums of({.of = element::f32, .elements = 1'000});
  sum_by_zero_copy(of.what());
  of.what().pinned().spoil_sums();
  EXPECT_EQ(refusal_of([&] { of.what().pinned().need_right("nobody"); }).kind, error_kind::wrong_answer);
}

TEST(sum_comparators, memory_that_is_not_there_is_said_and_the_others_go_on) {
  const auto machine = lane::machine::cpu(1);
  sum_comparisons all("all", *machine, {.of = element::u64, .elements = std::uint64_t{1} << 44}, 1, 1);
  json object;
  const std::string text = all.measure(1e9, object);
  EXPECT_TRUE(object["comparators"].empty());
  ASSERT_EQ(object["comparators_missing"].size(), sum_comparators().size());
  for (const json& each : object["comparators_missing"])
    EXPECT_NE(each["why"].get<std::string>().find("memory"), std::string::npos);
  EXPECT_NE(text.find("copy-engine  not here: "), std::string::npos) << text;
}

TEST(sum_comparators, end_when_asked) {
  for (const sum_comparator& one : sum_comparators())
    EXPECT_EQ(sums({.elements = 1'000}, 1, true).by(one).trials, 0U) << one.name;
}

TEST(sum_comparators, bare_limit_is_measured_over_no_more_than_there_is) {
  const auto machine = lane::machine::cpu(1);
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{100'000}})
    EXPECT_GT(bare_sum_rate(*machine, element::f64, count, memory::place::pinned), 0);
}

}  // namespace
}  // namespace sluice::tool
