// Lanes' view of a queue pair: put commands on it, find out what became of them, no CPU on the path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/lane/doorbell.h"
#include "sluice/lane/mutant.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"
#include "sluice/nvme/command.h"
#include "sluice/queue/io_request.h"
#include "sluice/queue/prp_table.h"
#include "sluice/queue/queue_words.h"
#include "sluice/queue/slot_word.h"

namespace sluice::queue {

/// What submit() did for the calling lane.
struct submission {
  status code;       ///< ok, or aborted: the queue closed first, nothing was started, no report will come
  io_ticket ticket;  ///< valid where ok and the lane was active
};

/// For submit(): leaves no hint anywhere.
struct no_note {
  SLUICE_HD void operator()(io_ticket /*ticket*/) const {}
};

/// Where everything of a queue pair lies; filled by its owner, in memory that lanes reach.
struct queue_fields {
  queue_words* words = nullptr;
  slot_record* slots = nullptr;
  nvme::submission_entry* submission_ring = nullptr;
  nvme::completion_entry* completion_ring = nullptr;
  lane::doorbell submission_bell;
  lane::doorbell completion_bell;
  std::byte* staging = nullptr;        // slot 0's staging bytes, as lanes see them; null on the peer path
  prp_table_ref staging_prps;          // the same as the drive sees them, one piece a slot
  std::uint32_t* attention = nullptr;  // the watcher's word, in memory that the host polls
  std::uint64_t deadline_ns = 0;
  std::uint32_t mask = 0;   // depth - 1
  std::uint32_t shift = 0;  // log2(depth)
  std::uint32_t nsid = 1;
  std::uint32_t id = 0;
};

/// Known while compiling, the path leaves out the code of the other.
enum class path : std::uint8_t {
  any,     ///< whichever the queue has
  peer,    ///< the drive's DMA lands in the lanes' own memory
  staged,  ///< it lands in the slot's staging bytes, and lanes copy
};

/// One pointer, copied freely; made by queue_pair::ref(). The protocol is design section 4; comments name
/// its rules. All calls are made by every lane of the team together.
template <path Path = path::any>
class basic_queue_pair_ref {
 public:
  basic_queue_pair_ref() = default;
  SLUICE_HD constexpr explicit basic_queue_pair_ref(const queue_fields* fields) : f_(fields) {}

  /// Puts the requests of the active lanes on the ring and rings the drive; returns before they are answered.
  /// `note(ticket)` runs in each active lane after its turn has come and before its command can finish.
  /// Lanes:  any team.
  /// Order:  what the team wrote before is in what a write sends; a frame's word must say loading before its
  /// read comes here. Waits:  for its turn on a full ring, helping others meanwhile; the queue's deadline
  /// ends it at the latest. Errors: aborted where the queue closed before the turn came: nothing was started.
  template <class Team, class Note = no_note>
  SLUICE_HD submission submit(const Team& team, bool active, const io_request& request,
                              const Note& note = {}) const {
    return submit_made(
        team, active, [&request] { return request; }, note);
  }

  /// The same with a request that `make()` builds in each active lane once its turn has come: while it waits,
  /// a lane need not keep it in registers.
  template <class Team, class Make, class Note = no_note>
  SLUICE_HD submission submit_made(const Team& team, bool active, const Make& make,
                                   const Note& note = {}) const;

  /// One look's worth of progress for lanes that wait for `ticket` (rule 8): runs its continuation where it
  /// was answered or lost, else reaps, else fails the queue where the command has been in flight for longer
  /// than its deadline. True where something moved: then another look may pay at once.
  template <class Team>
  SLUICE_HD bool help(const Team& team, bool interested, io_ticket ticket) const;

  /// The same for whatever command holds `slot`, for lanes that know no more than that.
  template <class Team>
  SLUICE_HD bool help_slot(const Team& team, bool interested, std::uint32_t slot) const;

  /// True while the queue takes commands.
  SLUICE_HD bool is_open() const {
    return (lane::on_device(f_->words->ticket).load(lane::relaxed) & closed_bit) == 0;
  }
  /// True where it is closed and will not come back.
  SLUICE_HD bool is_dead() const { return lane::on_device(f_->words->dead).load(lane::relaxed) != 0; }
  SLUICE_HD std::uint32_t depth() const { return f_->mask + 1; }
  /// The slot of a ticket.
  SLUICE_HD std::uint32_t slot(io_ticket ticket) const { return slot_of(ticket.value); }
  SLUICE_HD bool is_staged() const {
    if constexpr (Path == path::any) return f_->staging != nullptr;
    return Path == path::staged;
  }
  /// NVMe queue identifier.
  SLUICE_HD std::uint32_t id() const { return f_->id; }

