#include "tests/model/engine.h"

#include <gtest/gtest.h>

namespace sluice::model {
namespace {

// Two walkers share one bridge; each may take it, cross and leave. `rude` walkers do not look whether it is
// taken.
struct bridge {
  struct state {
    std::uint8_t on[2];
    std::uint8_t crossed[2];
  };
  bool rude = false;
  bool keeps_it = false;
  bool turns_back = false;

  state start() const { return {}; }
  bool finished(const state& s) const { return s.crossed[0] == 1 && s.crossed[1] == 1; }
  void steps(const state& s, moves<state>& out) const {
    for (int i = 0; i < 2; ++i) {
      state n = s;
      if (s.on[i] == 0 && s.crossed[i] == 0 && (rude || s.on[1 - i] == 0)) {
        if (s.on[1 - i] != 0) return out.violate("two on the bridge", {"steps on", i});
        n.on[i] = 1;
        out.add(n, {"steps on", i, -1, true});
      } else if (s.on[i] != 0) {
        n.crossed[i] = 1;
        n.on[i] = keeps_it ? 1 : 0;
        out.add(n, {"leaves", i});
        if (turns_back) n.crossed[i] = 0, n.on[i] = 0, out.add(n, {"turns back", i});
      }
    }
  }
};

TEST(engine, holds_where_everybody_can_finish) {
  const report found = explore(bridge{});
  EXPECT_TRUE(found.holds()) << found.text();
  EXPECT_EQ(found.states, 8U);
  EXPECT_EQ(found.ends, 1U);
}

TEST(engine, shows_the_shortest_way_to_a_violation) {
  const report found = explore(bridge{.rude = true});
  EXPECT_EQ(found.what, outcome::violation);
  EXPECT_EQ(found.trace, (std::vector<std::string>{"lane 0 steps on", "lane 1 steps on"}));
}

TEST(engine, finds_states_from_which_no_end_is_reached) {
  EXPECT_EQ(explore(bridge{.keeps_it = true}).what, outcome::stuck);
}

TEST(engine, finds_work_that_goes_in_circles) {
  const auto idle = [](const bridge::state& a, const bridge::state& b) {
    return a.crossed[0] == b.crossed[0] && a.crossed[1] == b.crossed[1];
  };
  const bridge calm;
  explorer<bridge> sound(calm);
  ASSERT_TRUE(sound.run().holds());
  EXPECT_TRUE(sound.find_livelock(idle).holds());
  const bridge hesitant{.turns_back = true};
  explorer<bridge> circling(hesitant);
  ASSERT_TRUE(circling.run().holds());
  EXPECT_EQ(circling.find_livelock(idle).what, outcome::livelock);
}

}  // namespace
}  // namespace sluice::model
