#include "apps/graph/csr.h"

#include <algorithm>
#include <string>

#include <unistd.h>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"

namespace sluice::graph {

namespace {

/// Asked before memory is touched: the system would rather end the program than refuse it.
void need_memory(std::uint64_t vertices, std::uint64_t edges) {
  const auto need = static_cast<double>((vertices + 1) * sizeof(std::uint64_t) + edges * sizeof(vertex_id));
  const double have =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (need <= have) return;
  throw error(error_kind::unavailable,
              "a graph of " + std::to_string(vertices) + " vertices and " + std::to_string(edges) +
                  " edges takes " + format_bytes(need) + " of memory to import, and this machine has " +
                  format_bytes(have),
              "number the vertices without large gaps, or import on a larger machine");
}

/// Calls `act(from, to)` for each edge that the graph shall have, before duplicates go.
template <class Act>
void for_each_edge(std::span<const edge> edges, const csr_options& options, const Act& act) {
  for (const edge& each : edges) {
    const bool loop = each.from == each.to;
    if (loop && options.drop_loops) continue;
    act(each.from, each.to);
    if (options.symmetrize && !loop) act(each.to, each.from);
  }
}

void sort_lists(csr& graph) {
  for (std::size_t u = 0; u + 1 < graph.offsets.size(); ++u) {
    const auto first = graph.targets.begin() + static_cast<std::ptrdiff_t>(graph.offsets[u]);
    const auto last = graph.targets.begin() + static_cast<std::ptrdiff_t>(graph.offsets[u + 1]);
    if (!std::is_sorted(first, last)) std::sort(first, last);
  }
}

/// Of each sorted list, keeps one of each target, and moves the lists together.
void drop_duplicates(csr& graph) {
  auto end = graph.targets.begin();
  std::uint64_t list_start = 0;
  for (std::size_t u = 0; u + 1 < graph.offsets.size(); ++u) {
    const auto first = graph.targets.begin() + static_cast<std::ptrdiff_t>(list_start);
    const auto last = graph.targets.begin() + static_cast<std::ptrdiff_t>(graph.offsets[u + 1]);
    list_start = graph.offsets[u + 1];
    end = std::unique_copy(first, last, end);
    graph.offsets[u + 1] = static_cast<std::uint64_t>(end - graph.targets.begin());
  }
  graph.targets.erase(end, graph.targets.end());
}

}  // namespace

csr build_csr(std::uint64_t vertices, std::span<const edge> edges, const csr_options& options) {
  need_memory(vertices, edges.size() * (options.symmetrize ? 2 : 1));
  csr graph;
  graph.offsets.assign(vertices + 1, 0);
  for_each_edge(edges, options, [&](vertex_id from, vertex_id) { ++graph.offsets[from]; });
  std::uint64_t sum = 0;
  for (std::uint64_t& offset : graph.offsets) offset = sum += offset;  // the end of each list
  graph.targets.resize(sum);
  // Filled from the back: afterwards each offset is its list's start.
  for_each_edge(edges, options,
                [&](vertex_id from, vertex_id to) { graph.targets[--graph.offsets[from]] = to; });
  sort_lists(graph);
  if (options.deduplicate || options.symmetrize) drop_duplicates(graph);
  return graph;
}

}  // namespace sluice::graph
