#include "apps/graph/bfs_reference.h"

#include <algorithm>

namespace sluice::graph {

bfs_tree bfs_reference(const csr_view& graph, vertex_id source) {
  bfs_tree tree{std::vector<std::uint32_t>(graph.vertices(), unreached),
                std::vector<vertex_id>(graph.vertices())};
  std::vector<vertex_id> queue{source};
  tree.depth[source] = 0;
  tree.parent[source] = source;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const vertex_id u = queue[at];
    for (const vertex_id v : graph.targets_of(u)) {
      if (tree.depth[v] != unreached) continue;
      tree.depth[v] = tree.depth[u] + 1;
      tree.parent[v] = u;
      queue.push_back(v);
    }
  }
  return tree;
}

std::vector<std::uint64_t> depth_histogram(std::span<const std::uint32_t> depth) {
  std::vector<std::uint64_t> count;
  for (const std::uint32_t d : depth) {
    if (d == unreached) continue;
    if (d >= count.size()) count.resize(d + 1);
    ++count[d];
  }
  return count;
}

std::optional<std::string> fault_of_bfs(const csr_view& graph, vertex_id source, const bfs_tree& found) {
  const bfs_tree truth = bfs_reference(graph, source);
  const auto name = [](std::uint64_t v) { return "vertex " + std::to_string(v); };
  const auto steps = [](std::uint32_t d) { return d == unreached ? "unreached" : std::to_string(d); };
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    if (found.depth[v] != truth.depth[v])
      return name(v) + " has depth " + steps(found.depth[v]) + ", in truth " + steps(truth.depth[v]);
    if (truth.depth[v] == unreached) continue;
    const vertex_id parent = found.parent[v];
    if (v == source && parent != source) return "the source's parent is " + name(parent) + ", not itself";
    if (v == source) continue;
    if (parent >= graph.vertices()) return name(v) + " has a parent that there is not";
    const auto list = graph.targets_of(parent);
    if (!std::binary_search(list.begin(), list.end(), static_cast<vertex_id>(v)))
      return name(v) + " has no edge from its parent, " + name(parent);
    if (truth.depth[parent] + 1 != truth.depth[v])
      return name(v) + " is not one step from its parent, " + name(parent);
  }
  return std::nullopt;
}

}  // namespace sluice::graph
