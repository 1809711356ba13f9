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

/// Everybody who took a ticket before the queue closed has marked or left; then the drive forgets it, and a
/// new life begins.
void queue_model::watch(const state& s, moves<state>& out) const {
  state n = s;
  switch (s.watcher) {
    case idle: {
      const int owed = has(counts_late_takers) ? s.tickets : s.closed_at;
      const bool all_arrived = s.arrivals == owed && s.pending == 0;
      if (!s.called || (!all_arrived && !has(watcher_does_not_wait))) return;
      n.called = 0;
      n.watcher = deleting;
      return out.add(n, {"watcher finds that all have arrived"});
    }
    case deleting:
      n.disk = {};
      n.watcher = telling;
      return out.add(n, {"watcher deletes the queue on the drive"});
    case telling:
      n.deleted = 1;
      n.watcher = has(opens_before_rebuilding) ? opening : rebuilding;
      return out.add(n, {"watcher says that it is deleted"});
    case rebuilding:
      recreate(n);
      n.watcher = has(opens_before_clearing_deleted) ? unlocking : untelling;
      return out.add(n, {"watcher re-creates the queue at first turn", -1, n.first_turn});
    case untelling:
    case untelling_late:
      n.deleted = 0;
      n.watcher = s.watcher == untelling ? unlocking : idle;
      return out.add(n, {"watcher says that it lives"});
    case unlocking:
      n.lock = 0;
      n.watcher = has(opens_before_rebuilding) ? idle : opening;
      return out.add(n, {"watcher gives the completion lock back"});
    default:  // a store: what the closed word handed out since is nobody's
      n.tickets = next_first_turn(s) * setup_.depth;
      n.closed = 0;
      n.watcher = has(opens_before_rebuilding)         ? rebuilding
                  : has(opens_before_clearing_deleted) ? untelling_late
                                                       : idle;
      return out.add(n, {"watcher opens the queue"});
  }
}

int queue_model::next_first_turn(const state& s) const {
  if (has(restarts_at_turn_zero)) return 0;
  return turn_of(s.closed_at) + (has(first_turn_not_beyond) ? 0 : 1);
}

/// Ring index 0 at the first turn that no ticket has had; slots keep their words.
void queue_model::recreate(state& s) const {
  s.first_turn = next_first_turn(s);
  s.arrivals = s.tail = s.first_turn * setup_.depth;
  s.pending = 0;
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
}

}  // namespace sluice::model
