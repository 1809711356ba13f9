// Graphs as text files: plain edge lists, and Matrix Market.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "apps/graph/csr.h"
#include "apps/graph/text_lines.h"

namespace sluice::graph {

enum class text_format : std::uint8_t {
  edge_list,      ///< two vertices a line, any separators; comments start with # or %
  matrix_market,  ///< %%MatrixMarket matrix coordinate, pattern, integer or real, general or symmetric
};

struct text_options {
  std::optional<text_format> format{};  ///< else told by the first line
  std::optional<vertex_id>
      first_vertex{};                  ///< of an edge list: 0 or 1; else seen from the smallest number used
  std::uint64_t named_vertices = 0;    ///< vertices there are at least, from 0; 0 where nobody knows
  std::uint64_t most = most_vertices;  ///< vertices there may be
  std::function<void(std::uint64_t)> progress{};  ///< told the bytes read so far, now and then
};

/// Edges as the file has them, their vertices counted from 0.
struct text_graph {
  text_format format = text_format::edge_list;
  std::uint64_t vertices = 0;
  std::vector<edge> edges{};
  vertex_id first_vertex = 0;  ///< the number that the file gives the first vertex
  bool symmetric = false;      ///< the file says so, and `edges` has both directions
};

/// Reads to the end. Throws error{bad_input} naming file, line and what was expected.
text_graph read_text_graph(text_lines& lines, const text_options& options = {});

}  // namespace sluice::graph
