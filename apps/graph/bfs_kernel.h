// One step of breadth-first search by lanes: from the vertices at one depth to those at the next, each edge
// list read once, page by page, from wherever it lies.
#pragma once

#include <cstdint>

#include "apps/graph/bfs_reference.h"
#include "apps/graph/csr.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/team.h"

namespace sluice::graph {

/// What the lanes of a step share and the host reads after it. Zeroed before each step.
struct bfs_words {
  std::uint64_t claimed = 0;  ///< vertices of the frontier that warps have taken
  std::uint64_t found = 0;    ///< vertices in the next frontier
  std::uint32_t failed = 0;   ///< 1: a list could not be read; the mailbox tells why
  std::uint32_t damaged = 0;  ///< 1: an edge led to a vertex that there is not
};

/// The state of a search, in lanes' memory.
struct bfs_state {
  const std::uint64_t* offsets = nullptr;
  std::uint32_t* depth = nullptr;
  vertex_id* parent = nullptr;
  const vertex_id* frontier = nullptr;
  vertex_id* next = nullptr;
  bfs_words* words = nullptr;
  std::uint64_t vertices = 0;
  std::uint64_t frontier_size = 0;
};

/// The kernel. Edges: an array_ref<vertex_id, ...>. Warps take vertices of the frontier, 32 at a time. A long
/// list is read by the whole warp, pages ahead; of the short ones each lane reads its own, and the warp asks
/// for their pages together.
template <class Edges>
struct bfs_step {
  static constexpr std::uint32_t chunk = 32;
  static constexpr std::uint64_t longest_short_list = 64;

  Edges edges;
  bfs_state state;
  std::uint32_t depth = 0;        ///< of the frontier
  std::uint32_t pages_ahead = 0;  ///< that a warp asks for before it comes to them

  SLUICE_HD void operator()() const {
    const auto warp = lane::warp_team::whole();
    tally sum;
    for (std::uint64_t first = claim(warp); first < state.frontier_size; first = claim(warp)) {
      list mine = list_at(first + warp.rank());
      const bool is_long = mine.size() > longest_short_list;
      for (std::uint32_t left = warp.ballot(is_long); left != 0; left &= left - 1) {
        const std::uint32_t owner = left & (~left + 1);
        read_together(warp, {warp.of(mine.owner, owner), warp.of(mine.at, owner), warp.of(mine.end, owner)},
                      sum);
      }
      if (is_long) mine.at = mine.end;
      read_side_by_side(warp, mine, sum);
    }
    edges.cache().note_visits(sum.visits, sum.targets * sizeof(vertex_id));
  }

 private:
  /// What is left to read of a vertex's list.
  struct list {
    vertex_id owner = 0;
    std::uint64_t at = 0;
    std::uint64_t end = 0;
    SLUICE_HD std::uint64_t size() const { return end - at; }
  };

  /// What a lane has read, for the statistics.
  struct tally {
    std::uint32_t visits = 0;
    std::uint64_t targets = 0;
    SLUICE_HD void add(std::uint32_t count) {
      visits += count != 0 ? 1 : 0;
      targets += count;
    }
  };

  /// The next vertices of the frontier for the warp; none once a list could not be read.
  SLUICE_HD std::uint64_t claim(const lane::warp_team& warp) const {
    std::uint64_t first = state.frontier_size;
    if (warp.leads() && lane::on_device(state.words->failed).load(lane::relaxed) == 0)
      first = lane::on_device(state.words->claimed).fetch_add(chunk, lane::relaxed);
    return warp.broadcast(first);
  }

  SLUICE_HD list list_at(std::uint64_t place) const {
    if (place >= state.frontier_size) return {};
    const vertex_id u = state.frontier[place];
    return {u, state.offsets[u], state.offsets[u + 1]};
  }

  /// How much of the list lies in the page where it goes on.
  SLUICE_HD std::uint32_t in_page(const list& of) const {
    const std::uint64_t rest = edges.page_rest(of.at);
    return static_cast<std::uint32_t>(of.size() < rest ? of.size() : rest);
  }

  /// Targets in one page that a lane reads: `count` of them from `first` on, every `stride`-th.
  struct piece {
    vertex_id owner = 0;
    std::uint64_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t stride = 1;
  };

  /// Reads each lane's piece, an empty one perhaps. Not inlined, so that its registers are paid for once.
  SLUICE_NOINLINE SLUICE_HD status read(const lane::warp_team& warp, const piece& mine) const {
    return edges.visit(warp, mine.count != 0, mine.first, [&](const vertex_id* targets) {
      for (std::uint32_t k = 0; k < mine.count; ++k) reach(mine.owner, targets[k * mine.stride]);
    });
  }

  /// Each lane has a list of its own, perhaps an empty one.
  SLUICE_HD void read_side_by_side(const lane::warp_team& warp, list mine, tally& sum) const {
    while (warp.any(mine.size() != 0)) {
      const std::uint32_t count = mine.size() == 0 ? 0 : in_page(mine);
      const status code = read(warp, {mine.owner, mine.at, count, 1});
      sum.add(count);
      mine.at = code.is_ok() ? mine.at + count : give_up(mine);
    }
  }

  /// All lanes have the same list. Neighbouring lanes read neighbouring targets.
  SLUICE_HD void read_together(const lane::warp_team& warp, list ours, tally& sum) const {
    const std::uint32_t rank = warp.rank();
    const std::uint32_t lanes = warp.size();
    for (std::uint32_t pages = 0; ours.size() != 0; ++pages) {
      if (pages_ahead != 0 && pages % pages_ahead == 0) ask_ahead(rank, ours);
      const std::uint32_t count = in_page(ours);
      const std::uint32_t mine = rank < count ? (count - rank + lanes - 1) / lanes : 0;
      const status code = read(warp, {ours.owner, ours.at + rank, mine, lanes});
      sum.add(mine);
      ours.at = warp.any(!code.is_ok()) ? give_up(ours) : ours.at + count;
    }
  }

  /// Each lane asks for one of the pages that come after the one at hand.
  SLUICE_HD void ask_ahead(std::uint32_t rank, const list& ours) const {
    const std::uint64_t target = ours.at + (rank + 1) * edges.page_elements();
    if (rank < pages_ahead && target < ours.end) edges.prefetch(target);
  }

  SLUICE_HD std::uint64_t give_up(const list& of) const {
    lane::on_device(state.words->failed).store(1, lane::relaxed);
    return of.end;
  }

  /// Whoever comes to a vertex first, of all lanes, is its parent.
  SLUICE_HD void reach(vertex_id from, vertex_id to) const {
    if (to >= state.vertices) {
      lane::on_device(state.words->damaged).store(1, lane::relaxed);
      return;
    }
    const auto depth_of = lane::on_device(state.depth[to]);
    std::uint32_t seen = depth_of.load(lane::relaxed);
    if (seen != unreached || !depth_of.compare_exchange(seen, depth + 1, lane::relaxed)) return;
    state.parent[to] = from;
    state.next[lane::on_device(state.words->found).fetch_add(1, lane::relaxed)] = to;
  }
};

}  // namespace sluice::graph
