// What lanes do in the queue model: submission, waiting, reaping, claiming, failing.
#include "tests/model/queue_model.h"

#include "tests/model/queue_model_words.h"

namespace sluice::model {

using enum queue_fault;

queue_state queue_model::start() const {
  state s{};
  s.disk.alive = 1;
  s.disk.phase = s.phase = 1;
  return s;
}

bool queue_model::finished(const state& s) const {
  for (int i = 0; i < setup_.lanes; ++i)
    if (s.lanes[i].round != setup_.rounds) return false;
  return true;
}

void queue_model::steps(const state& s, moves<state>& out) const {
  for (int i = 0; i < setup_.lanes && !out.violated(); ++i) {
    if (s.lanes[i].helping != not_helping)
      continue_helping(s, i, out);
    else if (s.lanes[i].round < setup_.rounds)
      submit(s, i, out);
  }
  serve(s, out);
  watch(s, out);
}

/// In flight for a drive that is gone: the queue was deleted, or the slot's turn is of an earlier life.
bool queue_model::lost(const state& s, int slot) const {
  const auto& x = s.slots[slot];
  if (x.state != in_flight || has(aborts_at_failure)) return false;
  if (has(claims_before_deletion) && s.closed) return true;
  return s.deleted != 0 || x.turn < s.first_turn;
}

bool queue_model::claimable(const state& s, int slot) const {
  return s.slots[slot].state == done || lost(s, slot);
}

bool queue_model::slot_is_mine(const state& s, int ticket) const {
  const auto& x = s.slots[slot_of(ticket)];
  const int turn = turn_of(ticket);
  return x.state == is_free && (x.turn == turn || (turn == s.first_turn && x.turn < turn));
}

bool queue_model::slot_before_is_gone(const state& s, int ticket) const {
  return s.slots[slot_of(ticket)].turn >= turn_of(ticket) || turn_of(ticket) <= s.first_turn;
}

bool queue_model::turn_has_come(const state& s, int ticket) const {
  if (has(no_turn_wait)) return true;
  for (int k = 0; k < setup_.team; ++k)
    if (!slot_is_mine(s, ticket + k)) return false;
  return has(no_next_slot_rule) || slot_before_is_gone(s, ticket + setup_.team);
}

void queue_model::submit(const state& s, int i, moves<state>& out) const {
  switch (s.lanes[i].at) {
    case looking:
    case taking:
    case leaving:
      return take_ticket(s, i, out);
    case waiting_for_turn:
      return wait_for_turn(s, i, out);
    case filling:
      return fill(s, i, out);
    case marking:
      return mark(s, i, out);
    case adding:
    case adding_late:
    case scanning:
    case ringing:
    case subtracting:
      return combine(s, i, out);
    default:
      return wait_for_result(s, i, out);
  }
}

void queue_model::take_ticket(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  if (me.at == looking) {
    if (s.closed) return;
    me.at = taking;
    return out.add(n, {"sees the queue open", i});
  }
  if (me.at == taking) {
    me.ticket = s.tickets;
    n.tickets += setup_.team;
    me.at = waiting_for_turn;
    if (s.closed &&
        !has(closed_bit_in_its_own_word)) {  // no ticket, and no debt: the count ended with the bit
      me.ticket = 0;
      me.at = has(late_takers_owe) ? leaving : looking;
      return out.add(n, {"finds the queue closed", i});
    }
    return out.add(n, {"takes ticket", i, me.ticket});
  }
  if (!has(leaves_without_arriving)) n.arrivals += setup_.team;
  const std::uint8_t round = me.round;
  me = {};
  me.round = round;
  out.add(n, {"leaves a closed queue", i});
}

void queue_model::wait_for_turn(const state& s, int i, moves<state>& out) const {
  const int ticket = s.lanes[i].ticket;
  if (turn_has_come(s, ticket)) {
    state n = s;
    n.lanes[i].at = has(marks_before_the_entry) ? marking : filling;
    out.add(n, {"gets its turn, ticket", i, ticket});
  } else if (!has(turn_wait_does_not_reap)) {
    for (int k = 0; k <= setup_.team; ++k) help(s, i, slot_of(ticket + k), out);
  }
  if (s.closed) {
    state n = s;
    n.lanes[i].at = leaving;
    out.add(n, {"sees the queue closed", i});
  }
}

void queue_model::fill(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  for (int k = 0; k < setup_.team; ++k) {
    const int slot = slot_of(me.ticket + k);
    auto& x = n.slots[slot];
    if (x.state != is_free && !has(marks_before_the_entry))
      return out.violate("an entry is written over another lane's", {"fills slot", i, slot});
    x.command = s.commands + k;
    x.entry = me.command[k] = x.command + 1;
    x.target = i * state::max_team + k;
  }
  n.commands += setup_.team;
  me.at = has(marks_before_the_entry) ? adding : marking;
  out.add(n, {"fills its slots from ticket", i, me.ticket});
}

void queue_model::mark(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  const int ticket = me.ticket + me.marked;
  auto& x = n.slots[slot_of(ticket)];
  if (x.state != is_free)
    return out.violate("a mark falls on a slot in use", {"marks slot", i, slot_of(ticket)});
  if (turn_of(ticket) < s.first_turn)
    return out.violate("a lane of an earlier life marks a slot", {"marks slot", i, slot_of(ticket)});
  x.turn = turn_of(ticket);
  x.state = in_flight;
  x.status = no_status;
  if (++me.marked == setup_.team) {
    me.marked = 0;
    me.at = has(marks_before_the_entry) ? filling : adding;
  }
  out.add(n, {"marks slot", i, slot_of(ticket)});
}

void queue_model::combine(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  switch (me.at) {
    case adding:
      n.arrivals += setup_.team;
      if (has(arrives_before_pending)) {
        me.at = adding_late;
        return out.add(n, {"adds to arrivals", i});
      }
      [[fallthrough]];
    case adding_late:
      me.batch = s.pending == 0 ? 1 : 0;
      ++n.pending;
      me.at = s.pending == 0 ? scanning : waiting;
      return out.add(n, {"adds to pending", i});
    case scanning:
      while (n.slots[slot_of(n.tail)].state == in_flight && n.slots[slot_of(n.tail)].turn == turn_of(n.tail))
        ++n.tail;
      me.at = ringing;
      return out.add(n, {"moves the tail to", i, n.tail});
    case ringing: {
      const int value = has(rings_the_unwrapped_tail) ? s.tail : s.tail % setup_.depth;
      if (value >= setup_.depth) return out.violate("a doorbell value beyond the ring", {"rings", i, value});
      if (turn_of(me.ticket) < s.first_turn)
        return out.violate("a lane of an earlier life rings", {"rings", i, value});
      n.disk.doorbell = value;
      me.at = subtracting;
      return out.add(n, {"rings", i, value});
    }
    default:
      n.pending -= me.batch;
      me.batch = has(combiner_stops_early) ? 0 : n.pending;
      me.at = me.batch != 0 ? scanning : waiting;
      return out.add(n, {"subtracts from pending, leaving", i, n.pending});
  }
}

void queue_model::wait_for_result(const state& s, int i, moves<state>& out) const {
  const auto& me = s.lanes[i];
  if (setup_.prefetch && me.round + 1 < setup_.rounds) {
    state n = s;
    n.lanes[i] = {};
    n.lanes[i].round = me.round + 1;
    return out.add(n, {"goes on without waiting", i});
  }
  bool all = true;
  for (int k = 0; k < setup_.team; ++k) {
    const int slot = slot_of(me.ticket + k);
    const auto& x = s.slots[slot];
    if (has(waiter_watches_the_slot)) {
      if (x.turn > turn_of(me.ticket + k))
        return out.violate("a waiter lost its result: the slot is in a later turn",
                           {"looks at slot", i, slot});
      if (x.state == done || x.state == claimed) continue;
    } else if (me.word[k] != 0) {
      continue;
    }
    all = false;
    if (x.turn == turn_of(me.ticket + k)) help(s, i, slot, out);
  }
  if (all) take_result(s, i, out);
}

void queue_model::take_result(const state& s, int i, moves<state>& out) const {
  const auto& me = s.lanes[i];
  bool again = false;
  for (int k = 0; k < setup_.team; ++k) {
    if (me.word[k] == ok && !s.executed[me.command[k] - 1])
      return out.violate("success for a command that the drive never executed", {"takes its result", i});
    if (me.word[k] == aborted) again = true;
  }
  state n = s;
  n.lanes[i] = {};
  n.lanes[i].round = me.round + (again ? 0 : 1);
  out.add(n, {again ? "was aborted, tries again" : "takes its result", i});
}

/// What every wait does for the slot it depends on, and for the completions of all.
void queue_model::help(const state& s, int i, int slot, moves<state>& out) const {
  const auto& x = s.slots[slot];
  state n = s;
  auto& me = n.lanes[i];
  me.slot = slot;
  me.turn = x.turn;
  me.state = x.state;
  me.status = x.status;
  if (has(reads_deleted_before_word) && s.deleted) {
    me.helping = claim_reading;
    out.add(n, {"sees the queue deleted", i});
  } else if (claimable(s, slot)) {
    me.helping = claim_swapping;
    out.add(n, {"sees a continuation in slot", i, slot});
  } else if (x.state == in_flight && s.lock == 0 && s.failures < setup_.failures) {
    me.helping = fail_locking;
    out.add(n, {"finds no answer in time for slot", i, slot});
  }
  const bool answered = has(ignores_the_phase) ? s.disk.doorbell != 0 : s.entry_phase[s.reaped] == s.phase;
  if (s.lock == 0 && answered) {
    state r = s;
    r.lanes[i].helping = reap_reading;
    if (!has(reaps_without_lock)) r.lock = 1;
    out.add(r, {"wins the completion lock", i});
  }
}

void queue_model::continue_helping(const state& s, int i, moves<state>& out) const {
  const auto at = s.lanes[i].helping;
  if (at <= reap_unlocking) return reap(s, i, out);
  if (at <= claim_late_running) return claim(s, i, out);
  fail(s, i, out);
}

void queue_model::reap(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  switch (me.helping) {
    case reap_reading:
      me.slot = s.entry_slot[s.reaped];
      me.helping =
          s.entry_phase[s.reaped] == s.phase || has(ignores_the_phase) ? reap_publishing : reap_unlocking;
      return out.add(n, {"reads a completion of slot", i, me.slot});
    case reap_publishing: {
      auto& x = n.slots[me.slot];
      if (x.state != in_flight)
        return out.violate("a status is published over a slot not in flight", {"publishes slot", i, me.slot});
      x.state = done;
      x.status = ok;
      n.reaped = (s.reaped + 1) % setup_.depth;
      if (n.reaped == 0) n.phase ^= 1;
      me.turn = x.turn, me.state = x.state, me.status = x.status;
      me.helping = reap_ringing;
      return out.add(n, {"publishes slot", i, me.slot});
    }
    case reap_ringing:
      if (!has(never_rings_the_completions)) n.disk.completions_doorbell = s.reaped;
      me.helping = reap_unlocking;
      return out.add(n, {"rings the completions", i});
    default:
      if (!has(reaps_without_lock)) n.lock = 0;
      if (me.state == done)
        me.helping = claim_swapping;  // it finishes what it published
      else
        forget_help(me);
      return out.add(n, {"lets go of the completion lock", i});
  }
}

void queue_model::claim(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  auto& x = n.slots[me.slot];
  switch (me.helping) {
    case claim_reading:  // only planted: the deleted flag was read before the word
      me.turn = x.turn, me.state = x.state, me.status = x.status;
      if (x.state == in_flight)
        me.helping = claim_swapping;
      else
        forget_help(me);
      return out.add(n, {"reads the word of slot", i, me.slot});
    case claim_swapping: {
      const bool same = x.turn == me.turn && x.state == me.state && x.status == me.status;
      if (!same && !has(claims_without_cas)) {
        forget_help(me);
        return out.add(n, {"claims in vain", i});
      }
      if (me.state == in_flight) x.status = x.status == timed_out ? timed_out : aborted;
      x.state = claimed;
      me.claimed = x.command + 1;
      me.helping = has(frees_before_the_continuation) ? claim_freeing : claim_running;
      return out.add(n, {"claims slot", i, me.slot});
    }
    case claim_running:
    case claim_late_running: {
      const step how{"runs the continuation of slot", i, me.slot};
      if (x.command + 1 != me.claimed)
        return out.violate("a continuation reads another command's record", how);
      if (s.disk.working[me.slot] == me.claimed)
        return out.violate("a continuation runs while the drive may still move the bytes", how);
      auto& owner = n.lanes[x.target / state::max_team];
      const int k = x.target % state::max_team;
      const bool waited = !setup_.prefetch || owner.command[k] == x.command + 1;
      if (waited && (owner.word[k] != 0 || owner.command[k] != x.command + 1))
        return out.violate("a result is added twice, or to another's word", how);
      if (waited) owner.word[k] = x.status;
      if (me.helping == claim_running)
        me.helping = claim_freeing;
      else
        forget_help(me);
      return out.add(n, how);
    }
    default:
      ++x.turn;
      x.state = is_free;
      x.status = no_status;
      if (has(frees_before_the_continuation))
        me.helping = claim_late_running;
      else
        forget_help(me);
      return out.add(n, {"frees slot", i, me.slot});
  }
}

void queue_model::fail(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  auto& x = n.slots[me.slot];
  switch (me.helping) {
    case fail_locking:
      if (s.lock == 0)
        n.lock = for_good, me.helping = fail_looking;
      else
        forget_help(me);
      return out.add(n, {"goes for the completion lock, to fail the queue", i});
    case fail_looking: {
      const bool unanswered = x.state == in_flight && x.turn == me.turn;
      const bool earlier = lost(s, me.slot) && !has(times_out_a_lost_slot);
      if ((unanswered && !earlier && s.failures < setup_.failures) || has(fails_without_looking_again)) {
        ++n.failures;
        me.helping = fail_marking;
      } else {
        n.lock = 0;
        forget_help(me);
      }
      return out.add(n, {"looks again at slot", i, me.slot});
    }
    case fail_marking:
      if (x.turn < s.first_turn)
        return out.violate("the queue fails for a command of an earlier life",
                           {"times out slot", i, me.slot});
      if (x.state != in_flight)
        return out.violate("timed_out is written over a slot not in flight", {"times out slot", i, me.slot});
      x.status = timed_out;
      if (has(aborts_at_failure))
        for (int k = 0; k < setup_.depth; ++k)
          if (n.slots[k].state == in_flight) n.slots[k].state = done, n.slots[k].status = aborted;
      if (has(failure_leaves_the_lock)) n.lock = 0;
      me.helping = fail_closing;
      return out.add(n, {"times out slot", i, me.slot});
    case fail_closing:  // the bit and the count at that moment are one atomic operation
      n.closed = 1;
      me.turn = s.tickets;
      me.helping = fail_calling;
      return out.add(n, {"closes the queue", i});
    default:
      n.closed_at = me.turn;
      n.called = 1;
      forget_help(me);
      return out.add(n, {"calls the watcher", i});
  }
}

}  // namespace sluice::model
