// `sluice graph`: the parent of what the tool does with graphs.
#include "tools/sluice/graph.h"

namespace sluice::tool {

void add_graph(CLI::App& program, context& with) {
  CLI::App& graph = *program.add_subcommand("graph", "graphs whose edge lists stay on drives");
  graph.require_subcommand(1);
  add_graph_import(graph, with);
  add_graph_info(graph, with);
  add_graph_bfs(graph, with);
}

}  // namespace sluice::tool
