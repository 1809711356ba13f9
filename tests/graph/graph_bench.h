// Graphs on scratch drives, and searches over them whose answers are checked.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apps/graph/bfs.h"
#include "apps/graph/import.h"
#include "apps/graph/stored_graph.h"
#include "sluice/array/storage.h"
#include "sluice/base/error.h"
#include "sluice/lane/launch.h"
#include "tests/support/scratch_file.h"

namespace sluice::graph::test {

/// A graph of edges that were drawn with a seed.
inline loaded_graph random_graph(std::uint64_t vertices, std::uint64_t edges, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<edge> drawn(edges);
  for (edge& each : drawn)
    each = {static_cast<vertex_id>(random() % vertices), static_cast<vertex_id>(random() % vertices)};
  return {
      .lists = build_csr(vertices, drawn, {.symmetrize = true}), .names = {}, .facts = {.from = "random"}};
}
/// 0 - 1 - 2 - ...
inline loaded_graph chain(std::uint64_t vertices) {
  std::vector<edge> edges;
  for (vertex_id v = 1; v < vertices; ++v) edges.push_back({v - 1, v});
  return {.lists = build_csr(vertices, edges, {.symmetrize = true}), .names = {}, .facts = {.from = "chain"}};
}
/// One vertex in the middle of all others.
inline loaded_graph star(std::uint64_t vertices) {
  std::vector<edge> edges;
  for (vertex_id v = 1; v < vertices; ++v) edges.push_back({0, v});
  return {.lists = build_csr(vertices, edges, {.symmetrize = true}), .names = {}, .facts = {.from = "star"}};
}

/// Scratch files as the drives of one volume, which goes with them.
class scratch_volume {
 public:
  explicit scratch_volume(std::size_t drives = 1, drive::layout how = drive::layout::stripe)
      : files_(drives), how_(how) {}

  /// The drives' URIs; `faults` ("error_rate=0.1") go to the first. A loaded machine's disk may take its
  /// time.
  std::vector<std::string> uris(const std::string& faults = "") const {
    std::vector<std::string> all;
    for (const auto& file : files_) all.push_back("file:" + file.path() + "?deadline_ms=60000");
    if (!faults.empty()) all.front() = "file:" + files_.front().path() + "?" + faults;
    return all;
  }
  const std::string& path(std::size_t drive = 0) const { return files_[drive].path(); }
  void import(const loaded_graph& graph) const { import_graph(graph, {.uris = uris(), .how = how_}); }
  storage open(const std::string& faults = "") const {
    return storage::open(uris(faults), {.mode = drive::access::read});
  }

 private:
  std::vector<sluice::test::scratch_file> files_;
  drive::layout how_;
};

/// Searches on the CPU backend and throws wrong_answer where the tree is.
inline bfs_outcome search(storage& over, vertex_id source, bfs_options options = {.cache_bytes = MiB}) {
  const stored_graph graph(over.volume());
  const auto machine = lane::machine::cpu(2);
  const std::vector<vertex_id> targets = graph.read_targets();
  options.check = [&](const bfs_tree& found) {
    if (const auto fault = fault_of_bfs({graph.offsets(), targets}, source, found))
      throw error(error_kind::wrong_answer, *fault);
  };
  return bfs_on_lanes(*machine, over, graph, source, options);
}

}  // namespace sluice::graph::test
