// The submitting half of queue_pair_ref: reserve, wait for the turn, fill, mark, ring.
#pragma once

#include "sluice/lane/bytes.h"
#include "sluice/lane/frame_copy.h"
#include "sluice/queue/queue_pair_ref.h"

namespace sluice::queue {

template <path Path>
template <class Team, class Make, class Note>
SLUICE_HD inline submission basic_queue_pair_ref<Path>::submit_made(const Team& team, bool active,
                                                                    const Make& make,
                                                                    const Note& note) const {
  io_ticket mine;
  // A team never holds more tickets than the ring has room for (depth - 1), so its own turn cannot wait on
  // itself.
  const std::uint32_t most = lane::planted("queue.batch_of_whole_ring") ? depth() : f_->mask;
  for (std::uint32_t rest = team.ballot(active); rest != 0;) {
    const bool waits = (rest & team.bit()) != 0;
    const bool now = waits && lane::bit_count(rest & (team.bit() - 1)) < most;
    const io_ticket given = submit_batch(team, now, make, note);
    if (now) mine = given;
    rest = team.ballot(waits && !now);
  }
  return {active && !mine.valid() ? status::aborted : status(), mine};
}

/// The calling lane's ticket; none where it is not active, or the queue closed first.
template <path Path>
template <class Team, class Make, class Note>
SLUICE_HD inline io_ticket basic_queue_pair_ref<Path>::submit_batch(const Team& team, bool active,
                                                                    const Make& make,
                                                                    const Note& note) const {
  const std::uint32_t actives = team.ballot(active);
  // Rule 1: reserve. Pairs with the watcher's release of the ticket word: the words of a re-created queue are
  // seen.
  std::uint64_t first = 0;
  if (team.leads())
    first = lane::on_device(f_->words->ticket)
                .fetch_add(lane::bit_count(actives), lane::order_of("queue.ticket", lane::acquire));
  first = team.broadcast(first);
  // What a closed queue hands out is no ticket, and no debt: its count ended with the bit.
  if ((first & closed_bit) != 0 && !lane::planted("queue.enter_closed")) return {};
  const std::uint64_t ticket = first + lane::bit_count(actives & (team.bit() - 1));
  if (!await_turn(team, active, ticket)) {
    if (team.leads()) leave(lane::bit_count(actives));
    return {};
  }

  io_request request;
  if (active) request = make();
  fill(team, active, command_id(static_cast<std::uint32_t>(ticket)), request);
  if (active) {
    note(io_ticket{ticket});
    // Rule 4, the mark: entry and record become visible with it. Pairs with the combiner's and the reaper's
    // acquire.
    word(slot_of(ticket))
        .store(slot_word(turn_of(ticket), slot_state::in_flight).bits(),
               lane::order_of("queue.mark", lane::release));
  }

  team.sync();  // all marks of the team come before its leader's arrival
  bool combiner = false;
  if (team.leads()) {
    // Arrivals in the high half, one team in the low half. Release: our marks are seen by the combiner that
    // counts us; acquire: as combiner we see the tail that the last one left, and the marks of teams that it
    // did not count.
    const std::uint64_t arrivals = lane::planted("queue.no_arrival") ? 0 : lane::bit_count(actives);
    const std::uint64_t before =
        lane::on_device(f_->words->pending)
            .fetch_add((arrivals << 32) + 1, lane::order_of("queue.pending", lane::acq_rel));
    combiner = static_cast<std::uint32_t>(before) == 0;
  }
  if (team.broadcast(combiner)) combine(team, first, lane::bit_count(actives));
  return active ? io_ticket{ticket} : io_ticket{};
}

template <path Path>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::turn_has_come(std::uint64_t ticket, std::uint32_t first,
                                                                slot_word own, slot_word next) const {
  const std::uint32_t turn = turn_of(ticket);
  // A slot that was last used before the queue's present life counts as free for its first turn.
  const bool own_free = own.state() == slot_state::free &&
                        (own.turn() == turn || (turn == first && before(own.turn(), turn) &&
                                                !lane::planted("queue.old_life_in_the_way")));
  if (lane::planted("queue.skip_next_slot")) return own_free;
  // Rule 2: the next slot is free too, so at most depth - 1 are in flight and a full ring never looks empty.
  const std::uint32_t next_turn = turn_of(ticket + 1);
  return own_free && (!before(next.turn(), next_turn) || !before(first, next_turn));
}

template <path Path>
template <class Team>
SLUICE_HD inline bool basic_queue_pair_ref<Path>::await_turn(const Team& team, bool active,
                                                             std::uint64_t ticket) const {
  const std::uint32_t own_slot = slot_of(ticket);
  const std::uint32_t next_slot = slot_of(ticket + 1);
  for (std::uint32_t looks = 1;; ++looks) {
    // All three words are under way to us at once. Relaxed: the next slot only counts, nothing of it is
    // touched.
    const std::uint32_t first = first_turn();
    const slot_word next(active ? word(next_slot).load(lane::relaxed) : 0);
    // Acquire pairs with the release that freed the slot: its last occupant's reads are over before we write.
    const slot_word own(active ? word(own_slot).load(lane::order_of("queue.turn", lane::acquire)) : 0);
    const bool ready = !active || turn_has_come(ticket, first, own, next);
    if (lane::planted("queue.skip_turn") || team.all(ready)) return true;
    if (team.broadcast(!is_open()) && !lane::planted("queue.stay_when_closed")) return false;
    // Rule 8: whoever waits helps; the occupants of both slots stand in the way.
    const bool own_busy = !ready && own.state() != slot_state::free;
    const bool next_busy = !ready && !own_busy && next.state() != slot_state::free;
    if (!lane::planted("queue.idle_turn_wait"))
      progress(team, own_busy || next_busy, own_busy ? own_slot : next_slot, own_busy ? own : next);
    // No budget of its own: a ticket is a debt (rule 9), which the queue's deadline ends.
    if (team.leads()) lane::pause(looks);
  }
}

template <path Path>
template <class Team>
SLUICE_HD inline void basic_queue_pair_ref<Path>::fill(const Team& team, bool active, std::uint16_t id,
                                                       const io_request& request) const {
  const std::uint32_t slot = slot_of(id);
  if (is_staged()) stage(team, active && sends_data(request.op) && request.bytes > 0, slot, request);
  if (!active) return;
  const bool copies = is_staged() && request.op == nvme::opcode::read;
  slot_record& record = f_->slots[slot];
  record.copy_to = copies ? request.data : nullptr;
  record.copy_bytes = copies ? request.bytes : 0;
  record.report_word = request.to.word;
  record.report_detail = request.to.detail;
  record.on_ok = request.to.on_ok;
  record.on_error = request.to.on_error;
  write_entry(id, request);
  lane::on_device(record.issued_at).store(coarse_now(), lane::relaxed);
}

template <path Path>
template <class Team>
SLUICE_HD inline void basic_queue_pair_ref<Path>::stage(const Team& team, bool active, std::uint32_t slot,
                                                        const io_request& request) const {
  std::uint32_t rest = team.ballot(active);
  if (rest == 0) return;
  team.sync();  // what each lane wrote comes before the other lanes' copies of it
  std::byte* const to = staging(slot);
  for (; rest != 0; rest &= rest - 1) {
    const std::uint32_t bit = rest & (~rest + 1);
    lane::copy_from_frame(team, team.of(to, bit), team.of(request.data, bit), team.of(request.bytes, bit));
  }
  team.sync();  // the bytes that other lanes staged come before our mark
}

template <path Path>
SLUICE_HD inline void basic_queue_pair_ref<Path>::write_entry(std::uint16_t id,
                                                              const io_request& request) const {
  const std::uint32_t slot = slot_of(id);
  const prp_pair data =
      is_staged() && request.bytes > 0 ? f_->staging_prps.of(slot, request.bytes) : request.prps;
  lane::store_wide(f_->submission_ring[slot],
                   request.blocks == 0 ? nvme::flush_command(id, f_->nsid)
                                       : nvme::block_command(request.op, id, f_->nsid, request.first,
                                                             request.blocks, data.first, data.second));
}

template <path Path>
template <class Team>
SLUICE_HD inline void basic_queue_pair_ref<Path>::combine(const Team& team, std::uint64_t own,
                                                          std::uint32_t count) const {
  std::uint64_t told = team.broadcast(lane::on_device(f_->words->tail).load(lane::relaxed));
  // The team knows of its own marks.
  std::uint64_t tail = told == own || lane::planted("queue.ring_past_others") ? own + count : told;
  std::uint32_t counted = 1;
  while (true) {
    const std::uint64_t reached = advance_over_marks(team, tail);
    if (reached != told) {
      tail = told = reached;
      team.sync();  // every lane's acquire of a mark comes before the doorbell
      if (team.leads()) {
        if (!lane::planted("queue.tail_not_kept"))
          lane::on_device(f_->words->tail).store(tail, lane::relaxed);
        const std::uint32_t mask = lane::planted("queue.ring_unwrapped") ? ~0U : f_->mask;
        lane::ring(f_->submission_bell, static_cast<std::uint32_t>(tail) & mask);
      }
    }
    if (lane::planted("queue.combine_once")) {
      if (team.leads())
        lane::on_device(f_->words->pending)
            .fetch_and(~std::uint64_t{0xffffffffU}, lane::order_of("queue.handover", lane::acq_rel));
      return;
    }
    // Release: the tail is handed to the next combiner; acquire: marks of teams that arrived meanwhile are
    // seen.
    std::uint32_t rest = 0;
    if (team.leads())
      rest = static_cast<std::uint32_t>(
                 lane::on_device(f_->words->pending)
                     .fetch_sub(counted, lane::order_of("queue.handover", lane::acq_rel))) -
             counted;
    rest = team.broadcast(rest);
    if (rest == 0) return;
    counted = rest;
  }
}

template <path Path>
template <class Team>
SLUICE_HD inline std::uint64_t basic_queue_pair_ref<Path>::advance_over_marks(const Team& team,
                                                                              std::uint64_t tail) const {
  while (true) {
    const std::uint64_t ticket = tail + team.rank();
    // Pairs with the mark: the entry is visible to the drive once we ring.
    const slot_word seen(word(slot_of(ticket)).load(lane::order_of("queue.tail_scan", lane::acquire)));
    const std::uint32_t run = leading_run(team, seen.is(turn_of(ticket), slot_state::in_flight));
    tail += run;
    if (run < team.size()) return tail;
  }
}

template <path Path>
SLUICE_HD inline void basic_queue_pair_ref<Path>::leave(std::uint32_t count) const {
  lane::on_device(f_->words->left).fetch_add(count, lane::relaxed);
  // Release: pairs with the watcher's look at arrivals, after which it reads `left` and re-creates the queue.
  const std::uint64_t arrivals = lane::planted("queue.leave_without_arrival") ? 0 : count;
  lane::on_device(f_->words->pending).fetch_add(arrivals << 32, lane::order_of("queue.leave", lane::release));
}

}  // namespace sluice::queue
