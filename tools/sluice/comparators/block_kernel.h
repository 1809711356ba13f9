// The kernel of comparators: teams of lanes take blocks from wherever these are, and hold each against the
// truth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/copies.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/wait.h"
#include "tools/sluice/comparators/block_order.h"
#include "tools/sluice/io_kernel.h"

namespace sluice::tool {

/// A team brings a block into GPU memory piece by piece, each over the one before: its stores then stay in
/// the cache, and large blocks take no more memory than small ones.
inline constexpr std::uint32_t piece_bytes = 4096;

/// What teams count, summed up as each leaves.
struct block_tally {
  std::uint64_t blocks;
  std::uint64_t wrong;
  std::uint64_t unanswered;
};

/// Which blocks a team takes, and when it leaves: the same for every way by which they may come.
struct block_round {
  block_order order;
  std::uint64_t first, count;  ///< the blocks that come first-th and after
  std::uint64_t nanoseconds;   ///< or for so long, whichever ends first
  std::uint32_t* stop;         ///< the host ends the run with it
};

struct block_job {
  block_round round;
  const std::byte* data;
  std::byte* pieces;          ///< one of piece_bytes each team; null where `data` is GPU memory already
  const sector_truth* truth;  ///< of every sector of the span
  block_tally* tally;
  std::uint32_t block_bytes;
  bool in_batch;  ///< `data` holds the blocks one after the other as they come, else all of the span
};

/// Whether a block is what it must be, by the whole team. `piece`: where the bytes are brought, or null where
/// they are looked at in place.
template <io_check Check, class Team>
SLUICE_HD bool is_true_block(const Team& team, const std::byte* block, std::byte* piece,
                             const sector_truth* truth, std::uint32_t bytes) {
  using checker = io_kernel<queue::path::peer, lane::solo, Check>;
  const std::uint32_t step = piece != nullptr && bytes > piece_bytes ? piece_bytes : bytes;
  bool good = true;
  for (std::uint32_t at = 0; at < bytes; at += step) {
    const std::byte* here = block + at;
    if (piece != nullptr) {
      lane::copy_each(team, 1, piece, here, step);
      team.sync();
      here = piece;
    }
    for (std::uint32_t s = team.rank(); s < step / sector_bytes; s += team.size())
      good = checker::holds(reinterpret_cast<const std::uint64_t*>(here + std::uint64_t{s} * sector_bytes),
                            truth[at / sector_bytes + s]) &&
             good;
    if (piece != nullptr) team.sync();  // all have looked before the next piece comes
  }
  return team.all(good);
}

/// Calls `take(n)` for each of the team's blocks until the round is over, or one of them says no; one is
/// taken in any case. Lanes: all lanes of the team, whose leader looks at the clock.
template <class Team, class Take>
SLUICE_HD void each_block(const Team& team, const block_round& round, Take&& take) {
  const std::uint64_t teams = lane::grid_lanes() / team_lanes<Team>;
  const std::uint64_t began = lane::clock_ns();
  std::uint64_t taken = 0;
  for (std::uint64_t i = lane::grid_index() / team_lanes<Team>;; i += teams, ++taken) {
    bool over = i >= round.count;
    if (!over && team.leads() && taken != 0) {
      over = lane::clock_ns() - began > round.nanoseconds;
      // The host's word lies across the link: a look now and then is enough.
      if ((taken & 63U) == 0) over = over || lane::on_system(*round.stop).load(lane::relaxed) != 0;
    }
    if (team.broadcast(over) || !take(round.first + i)) break;
  }
}

template <class Team, io_check Check>
struct block_kernel {
  block_job job;

  SLUICE_HD void operator()() const {
    const Team team = io_kernel<queue::path::peer, Team, Check>::own_team();
    std::byte* const piece =
        job.pieces == nullptr ? nullptr : job.pieces + lane::grid_index() / team_lanes<Team> * piece_bytes;
    std::uint64_t blocks = 0, wrong = 0;
    each_block(team, job.round, [&](std::uint64_t n) {
      const std::uint64_t block = job.round.order.at(n);
      const std::uint64_t place = job.in_batch ? n - job.round.first : block;
      const sector_truth* const truth = job.truth + block * (job.block_bytes / sector_bytes);
      const bool good =
          is_true_block<Check>(team, job.data + place * job.block_bytes, piece, truth, job.block_bytes);
      ++blocks;
      wrong += good ? 0 : 1;
      return true;
    });
    if (!team.leads()) return;
    lane::on_device(job.tally->blocks).fetch_add(blocks, lane::relaxed);
    lane::on_device(job.tally->wrong).fetch_add(wrong, lane::relaxed);
  }
};

}  // namespace sluice::tool
