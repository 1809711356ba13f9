// A graph on a volume: three datasets that belong together, written by an import and read by algorithms.
//
// graph.offsets  u64, vertices + 1 of them: where each vertex's list starts in graph.edges, counted in
// targets graph.edges    u32, the lists' targets, one list after another; read by lanes on demand graph.names
// optional: see vertex_names::bytes()
//
// Each dataset's meta says the same of the graph, with a mark drawn by the import: datasets of two imports
// never pass for one graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/graph/csr.h"
#include "apps/graph/dataset_bytes.h"
#include "apps/graph/names.h"
#include "sluice/drive/volume.h"

namespace sluice::graph {

inline constexpr const char* graph_kind = "graph";  ///< of datasets
inline constexpr const char* offsets_dataset = "graph.offsets";
inline constexpr const char* edges_dataset = "graph.edges";
inline constexpr const char* names_dataset = "graph.names";

/// What an import says of a graph.
struct graph_facts {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;  ///< targets stored; an undirected edge counts twice
  bool symmetric = false;   ///< every edge is known to have its reverse
  bool named = false;
  std::string from;  ///< the file it came from, without its folders
};

/// Bytes that the datasets of such a graph take of a volume, each aligned as a volume aligns it.
std::uint64_t volume_bytes(const csr& graph, const vertex_names& names);

/// Writes a graph; one that the volume held stays whole until this one is, where both fit. What was begun is
/// removed where it fails. Throws as volume::begin_dataset(), write() and commit() do.
void store_graph(drive::volume& on, const csr& graph, const vertex_names& names, graph_facts facts,
                 const byte_progress& progress = {});

/// A graph that lies on a volume, its edge lists left there.
class stored_graph {
 public:
  /// Reads facts and offsets, and checks them. Throws error{bad_input} where the volume holds no graph,
  /// error{corrupt} where its parts do not belong together or their checksums differ.
  explicit stored_graph(const drive::volume& on);

  const graph_facts& facts() const { return facts_; }
  std::uint64_t vertices() const { return facts_.vertices; }
  std::uint64_t edges() const { return facts_.edges; }
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }
  std::uint64_t degree(std::uint64_t u) const { return offsets_[u + 1] - offsets_[u]; }
  /// Where the edge lists lie.
  const drive::dataset& edge_lists() const { return edges_; }
  /// Empty where the graph has none. Read at the first call.
  const vertex_names& names() const;
  /// All edge lists, brought into memory. Throws error{corrupt} where they are not what was imported.
  std::vector<vertex_id> read_targets(const byte_progress& progress = {}) const;
  /// The lowest vertex that has an edge, where any has.
  std::optional<vertex_id> first_with_edges() const;

 private:
  const drive::volume* volume_;
  graph_facts facts_;
  drive::dataset edges_;
  std::vector<std::uint64_t> offsets_;
  mutable std::optional<vertex_names> names_;
};

/// Copies the graph's datasets into another volume, which is to hold nothing else.
void copy_graph(const drive::volume& from, drive::volume& to, const byte_progress& progress = {});
/// Bytes that copy_graph() takes of the other volume.
std::uint64_t volume_bytes(const drive::volume& of);

}  // namespace sluice::graph
