// What a breadth-first search found and what it took, for people and for programs.
#pragma once

#include <optional>
#include <string>

#include "apps/graph/bfs.h"
#include "apps/graph/stored_graph.h"
#include "tools/sluice/command.h"

namespace sluice::tool {

struct bfs_report {
  const graph::stored_graph& graph;
  graph::vertex_id source = 0;
  const graph::bfs_options& options;
  graph::bfs_outcome outcome{};
  json machine{};
  bool verified = false;
  std::optional<double> reference_seconds{};

  /// The keys of design §9.
  json as_json() const;
  std::string as_text() const;

 private:
  double total_seconds() const;
  double edges_per_s() const;
  bool by_lanes() const;
  std::string vertex_text(std::uint64_t v) const;
  std::string examples(std::uint32_t depth) const;
  std::string distances() const;
  std::string io_text() const;
};

}  // namespace sluice::tool
