#include "sluice/queue/slot_word.h"

#include <gtest/gtest.h>

namespace sluice::queue {
namespace {

TEST(slot_word, keeps_turn_state_and_status_apart) {
  const slot_word word(0xfffffffeU, slot_state::done, status::from_nvme(0x4281));
  EXPECT_EQ(word.turn(), 0xfffffffeU);
  EXPECT_EQ(word.state(), slot_state::done);
  EXPECT_EQ(word.code().bits(), 0x4281U);
  EXPECT_EQ(slot_word(7, slot_state::in_flight, status::timed_out).code(), status::timed_out);
}

TEST(slot_word, orders_turns_across_the_wrap) {
  EXPECT_TRUE(before(0xffffffffU, 0));
  EXPECT_TRUE(before(1, 2));
  EXPECT_FALSE(before(2, 2));
  EXPECT_FALSE(before(0, 0xffffffffU));
}

}  // namespace
}  // namespace sluice::queue
