// What lanes may rely on, as kernels: each body is written once and runs on every machine.
#pragma once

#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/load_if.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"

namespace sluice::lane::contract {

inline constexpr std::uint64_t patience_ns = 5'000'000'000;

/// Counts what did not hold.
struct verdict {
  std::uint32_t* broken;
  SLUICE_HD void expect(bool holds) const {
    if (!holds) on_device(*broken).fetch_add(1, relaxed);
  }
};

struct lanes_know_their_place {
  verdict is;
  std::uint32_t* seen;  ///< one word a lane of the grid
  std::uint32_t blocks, block_lanes;
  SLUICE_HD void operator()() const {
    is.expect(grid_blocks() == blocks && lane::block_lanes() == block_lanes);
    is.expect(block_index() < blocks && thread_index() < block_lanes && lane_index() == thread_index() % 32);
    is.expect(grid_lanes() == std::uint64_t{blocks} * block_lanes);
    on_device(seen[grid_index()]).fetch_add(1, relaxed);
  }
};

struct words_come_where_wanted {
  verdict is;
  std::uint32_t* words;  ///< two a lane, zeroed
  SLUICE_HD void operator()() const {
    std::uint32_t& low = words[grid_index() * 2];
    auto& whole = *reinterpret_cast<std::uint64_t*>(&low);
    on_device(whole).store(~std::uint64_t{0}, relaxed);
    const bool wanted = grid_index() % 3 != 0;
    for (const order o : {relaxed, acquire}) {
      is.expect(load_if(wanted, whole, o) == (wanted ? ~std::uint64_t{0} : 0));
      is.expect(load_if(wanted, low, o) == (wanted ? ~std::uint32_t{0} : 0));
    }
  }
};

template <class Team>
SLUICE_HD void expect_team_agrees(const verdict& is, const Team& team, std::uint32_t my_rank,
                                  std::uint32_t size) {
  is.expect(team.size() == size && team.rank() == my_rank && team.leads() == (my_rank == 0));
  is.expect((team.mask() & team.bit()) != 0);
  is.expect(team.broadcast(std::uint64_t{my_rank} << 40) == 0);
  is.expect(team.broadcast(my_rank + 0.5) == 0.5);
  const std::uint32_t last = size - 1;
  is.expect(team.from(static_cast<std::uint16_t>(my_rank + 7), last) == last + 7);
  is.expect(team.from(my_rank, last - my_rank) == last - my_rank);
  is.expect(team.all(true) && !team.any(false) && team.any(my_rank == last));
  is.expect(team.all(my_rank == 0) == (size == 1));
  is.expect((team.ballot(my_rank == 0) & team.bit()) == (my_rank == 0 ? team.bit() : 0));
  is.expect(team.ballot(true) == team.mask());
  const auto third = team.matching(my_rank % 3 + (std::uint64_t{1} << 63));
  is.expect(third.size() == (size - my_rank % 3 + 2) / 3 && third.rank() == my_rank / 3);
  is.expect(third.broadcast(my_rank) == my_rank % 3);
  team.sync();
}

struct whole_warps_agree {
  verdict is;
  SLUICE_HD void operator()() const {
    const std::uint32_t lanes = block_lanes() < 32 ? block_lanes() : 32;
    expect_team_agrees(is, warp_team::whole(), lane_index(), lanes);
  }
};

/// Four teams in each warp, each going its own way.
struct partial_teams_agree {
  verdict is;
  SLUICE_HD void operator()() const {
    const std::uint32_t quarter = lane_index() % 4;
    const warp_team team(0x11111111U << quarter);
    for (std::uint32_t round = 0; round <= quarter; ++round)
      expect_team_agrees(is, team, lane_index() / 4, 8);
    const warp_team half = team.subset(lane_index() < 16 ? 0xffffU : 0xffff0000U);
    expect_team_agrees(is, half, lane_index() % 16 / 4, 4);
  }
};

struct teams_of_one_agree {
  verdict is;
  SLUICE_HD void operator()() const {
    const solo alone;
    is.expect(alone.size() == 1 && alone.rank() == 0 && alone.leads() && alone.any(true) &&
              !alone.all(false));
    is.expect(alone.broadcast(lane_index()) == lane_index() && alone.from(lane_index(), 0) == lane_index());
    is.expect(alone.matching(5).size() == 1 && alone.ballot(true) == alone.mask());
    expect_team_agrees(is, warp_team(1U << lane_index()), 0, 1);
  }
};

struct converged_lanes_hold_the_caller {
  verdict is;
  SLUICE_HD void operator()() const {
    if (lane_index() % 3 == 0) return meet_here();
    for (int round = 0; round < 3; ++round) meet_here();
  }
  SLUICE_HD void meet_here() const {
    const warp_team team = warp_team::converged();
    is.expect((team.mask() & (1U << lane_index())) != 0);
    is.expect(team.all(true) && team.from(lane_index(), team.rank()) == lane_index());
  }
};

struct companions_meet_again {
  verdict is;
  SLUICE_HD void operator()() const {
    const companions all = companions::here();
    if (lane_index() % 3 == 0) {
      const companions some = companions::here();
      is.expect(some.size() <= all.size());
      some.rejoin();
    }
    all.rejoin();
    const companions after = companions::here();
    is.expect(after.size() == all.size());
    after.rejoin();
  }
};

/// Each lane waits for the next lane of its warp, the last for none: they can only end from the last to the
/// first.
struct a_lane_may_wait_for_its_warp_mate {
  verdict is;
  std::uint32_t* turn;  ///< one word a warp of the grid, zero
  SLUICE_HD void operator()() const {
    const auto word = on_device(turn[warp_index()]);
    const std::uint32_t mine = 31 - lane_index();
    budget patience(patience_ns);
    while (word.load(acquire) != mine) {
      if (patience.spent()) return is.expect(false);
    }
    word.store(mine + 1, release);
  }
};

struct a_team_sync_orders_memory {
  verdict is;
  std::uint32_t* words;  ///< one a lane of the grid
  SLUICE_HD void operator()() const {
    const warp_team team = warp_team::whole();
    std::uint32_t* const mine = words + grid_index() - lane_index();
    for (std::uint32_t round = 1; round <= 4; ++round) {
      mine[lane_index()] = round * 100 + lane_index();
      team.sync();
      const std::uint32_t other = (lane_index() + round) % 32;
      is.expect(mine[other] == round * 100 + other);
      team.sync();
    }
  }
};

struct a_block_sync_orders_memory {
  verdict is;
  std::uint32_t* words;  ///< one a lane of the grid
  SLUICE_HD void operator()() const {
    std::uint32_t* const mine = words + grid_index() - thread_index();
    for (std::uint32_t round = 1; round <= 4; ++round) {
      mine[thread_index()] = round * 10000 + thread_index();
      sync_block();
      const std::uint32_t other = (thread_index() + 33 * round) % block_lanes();
      is.expect(mine[other] == round * 10000 + other);
      sync_block();
    }
  }
};

/// Blocks that wait for each other: right for any grid up to resident_blocks().
struct resident_blocks_may_wait_for_one_another {
  verdict is;
  std::uint32_t* arrived;
  SLUICE_HD void operator()() const {
    const auto count = on_device(*arrived);
    if (thread_index() == 0) count.fetch_add(1, acq_rel);
    budget patience(patience_ns);
    while (count.load(acquire) != grid_blocks()) {
      if (patience.spent()) return is.expect(false);
    }
  }
};

/// Waits for a word that the host writes while the kernel runs, and answers.
struct the_host_reaches_a_running_kernel {
  verdict is;
  std::uint32_t* word;
  std::uint32_t* answer;
  SLUICE_HD void operator()() const {
    budget patience(patience_ns);
    while (on_system(*word).load(acquire) == 0) {
      if (patience.spent()) return is.expect(false);
    }
    on_system(*answer).store(on_system(*word).load(relaxed) + 1, release);
  }
};

struct a_wait_ends_when_it_is_told_to {
  verdict is;
  std::uint32_t* abort;
  SLUICE_HD void operator()() const {
    budget forever(~std::uint64_t{0} >> 1, abort);
    budget moment(1000);
    while (!moment.spent()) {
    }
    if (grid_index() == 0) on_system(*abort).store(1, relaxed);
    while (!forever.spent()) {
    }
  }
};

}  // namespace sluice::lane::contract
