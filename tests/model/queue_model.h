// The queue protocol of design section 4 as a state machine: lanes, one drive and the watcher, every step
// that another can see.
#pragma once

#include <cstdint>

#include "tests/model/engine.h"

namespace sluice::model {

/// Each is a mistake that an early version of the protocol made, or could: planted, the model must show what
/// breaks.
enum class queue_fault : std::uint8_t {
  none,
  no_turn_wait,                   ///< a ticket's slot is filled without looking whether it is free
  no_next_slot_rule,              ///< own slot free is enough: a full ring looks empty
  marks_before_the_entry,         ///< the mark precedes the 64 bytes it announces
  combiner_stops_early,           ///< subtracts from `pending` and returns, whatever is left
  rings_the_unwrapped_tail,       ///< doorbell is not tail mod depth
  turn_wait_does_not_reap,        ///< a lane in the turn wait neither reaps nor claims
  reaps_without_lock,             ///< two lanes read the same completion entry
  ignores_the_phase,              ///< takes an entry that the drive has not written
  never_rings_the_completions,    ///< the drive's completion ring fills up
  claims_without_cas,             ///< two lanes run one continuation
  frees_before_the_continuation,  ///< the slot's record is reused while it is being read
  waiter_watches_the_slot,        ///< looks for the slot's status in place of its own word
  fails_without_looking_again,    ///< marks the slot timed out though it was answered before the lock was won
  times_out_a_lost_slot,       ///< does not look under the lock whether the slot belongs to an earlier life
  failure_leaves_the_lock,     ///< the completion lock is not kept: a reaper works while the queue is rebuilt
  closed_bit_in_its_own_word,  ///< a lane can take a ticket without learning that the queue has closed
  late_takers_owe,          ///< who takes a ticket after closing arrives for it, though nobody waits for that
  leaves_without_arriving,  ///< a lane that leaves the turn wait does not pay its debt
  arrives_before_pending,   ///< arrivals and `pending` in two additions
  watcher_does_not_wait,    ///< deletes and re-creates while lanes hold tickets
  counts_late_takers,       ///< the watcher waits for tickets that were taken after closing
  claims_before_deletion,   ///< a closed queue's commands count as aborted while the drive still has them
  aborts_at_failure,  ///< one pass over the slots when the queue fails, in place of the rule for lost slots
  reads_deleted_before_word,      ///< looks whether the queue is deleted, then at the slot: it may be a new
                                  ///< life's
  restarts_at_turn_zero,          ///< the re-created queue reuses turns
  first_turn_not_beyond,          ///< the first turn is one that tickets of the old life had
  wipes_the_slots,                ///< re-creation frees slots whose continuation still runs
  opens_before_rebuilding,        ///< tickets are given out while the rings are still those of the old life
  opens_before_clearing_deleted,  ///< new commands look lost
};

struct queue_setup {
  int depth = 2;
  int lanes = 2;
  int team = 1;  ///< commands that a lane submits together
  int rounds = 1;
  int lost = -1;          ///< the command (counted in order of filling) that the drive never answers
  int failures = 0;       ///< how often lanes may declare the queue failed, rightly or not
  bool prefetch = false;  ///< all rounds but the last are left without waiting for their result
};

struct queue_state {
  static constexpr int max_depth = 4;
  static constexpr int max_lanes = 3;
  static constexpr int max_team = 2;
  static constexpr int max_commands = 16;

  struct slot {  // turn, state and status are one word of the implementation
    std::uint8_t turn, state, status;
    std::uint8_t entry;            // the 64 bytes in the ring: number of the command + 1
    std::uint8_t command, target;  // the continuation's record: whose word to add to
  };
  struct lane {
    std::uint8_t at, round, ticket, marked, batch;
    std::uint8_t word[max_team], command[max_team];  // results, and numbers of the commands + 1
    std::uint8_t helping, slot, turn, state, status, claimed;
  };
  struct drive {
    std::uint8_t alive, first_turn, fetched, doorbell, written, phase, completions_doorbell;
    std::uint8_t working[max_depth];  // command + 1, by slot
  };

  std::uint8_t tickets, closed, closed_at, called, arrivals, pending, tail, lock, deleted, first_turn;
  std::uint8_t failures, commands, watcher;
  std::uint8_t entry_slot[max_depth], entry_phase[max_depth], reaped, phase;
  std::uint8_t executed[max_commands];
  slot slots[max_depth];
  drive disk;
  lane lanes[max_lanes];
};

class queue_model {
 public:
  using state = queue_state;
  explicit queue_model(queue_setup setup, queue_fault fault = queue_fault::none)
      : setup_(setup), fault_(fault) {}

  state start() const;
  bool finished(const state& s) const;
  void steps(const state& s, moves<state>& out) const;

 private:
  bool has(queue_fault f) const { return fault_ == f; }
  int slot_of(int ticket) const { return ticket % setup_.depth; }
  int turn_of(int ticket) const { return ticket / setup_.depth; }
  bool lost(const state& s, int slot) const;
  bool claimable(const state& s, int slot) const;
  bool slot_is_mine(const state& s, int ticket) const;
  bool slot_before_is_gone(const state& s, int ticket) const;
  bool turn_has_come(const state& s, int ticket) const;

  void submit(const state& s, int i, moves<state>& out) const;
  void take_ticket(const state& s, int i, moves<state>& out) const;
  void wait_for_turn(const state& s, int i, moves<state>& out) const;
  void fill(const state& s, int i, moves<state>& out) const;
  void mark(const state& s, int i, moves<state>& out) const;
  void combine(const state& s, int i, moves<state>& out) const;
  void wait_for_result(const state& s, int i, moves<state>& out) const;
  void take_result(const state& s, int i, moves<state>& out) const;

  void help(const state& s, int i, int slot, moves<state>& out) const;
  void continue_helping(const state& s, int i, moves<state>& out) const;
  void reap(const state& s, int i, moves<state>& out) const;
  void claim(const state& s, int i, moves<state>& out) const;
  void fail(const state& s, int i, moves<state>& out) const;

  void serve(const state& s, moves<state>& out) const;
  void watch(const state& s, moves<state>& out) const;
  int next_first_turn(const state& s) const;
  void recreate(state& s) const;

  queue_setup setup_;
  queue_fault fault_;
};

}  // namespace sluice::model
