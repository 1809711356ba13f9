// The lanes' side of the comparator cpu-served: pages are looked up in a table in GPU memory, and those that
// are not there are asked of CPU threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/types.h"
#include "tools/sluice/comparators/block_kernel.h"

namespace sluice::tool {

/// A page that some team wants, in a ring in pinned memory.
struct served_request {
  std::uint64_t page;
  std::uint32_t asker;  ///< the team
  std::uint32_t turn;   ///< its number in the ring, from 1: the last word to be written
};

/// A word on a line of its own: neighbours belong to others.
struct alignas(line_bytes) served_word {
  std::uint32_t value;
};

// The word of a page: references in the low bits, as GPUfs counts them; whether somebody brings it, or has
// brought it; whether it is here.
inline constexpr std::uint32_t page_asked = std::uint32_t{1} << 30;
inline constexpr std::uint32_t page_here = std::uint32_t{1} << 31;

struct served_job {
  block_round round;
  std::uint32_t* table;  ///< a word a page of the span
  std::byte* frames;     ///< one a page
  std::byte* pieces;     ///< one a team
  const sector_truth* truth;
  block_tally* tally;
  /// A ring a server, which answers in order. A team has one request at most, and there is room for all.
  served_request* requests;
  served_word* tickets;  ///< of each ring, in GPU memory
  served_word* answers;  ///< of each team, in GPU memory: how many of its requests are answered
  std::uint32_t servers;
  std::uint32_t ring_depth;   ///< a power of two
  std::uint64_t patience_ns;  ///< that a request may stay unanswered
  std::uint32_t block_bytes;
};

template <class Team, io_check Check>
struct served_kernel {
  served_job job;

  SLUICE_HD static std::uint32_t index() {
    return static_cast<std::uint32_t>(lane::grid_index() / team_lanes<Team>);
  }

  SLUICE_HD void operator()() const {
    const Team team = io_kernel<queue::path::peer, Team, Check>::own_team();
    std::byte* const piece = job.pieces + std::uint64_t{index()} * piece_bytes;
    block_tally mine{};
    std::uint32_t asked = 0;
    each_block(team, job.round, [&](std::uint64_t n) {
      const std::uint64_t page = job.round.order.at(n);
      bool here = false;
      if (team.leads()) here = pin(page, asked);
      here = team.broadcast(here);
      team.sync();  // what the leader has acquired is seen by all
      if (here) {
        const bool good =
            is_true_block<Check>(team, job.frames + page * job.block_bytes, piece,
                                 job.truth + page * (job.block_bytes / sector_bytes), job.block_bytes);
        ++mine.blocks;
        mine.wrong += good ? 0 : 1;
      } else {
        ++mine.unanswered;
      }
      // Nobody evicts: the reference orders nothing.
      if (team.leads()) lane::on_device(job.table[page]).fetch_sub(1, lane::relaxed);
      return here;  // whoever was not answered has a request in the ring still, and asks no more
    });
    if (!team.leads()) return;
    lane::on_device(job.tally->blocks).fetch_add(mine.blocks, lane::relaxed);
    lane::on_device(job.tally->wrong).fetch_add(mine.wrong, lane::relaxed);
    lane::on_device(job.tally->unanswered).fetch_add(mine.unanswered, lane::relaxed);
  }

  /// Takes a reference to the page, and brings it where it is not here. False where nobody answers in time.
  SLUICE_HD bool pin(std::uint64_t page, std::uint32_t& asked) const {
    const auto entry = lane::on_device(job.table[page]);
    // Acquire pairs with the release below, of whichever team brought the page: its bytes are in the frame.
    const std::uint32_t before = entry.fetch_add(1, lane::acquire);
    if ((before & page_here) != 0) return true;
    if ((entry.fetch_or(page_asked, lane::relaxed) & page_asked) == 0) {
      if (!bring(page, ++asked)) return false;
      // Release pairs with the acquires of the others: what bring() acquired of the server is theirs too.
      entry.fetch_or(page_here, lane::release);
      return true;
    }
    lane::budget budget(job.patience_ns, job.round.stop);
    while ((entry.load(lane::acquire) & page_here) == 0)
      if (budget.spent()) return false;
    return true;
  }

  /// Asks a server for the page, and waits for its answer.
  SLUICE_HD bool bring(std::uint64_t page, std::uint32_t asked) const {
    const std::uint32_t server = index() % job.servers;
    // Acquire pairs with the releases of the tickets before: of as many tickets as the ring has places, and
    // one, some team has taken two, and had the answer to its first, which the server gives in order. So the
    // server has read what was in the place.
    const std::uint32_t ticket = lane::on_device(job.tickets[server].value).fetch_add(1, lane::acq_rel);
    served_request& place =
        job.requests[std::uint64_t{server} * job.ring_depth + (ticket & (job.ring_depth - 1))];
    place.page = page;
    place.asker = index();
    // Release pairs with the server's acquire of the turn: page and asker are there.
    lane::on_system(place.turn).store(ticket + 1, lane::release);
    // Acquire pairs with copy_line::tell(): the copy into the frame had arrived before it.
    const auto answers = lane::on_system(job.answers[index()].value);
    lane::budget budget(job.patience_ns, job.round.stop);
    while (answers.load(lane::acquire) != asked)
      if (budget.spent()) return false;
    return true;
  }
};

}  // namespace sluice::tool
