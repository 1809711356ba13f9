// What the drive and the host's watcher do in the queue model.
#include "tests/model/queue_model.h"
#include "tests/model/queue_model_words.h"

namespace sluice::model {

using enum queue_fault;

/// A drive that trusts its doorbells, fetches in order, and completes in any order.
void queue_model::serve(const state& s, moves<state>& out) const {
  if (!s.disk.alive) return;
  const int depth = setup_.depth;
  const int slot = s.disk.fetched % depth;
  if (slot != s.disk.doorbell) {
    const auto& x = s.slots[slot];
    const bool marked = x.state == in_flight && x.turn == s.disk.first_turn + s.disk.fetched / depth;
    if (!marked || x.entry != x.command + 1 || x.entry == 0 || s.disk.working[slot] != 0)
      return out.violate("the drive fetches an entry that nobody announced",
                         {"drive fetches slot", -1, slot});
    state n = s;
    n.disk.working[slot] = x.entry;
    ++n.disk.fetched;
    out.add(n, {"drive fetches slot", -1, slot});
  }
  for (int k = 0; k < depth; ++k) {
    const int command = s.disk.working[k] - 1;
    const bool room = (s.disk.written + 1) % depth != s.disk.completions_doorbell;
    if (command < 0 || command == setup_.lost || !room) continue;
    state n = s;
    n.executed[command] = 1;
    n.entry_slot[s.disk.written] = static_cast<std::uint8_t>(k);
    n.entry_phase[s.disk.written] = s.disk.phase;
    n.disk.written = (s.disk.written + 1) % depth;
    if (n.disk.written == 0) n.disk.phase ^= 1;
    n.disk.working[k] = 0;
    out.add(n, {"drive completes slot", -1, k});
  }
}

/// Everybody who took a ticket has marked or left; then the drive forgets the queue, and a new life begins.
void queue_model::watch(const state& s, moves<state>& out) const {
  state n = s;
  switch (s.watcher) {
    case idle: {
      if (!s.closed) return;
      n.watcher = has(watcher_does_not_wait) ? deleting : comparing;
      if (has(watcher_reads_tickets_first)) {
        n.seen = s.tickets;
      } else {
        if (s.pending != 0 && !has(watcher_does_not_wait)) return;
        n.seen = s.arrivals;
      }
      return out.add(n, {"watcher reads the first of arrivals and tickets"});
    }
    case comparing: {
      const bool equal =
          has(watcher_reads_tickets_first) ? s.arrivals == s.seen && s.pending == 0 : s.tickets == s.seen;
      n.watcher = equal ? deleting : idle;
      n.seen = 0;
      return out.add(n, {equal ? "watcher finds that all have arrived" : "watcher finds some on their way"});
    }
    case deleting:
      n.disk = {};
      n.watcher = telling;
      n.seen = 0;
      return out.add(n, {"watcher deletes the queue on the drive"});
    case telling:
      n.deleted = 1;
      n.watcher = rebuilding;
      return out.add(n, {"watcher says that it is deleted"});
    case rebuilding:
      recreate(n);
      return out.add(n, {"watcher re-creates the queue at first turn", -1, n.first_turn});
    case untelling:
      n.deleted = 0;
      if (has(gives_the_lock_back_early)) n.lock = 0;
      n.watcher = opening;
      return out.add(n, {"watcher says that it lives"});
    case opening:
      if (s.tickets != s.seen && !has(reopens_by_store)) {
        n.watcher = rebuilding;
        return out.add(n, {"watcher finds another ticket taken"});
      }
      n.tickets = s.first_turn * setup_.depth;
      n.closed = 0;
      n.watcher = settling;
      return out.add(n, {"watcher opens the queue"});
    case settling:
      if (has(resets_arrivals_by_store))
        n.arrivals = s.first_turn * setup_.depth;
      else
        n.arrivals += s.first_turn * setup_.depth - s.seen;
      n.seen = 0;
      n.watcher = unlocking;
      return out.add(n, {"watcher settles the arrivals"});
    default:  // last: whoever wins the lock now may fail the queue again
      if (!has(gives_the_lock_back_early)) n.lock = 0;
      n.watcher = idle;
      return out.add(n, {"watcher gives the completion lock back"});
  }
}

/// Ring index 0 at the first turn that no ticket has had; slots keep their words.
void queue_model::recreate(state& s) const {
  s.seen = s.tickets;
  s.first_turn = turn_of(s.tickets) + 1;
  if (has(first_turn_not_beyond)) s.first_turn = turn_of(s.tickets);
  if (has(restarts_at_turn_zero)) s.first_turn = 0;
  s.tail = s.first_turn * setup_.depth;
  s.reaped = 0;
  s.phase = 1;
  for (int k = 0; k < setup_.depth; ++k) {
    s.entry_slot[k] = s.entry_phase[k] = 0;
    if (has(wipes_the_slots)) s.slots[k] = {s.first_turn, is_free, no_status, 0, 0, 0};
  }
  s.disk = {};
  s.disk.alive = 1;
  s.disk.phase = 1;
  s.disk.first_turn = s.first_turn;
  s.watcher = untelling;
}

}  // namespace sluice::model
