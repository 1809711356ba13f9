// What a fuzzer asks of graph files: any bytes are refused with one line, or become a graph whose edges all
// end at vertices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "apps/graph/csr.h"
#include "apps/graph/text_graph.h"
#include "apps/graph/text_lines.h"
#include "sluice/base/error.h"

namespace sluice::fuzz {

/// Hands out the text in pieces of `piece` bytes.
inline graph::text_lines::source pieces_of(std::string_view text, std::size_t piece) {
  return [text, piece](std::span<char> to) mutable {
    const std::size_t count = std::min({text.size(), piece, to.size()});
    std::copy_n(text.begin(), count, to.begin());
    text.remove_prefix(count);
    return count;
  };
}

/// The first byte chooses options.
inline int graph_file(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  graph::text_options options{.most = 1 << 16};
  if ((choice & 1) != 0) options.first_vertex = (choice & 2) != 0 ? 1 : 0;
  if ((choice & 4) != 0) options.format = graph::text_format::edge_list;
  try {
    graph::text_lines lines("fuzzed", pieces_of(text, 1 + choice / 8));
    const graph::text_graph read = graph::read_text_graph(lines, options);
    const graph::csr lists = graph::build_csr(
        read.vertices, read.edges, {.symmetrize = (choice & 8) != 0, .drop_loops = (choice & 16) != 0});
    const bool sound = read.vertices <= options.most && lists.offsets.size() == read.vertices + 1 &&
                       lists.offsets.back() == lists.targets.size() &&
                       std::all_of(lists.targets.begin(), lists.targets.end(),
                                   [&](graph::vertex_id v) { return v < read.vertices; });
    if (!sound) std::abort();
  } catch (const error& e) {
    const std::string_view line = e.what();
    if (e.kind() != error_kind::bad_input || line.find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

}  // namespace sluice::fuzz
