// Breadth-first search over a graph whose edge lists stay on drives: what a program calls.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/graph/bfs_reference.h"
#include "apps/graph/stored_graph.h"
#include "sluice/array/storage.h"
#include "sluice/base/types.h"
#include "sluice/lane/launch.h"

namespace sluice::graph {

struct bfs_options {
  std::uint64_t cache_bytes = 64 * MiB;
  std::uint32_t page_bytes = 4096;
  std::uint32_t queues = 4;                      ///< queue pairs a drive
  std::uint32_t depth = 1024;                    ///< entries a queue
  std::uint32_t trials = 1;                      ///< each from an empty cache
  bool verify_pages = false;                     ///< check sealed pages when they come
  std::function<bool()> stop_asked{};            ///< looked at from another thread, every few milliseconds
  std::function<void(const bfs_tree&)> check{};  ///< told each trial's tree; throws where it is wrong
};

/// What the lanes' accesses took, summed over the trials.
struct bfs_io {
  std::uint64_t commands_issued = 0;   ///< by lanes
  std::uint64_t commands_served = 0;   ///< by controllers
  std::uint64_t commands_dropped = 0;  ///< by fault injection
  std::uint32_t queues_lost = 0;
  std::uint64_t mismatches = 0;    ///< pages that were not as they were sealed; another replica served
  std::uint64_t bytes_needed = 0;  ///< of the edge lists of the vertices that were reached, each once
  std::uint64_t bytes_moved = 0;   ///< by the drives
  std::uint64_t accesses = 0;      ///< visits of lanes to pages
  std::uint64_t misses = 0;        ///< of those, to pages that were not resident

  double amplification() const;
  double hit_rate() const;
};

struct bfs_outcome {
  bfs_tree tree;                     ///< of the last trial
  std::vector<double> seconds;       ///< of each trial
  std::uint64_t edges_followed = 0;  ///< in each trial
  bfs_io io;
};

/// Throws error{bad_input} where no cache as the options have it can be opened over the drives.
void need_possible(lane::machine& on, storage& over, const bfs_options& options);

/// Searches from `source` with lanes of `on`. The graph lies on `over`.
/// Throws error{io_failure} naming drive, LBA and status of the first access that failed, error{corrupt}
/// where an edge leads nowhere, error{cancelled} where stop_asked() said so, and what check() throws.
bfs_outcome bfs_on_lanes(lane::machine& on, storage& over, const stored_graph& graph, vertex_id source,
                         const bfs_options& options);

/// Targets in the lists of all vertices that a search reached.
std::uint64_t edges_followed(const stored_graph& graph, const bfs_tree& tree);

}  // namespace sluice::graph
