// The completing half of queue_pair_ref: reap, publish, claim, continue, free; and what happens when an
// answer never comes.
#pragma once

#include "sluice/lane/frame_copy.h"
#include "sluice/queue/queue_pair_ref.h"

namespace sluice::queue {

/// The clock in 32 bits, for ages of commands up to some minutes. Unit: 2^17 ns.
inline constexpr std::uint32_t coarse_shift = 17;
SLUICE_HD inline std::uint32_t coarse_now() {
  return static_cast<std::uint32_t>(lane::clock_ns() >> coarse_shift);
}

template <path Path>
template <class Team>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::help(const Team& team, bool interested,
                                                       io_ticket ticket) const {
  const std::uint32_t slot = slot_of(ticket.value);
  slot_word seen;
  if (interested) seen = slot_word(word(slot).load(lane::relaxed));
  // Another turn means that somebody ran our continuation: the waiter's own word has changed.
  return progress(team, interested && seen.turn() == turn_of(ticket.value), slot, seen);
}

template <path Path>
template <class Team>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::help_slot(const Team& team, bool interested,
                                                            std::uint32_t slot) const {
  return progress(team, interested, slot, slot_word(interested ? word(slot).load(lane::relaxed) : 0));
}

/// `seen`: the slot's word a moment ago, of whatever turn. Who has nothing to run takes completions in, and
/// finishes them: what nobody waits for (pages asked for ahead, pages cleaned) would else stay unfinished
/// until the ring comes around.
template <path Path>
template <class Team>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::progress(const Team& team, bool interested,
                                                           std::uint32_t slot, slot_word seen) const {
  // On its way to us together with `seen`.
  const std::uint64_t gate = team.leads() ? lane::on_device(f_->words->gate).load(lane::relaxed) : 0;
  bool runs = interested && seen.state() == slot_state::done;
  arrivals before_it;
  if (!team.any(runs)) {
    const bool came =
        !lane::planted("queue.wait_without_reaping") && reap(team, gate, runs, slot, seen, before_it);
    if (!came && !find_lost(team, interested, slot, seen, runs)) return false;
  }
  run_continuations(team, runs, slot, seen);
  for (std::uint32_t k = 0; team.size() < most_at_once && team.any(k < before_it.count); ++k) {
    const bool has = k < before_it.count;
    const std::uint32_t its = has ? before_it.slots[k] : 0;
    const slot_word now(has ? word(its).load(lane::relaxed) : 0);  // the claim acquires
    run_continuations(team, has && now.state() == slot_state::done, its, now);
  }
  return true;
}

/// Now and then: whether the command in some lane's slot is lost, so that it `runs` its continuation; `seen`
/// is its word. One that is overdue fails the queue.
template <path Path>
template <class Team>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::find_lost(const Team& team, bool interested,
                                                            std::uint32_t slot, slot_word& seen,
                                                            bool& runs) const {
  if (!team.broadcast(lane::now_and_then())) return false;
  if (interested) seen = slot_word(word(slot).load(lane::relaxed));
  const bool in_flight = interested && seen.state() == slot_state::in_flight;
  runs = in_flight && is_lost(slot, seen);
  if (team.any(runs)) return true;
  if (in_flight && is_overdue(slot)) fail(slot, seen);
  return false;
}

template <path Path>
template <class Team>
SLUICE_HD inline void basic_queue_pair_ref<Path>::run_continuations(const Team& team, bool wanted,
                                                                    std::uint32_t slot,
                                                                    slot_word seen) const {
  status code = seen.code();
  if (wanted && seen.state() == slot_state::in_flight && code.is_ok() && !lane::planted("queue.lost_is_ok"))
    code = status::aborted;
  std::uint64_t expected = seen.bits();
  // Rule 6: one CAS decides who runs it. Acquire pairs with the reaper's publication: the answer's bytes are
  // visible.
  bool won = wanted && word(slot).compare_exchange(
                           expected, slot_word(seen.turn(), slot_state::claimed, seen.code()).bits(),
                           lane::order_of("queue.claim", lane::acquire));
  if (lane::planted("queue.claim_twice")) won = wanted;
  if (lane::planted("queue.free_first") && won)
    word(slot).store(slot_word(seen.turn() + 1, slot_state::free).bits(), lane::relaxed);
  copy_staged(team, won && code.is_ok(), slot);
  if (!won) return;
  const slot_record& record = f_->slots[slot];
  lane::fence_for_releases();
  if (!code.is_ok()) lane::on_device(*record.report_detail).store(code.bits(), lane::relaxed);
  // Release pairs with whoever waits on the word (rule 7): bytes, status and everything before are seen with
  // the change.
  lane::on_device(*record.report_word)
      .fetch_add(code.is_ok() ? record.on_ok : record.on_error,
                 lane::order_of("queue.report", lane::released));
  // Release pairs with the next occupant's turn wait: our reads of the record and of the staging bytes are
  // over.
  word(slot).store(slot_word(seen.turn() + 1, slot_state::free).bits(),
                   lane::order_of("queue.free", lane::released));
}

template <path Path>
template <class Team>
SLUICE_HD inline void basic_queue_pair_ref<Path>::copy_staged(const Team& team, bool wanted,
                                                              std::uint32_t slot) const {
  if (!is_staged()) return;
  lane::frame_copy mine;
  if (wanted) {
    const slot_record& record = f_->slots[slot];
    mine = {record.copy_to, staging(slot), record.copy_bytes};
  }
  if (!team.any(mine.frame != nullptr)) return;
  team.sync();  // the claimers' acquire comes before the other lanes' loads
  lane::fence_before_refill();
  lane::copy_into_frames(team, mine);
  team.sync();  // bytes that other lanes copied come before the claimer's report
}

/// Publishes what has come, if nobody else is at it; true where something had. All of it before anything is
/// finished: a drive that answers twice would else answer the slot's next command. `before`: the gate's word
/// a moment ago, in the leader. Lanes that published one `run` its continuation: then `slot` and `seen` are
/// that command's. Teams smaller than a warp look more than once: what lanes published before goes to
/// `earlier`.
template <path Path>
template <class Team>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::reap(const Team& team, std::uint64_t before, bool& runs,
                                                       std::uint32_t& slot, slot_word& seen,
                                                       arrivals& earlier) const {
  using state = completion_gate::state;
  auto gate = lane::on_device(f_->words->gate);
  bool got = false;
  if (team.leads()) {
    const completion_gate was(before);
    // Acquire pairs with the re-creation's release: who reaps in a new life sees its first turn. From holder
    // to holder nothing passes but the position, which is in the word itself.
    got = was.is(state::open) && gate.compare_exchange(before, was.with(state::held).bits(),
                                                       lane::order_of("queue.lock", lane::acquire));
    got |= lane::planted("queue.reap_without_lock");
  }
  if (!team.broadcast(got)) return false;
  team.sync();  // the leader's acquire comes before every lane's loads

  const std::uint64_t head = team.broadcast(completion_gate(before).head());
  const std::uint32_t window = depth() < most_at_once ? depth() : most_at_once;
  std::uint32_t reaped = 0;
  bool broken = false;
  while (true) {
    const std::uint32_t run = publish_run(team, head + reaped, window - reaped, runs, slot, seen);
    broken = broken || (team.rank() < run && !runs);
    reaped += run;
    if (team.size() >= most_at_once || run < team.size() || reaped == window) break;
    if (runs) earlier.slots[earlier.count++] = static_cast<std::uint16_t>(slot);
    runs = false;
  }
  broken = team.any(broken);
  team.sync();  // every lane's loads and publications come before the doorbell and the unlock
  if (team.leads()) unlock(head, head + reaped, broken);
  if (lane::planted("queue.leave_to_waiters")) runs = false, earlier.count = 0;
  return reaped > 0;
}

template <path Path>
SLUICE_HD inline void basic_queue_pair_ref<Path>::unlock(std::uint64_t head, std::uint64_t reaped_to,
                                                         bool broken) const {
  using state = completion_gate::state;
  // Entries are freed half a ring at a time: the drive needs room, not news, and each doorbell costs a wait
  // for its write. At least half the ring is always free or about to be reaped, so a drive that waits for
  // room gets it.
  const bool frees = (head ^ reaped_to) >= depth() / 2;  // some bit above that of half the depth changed
  if (frees && !lane::planted("queue.keep_entries"))
    lane::ring(f_->completion_bell, static_cast<std::uint32_t>(reaped_to) & f_->mask);
  if (lane::planted("queue.close_first") && broken) close();
  // After a doorbell release: the next holder's comes later. Else a GPU has nothing to order: the position
  // depends on our loads of the entries, which are so over before the watcher wipes them.
  auto gate = lane::on_device(f_->words->gate);
  const completion_gate next(reaped_to, broken ? state::lost : state::open);
  if (frees)
    gate.store(next.bits(), lane::order_of("queue.unlock", lane::release));
  else
    gate.store(next.bits(), lane::order_of("queue.unlock", lane::released));
  if (broken) close();  // last: once it is closed the queue may begin its next life
}

/// Publishes the contiguous run of new completions from position `from`, at most `limit` and one a lane.
/// Under the lock.
template <path Path>
template <class Team>
SLUICE_HD inline std::uint32_t basic_queue_pair_ref<Path>::publish_run(const Team& team, std::uint64_t from,
                                                                       std::uint32_t limit, bool& runs,
                                                                       std::uint32_t& slot,
                                                                       slot_word& seen) const {
  const std::uint64_t position = from + team.rank();
  std::uint32_t dword = 0;
  bool fresh = false;
  if (team.rank() < limit) {
    // Acquire pairs with the drive's post of the entry: its DMA of the data came before.
    dword = lane::on_system(f_->completion_ring[slot_of(position)].tail)
                .load(lane::order_of("queue.phase", lane::acquire));
    fresh = ((dword >> 16) & 1U) == phase_at(position);
  }
  const std::uint32_t run = leading_run(team, fresh);
  if (team.rank() < run) {
    runs = publish(dword, seen);
    slot = slot_of(dword & 0xffffU);
  }
  return run;
}

/// Hands one completion's status to its slot, whose word then is `now`; false where no command of ours can
/// have that completion.
template <path Path>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::publish(std::uint32_t tail_dword, slot_word& now) const {
  const std::uint32_t slot = slot_of(tail_dword & 0xffffU);
  // Relaxed: the CAS below carries the mark's release on to the claimer, as every read-modify-write does.
  std::uint64_t expected = word(slot).load(lane::relaxed);
  const slot_word seen(expected);
  // Commands in flight lie within one ring's length of the tail: 32 bits tell before from after. The tail is
  // ordered by the doorbell and the phase.
  const std::uint32_t ticket = (seen.turn() << f_->shift) | slot;
  const bool was_rung =
      before(ticket, static_cast<std::uint32_t>(lane::on_device(f_->words->tail).load(lane::relaxed)));
  // A second answer to an earlier command of the slot is not this one's.
  const bool is_its = (tail_dword & 0xffffU) == command_id(ticket) || lane::planted("queue.any_turns_answer");
  const bool owed =
      seen.state() == slot_state::in_flight && !before(seen.turn(), first_turn()) && was_rung && is_its;
  if (!owed && !lane::planted("queue.publish_unasked")) return false;
  now = slot_word(seen.turn(), slot_state::done, status::from_nvme(tail_dword >> 17));
  // Release pairs with the claimer's acquire: the data that we acquired with the phase are visible to it. A
  // CAS, not a store: the same id twice in one batch must not publish twice.
  if (lane::planted("queue.publish_by_store")) {
    word(slot).store(now.bits(), lane::relaxed);
    return true;
  }
  return word(slot).compare_exchange(expected, now.bits(), lane::order_of("queue.status", lane::release));
}

template <path Path>
SLUICE_HD inline std::uint32_t basic_queue_pair_ref<Path>::phase_at(std::uint64_t position) const {
  const std::uint32_t first = lane::planted("queue.phase_of_first_life") ? 0 : first_turn();
  const std::uint32_t turn = static_cast<std::uint32_t>(position) >> f_->shift;
  return ((turn - first) & 1U) ^ 1U;  // NVMe Base 2.0, 4.6: the first pass of a new queue posts 1
}

/// True where the command in this slot will never be answered (rule 9), so that its continuation may be
/// claimed (rule 10).
template <path Path>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::is_lost(std::uint32_t slot, slot_word seen) const {
  if (!life_is_over(seen)) return false;
  // Looked at again in order: whoever acquires a mark of the queue's new life sees that the queue is not
  // deleted any more.
  return word(slot).load(lane::order_of("queue.help", lane::acquire)) == seen.bits() && life_is_over(seen);
}

template <path Path>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::life_is_over(slot_word seen) const {
  // Acquire pairs with the watcher's release after the drive forgot the queue: no DMA comes any more. Read
  // before the first turn: the watcher writes that one first when it opens the queue again.
  const bool deleted =
      lane::on_device(f_->words->deleted).load(lane::order_of("queue.deleted", lane::acquire)) != 0;
  if (lane::planted("queue.no_quarantine") && seen.code() == status::timed_out) return true;
  if (lane::planted("queue.lost_only_while_deleted")) return deleted;
  return deleted ||
         before(
             seen.turn(),
             lane::on_device(f_->words->first_turn).load(lane::order_of("queue.first_turn", lane::acquire)));
}

template <path Path>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::is_overdue(std::uint32_t slot) const {
  const std::uint32_t age = coarse_now() - lane::on_device(f_->slots[slot].issued_at).load(lane::relaxed);
  if (lane::planted("queue.no_deadline")) return false;
  return static_cast<std::int32_t>(age) > 0 && (std::uint64_t{age} << coarse_shift) > f_->deadline_ns;
}

/// Rule 9: the command in `slot` went unanswered for too long; its queue is lost. Takes the completion gate
/// for good.
template <path Path>
SLUICE_HD inline void basic_queue_pair_ref<Path>::fail(std::uint32_t slot, slot_word seen) const {
  using state = completion_gate::state;
  auto gate = lane::on_device(f_->words->gate);
  std::uint64_t bits = gate.load(lane::relaxed);
  const completion_gate open(bits);
  if (!open.is(state::open) || !gate.compare_exchange(bits, open.with(state::lost).bits(),
                                                      lane::order_of("queue.lock", lane::acquire)))
    return;
  std::uint64_t expected = seen.bits();
  // It may have been answered meanwhile, or the gate may be that of the queue's next life, which an old
  // command must not fail; behind the gate nobody else publishes.
  const bool ours = lane::planted("queue.fail_old_life") || !is_lost(slot, seen);
  const std::uint64_t given_up = slot_word(seen.turn(), slot_state::in_flight, status::timed_out).bits();
  if (lane::planted("queue.fail_answered")) word(slot).exchange(expected = given_up, lane::relaxed);
  // Relaxed: it hands nothing over, and the mark's release goes on through it to the claimer.
  if (!ours || !word(slot).compare_exchange(expected, given_up, lane::relaxed)) {
    gate.store(open.bits(), lane::order_of("queue.unlock", lane::release));
    return;
  }
  close();
}

template <path Path>
SLUICE_HD inline void basic_queue_pair_ref<Path>::close() const {
  // Relaxed: the bit and the count of tickets are one word.
  const std::uint64_t before = lane::on_device(f_->words->ticket).fetch_or(closed_bit, lane::relaxed);
  if ((before & closed_bit) != 0) return;
  lane::on_device(f_->words->closed_at).store(before, lane::relaxed);
  lane::on_system(*f_->attention)
      // Release pairs with the watcher's poll, after which it reads closed_at.
      .store(1, lane::order_of("queue.attention", lane::release));
}

}  // namespace sluice::queue
