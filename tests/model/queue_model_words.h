// The values that the words of the queue model take, and where its lanes and its watcher stand.
#pragma once

#include <cstdint>

#include "tests/model/queue_model.h"

namespace sluice::model {

enum slot_word : std::uint8_t { is_free, in_flight, done, claimed };
enum slot_status : std::uint8_t { no_status, ok, aborted, timed_out };
enum completion_lock : std::uint8_t { for_good = 9 };

enum submission : std::uint8_t {
  looking,
  taking,
  leaving,
  waiting_for_turn,
  filling,
  marking,
  adding,
  adding_late,
  scanning,
  ringing,
  subtracting,
  waiting
};
enum helping : std::uint8_t {
  not_helping,
  reap_reading,
  reap_publishing,
  reap_ringing,
  reap_unlocking,
  claim_reading,
  claim_swapping,
  claim_running,
  claim_freeing,
  claim_late_running,
  fail_locking,
  fail_looking,
  fail_marking,
  fail_closing,
  fail_calling
};
enum watching : std::uint8_t {
  idle,
  deleting,
  telling,
  rebuilding,
  untelling,
  unlocking,
  opening,
  untelling_late
};

inline void forget_help(queue_state::lane& me) {
  me.helping = not_helping;
  me.slot = me.turn = me.state = me.status = me.claimed = 0;
}

}  // namespace sluice::model
