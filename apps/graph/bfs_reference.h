// Breadth-first search in plain C++, and what makes an answer right.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/graph/csr.h"

namespace sluice::graph {

inline constexpr std::uint32_t unreached = 0xffff'ffffU;

/// How far each vertex is from the source, and the vertex before it on a shortest way; the source is its own
/// parent.
struct bfs_tree {
  std::vector<std::uint32_t> depth;  ///< unreached where there is no way
  std::vector<vertex_id> parent;     ///< meaningless where unreached
};

bfs_tree bfs_reference(const csr_view& graph, vertex_id source);

/// Vertices at each depth.
std::vector<std::uint64_t> depth_histogram(std::span<const std::uint32_t> depth);

/// The first thing that is wrong with a tree, or nothing. By the GAP Benchmark Suite's rules: depths equal
/// the reference's, the source is its own parent, every other reached vertex has an edge from its parent, one
/// step nearer.
std::optional<std::string> fault_of_bfs(const csr_view& graph, vertex_id source, const bfs_tree& found);

}  // namespace sluice::graph
