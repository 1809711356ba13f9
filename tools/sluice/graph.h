// The subcommands of `sluice graph`, each in a file of its name.
#pragma once

#include "tools/sluice/command.h"

namespace sluice::tool {

void add_graph_import(CLI::App& graph, context& with);
void add_graph_info(CLI::App& graph, context& with);
void add_graph_bfs(CLI::App& graph, context& with);

}  // namespace sluice::tool