 private:
  // Where a ticket goes: its slot of the ring and its turn there.
  SLUICE_HD std::uint32_t slot_of(std::uint64_t ticket) const {
    return static_cast<std::uint32_t>(ticket) & f_->mask;
  }
  SLUICE_HD std::uint32_t turn_of(std::uint64_t ticket) const {
    return static_cast<std::uint32_t>(ticket >> f_->shift);
  }
  /// Rule 3: 15 bits of the ticket (the 16th stays clear: a drive may not like ffff): the slot, and as many
  /// of its turn as there is room for. So an answer to an earlier turn is told from this one's.
  SLUICE_HD static std::uint16_t command_id(std::uint32_t ticket) {
    return static_cast<std::uint16_t>(ticket & 0x7fffU);
  }
  SLUICE_HD lane::device_ref<std::uint64_t> word(std::uint32_t slot) const {
    return lane::on_device(f_->slots[slot].word);
  }
  SLUICE_HD std::byte* staging(std::uint32_t slot) const {
    return f_->staging + std::uint64_t{slot} * f_->staging_prps.stride;
  }
  SLUICE_HD std::uint32_t first_turn() const {
    return lane::on_device(f_->words->first_turn).load(lane::relaxed);
  }

  // detail/submission.h
  template <class Team, class Make, class Note>
  SLUICE_HD io_ticket submit_batch(const Team& team, bool active, const Make& make, const Note& note) const;
  template <class Team>
  SLUICE_HD bool await_turn(const Team& team, bool active, std::uint64_t ticket) const;
  SLUICE_HD bool turn_has_come(std::uint64_t ticket, std::uint32_t first, slot_word own,
                               slot_word next) const;
  template <class Team>
  SLUICE_HD void fill(const Team& team, bool active, std::uint16_t id, const io_request& request) const;
  template <class Team>
  SLUICE_HD void stage(const Team& team, bool active, std::uint32_t slot, const io_request& request) const;
  SLUICE_HD void write_entry(std::uint16_t id, const io_request& request) const;
  template <class Team>
  SLUICE_HD void combine(const Team& team, std::uint64_t own, std::uint32_t count) const;
  template <class Team>
  SLUICE_HD std::uint64_t advance_over_marks(const Team& team, std::uint64_t tail) const;
  SLUICE_HD void leave(std::uint32_t count) const;

  // detail/completion.h
  /// Completions that a team takes in together: a whole warp by one look.
  static constexpr std::uint32_t most_at_once = 32;
  /// Slots whose commands a lane has found answered.
  struct arrivals {
    std::uint32_t count = 0;
    std::uint16_t slots[most_at_once - 1];
  };
  template <class Team>
  SLUICE_HD bool progress(const Team& team, bool interested, std::uint32_t slot, slot_word seen) const;
  template <class Team>
  SLUICE_HD void run_continuations(const Team& team, bool wanted, std::uint32_t slot, slot_word seen) const;
  template <class Team>
  SLUICE_HD void copy_staged(const Team& team, bool wanted, std::uint32_t slot) const;
  template <class Team>
  SLUICE_HD bool find_lost(const Team& team, bool interested, std::uint32_t slot, slot_word& seen,
                           bool& runs) const;
  template <class Team>
  SLUICE_HD bool reap(const Team& team, std::uint64_t before, bool& runs, std::uint32_t& slot,
                      slot_word& seen, arrivals& earlier) const;
  template <class Team>
  SLUICE_HD std::uint32_t publish_run(const Team& team, std::uint64_t from, std::uint32_t limit, bool& runs,
                                      std::uint32_t& slot, slot_word& seen) const;
  SLUICE_HD bool publish(std::uint32_t tail_dword, slot_word& now) const;
  SLUICE_HD std::uint32_t phase_at(std::uint64_t position) const;
  SLUICE_HD bool is_lost(std::uint32_t slot, slot_word seen) const;
  SLUICE_HD bool life_is_over(slot_word seen) const;
  SLUICE_HD void unlock(std::uint64_t head, std::uint64_t reaped_to, bool broken) const;
  SLUICE_HD bool is_overdue(std::uint32_t slot) const;
  SLUICE_HD void fail(std::uint32_t slot, slot_word seen) const;
  SLUICE_HD void close() const;

  const queue_fields* f_ = nullptr;
};

using queue_pair_ref = basic_queue_pair_ref<path::any>;

/// Ranks from 0 up whose lanes all say yes: how far a contiguous run reaches.
template <class Team>
SLUICE_HD inline std::uint32_t leading_run(const Team& team, bool yes) {
  const std::uint32_t no = team.mask() & ~team.ballot(yes);
  if (no == 0) return team.size();
  return lane::bit_count(team.mask() & ((no & (~no + 1)) - 1));
}

}  // namespace sluice::queue

#include "sluice/queue/detail/completion.h"
#include "sluice/queue/detail/submission.h"
