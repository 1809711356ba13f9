// A graph in memory as one sorted list of targets for each vertex (compressed sparse rows).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sluice::graph {

/// A vertex, counted from 0. Formats leave 64 bits open; this build's graphs have 32.
using vertex_id = std::uint32_t;
inline constexpr std::uint64_t most_vertices = 0xffff'ffffU;

struct edge {
  vertex_id from = 0;
  vertex_id to = 0;
  friend constexpr bool operator==(edge, edge) = default;
};

/// Somebody else's graph: offsets has one entry more than there are vertices, and u's targets are
/// targets[offsets[u]] to targets[offsets[u + 1] - 1].
struct csr_view {
  std::span<const std::uint64_t> offsets;
  std::span<const vertex_id> targets;

  std::uint64_t vertices() const { return offsets.size() - 1; }
  std::uint64_t degree(std::uint64_t u) const { return offsets[u + 1] - offsets[u]; }
  std::span<const vertex_id> targets_of(std::uint64_t u) const {
    return targets.subspan(offsets[u], degree(u));
  }
};

struct csr {
  std::vector<std::uint64_t> offsets{0};
  std::vector<vertex_id> targets;

  csr_view view() const { return {offsets, targets}; }
};

struct csr_options {
  bool symmetrize = false;   ///< adds the reverse of every edge that lacks it; duplicates go, too
  bool deduplicate = false;  ///< keeps one of several edges between the same two vertices
  bool drop_loops = false;   ///< leaves out edges from a vertex to itself
};

/// Every edge's ends are below `vertices`. Lists come out sorted.
/// Throws error{unavailable} where the machine's memory cannot hold the graph.
csr build_csr(std::uint64_t vertices, std::span<const edge> edges, const csr_options& options = {});

}  // namespace sluice::graph
