// `sluice graph info`: what a stored graph is, and whether it is whole.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/graph/stored_graph.h"
#include "sluice/array/storage.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/graph.h"

namespace sluice::tool {

namespace {

struct info_choice {
  drive_choice graph;
  bool verify = true;
};

/// Vertices by degree: 0, 1, 2-3, 4-7, ...
struct degree_row {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t vertices = 0;
};

std::vector<degree_row> degree_histogram(const graph::stored_graph& of) {
  std::vector<degree_row> rows;
  for (std::uint64_t u = 0; u < of.vertices(); ++u) {
    const auto row = static_cast<std::size_t>(std::bit_width(of.degree(u)));
    while (rows.size() <= row) {
      const std::uint64_t least = rows.empty() ? 0 : std::uint64_t{1} << (rows.size() - 1);
      rows.push_back({least, rows.empty() ? 0 : 2 * least - 1, 0});
    }
    ++rows[row].vertices;
  }
  return rows;
}

std::uint64_t largest_degree(const graph::stored_graph& of) {
  std::uint64_t most = 0;
  for (std::uint64_t u = 0; u < of.vertices(); ++u) most = std::max(most, of.degree(u));
  return most;
}

/// Reads what was not read when the graph was opened; a damaged dataset ends the program.
json check_sums(const graph::stored_graph& of, bool verify) {
  json states{{graph::offsets_dataset, "ok"}, {graph::edges_dataset, "not read"}};
  if (verify) {
    progress bar("checking", of.edge_lists().bytes);
    of.read_targets([&](std::uint64_t bytes) {
      context::stop_if_asked();
      bar.add(bytes);
    });
    states[graph::edges_dataset] = "ok";
  }
  if (of.facts().named && of.names().size() == of.vertices()) states[graph::names_dataset] = "ok";
  return states;
}

json as_json(const graph::stored_graph& of, const std::vector<degree_row>& rows) {
  json degrees = json::array();
  for (const degree_row& row : rows)
    degrees.push_back({{"from", row.least}, {"to", row.most}, {"vertices", row.vertices}});
  return {{"vertices", of.vertices()},
          {"edges", of.edges()},
          {"symmetric", of.facts().symmetric},
          {"named", of.facts().named},
          {"from", of.facts().from},
          {"id_bytes", sizeof(graph::vertex_id)},
          {"largest_degree", largest_degree(of)},
          {"degree_histogram", degrees}};
}

std::string as_text(const graph::stored_graph& of, const std::vector<degree_row>& rows, const json& sums) {
  const graph::graph_facts& facts = of.facts();
  std::string text = fmt::format("{}: {} vertices, {} edges{}{}\n\n  degree                  vertices\n",
                                 facts.from, facts.vertices, facts.edges,
                                 facts.symmetric ? ", symmetric" : "", facts.named ? ", named" : "");
  for (const degree_row& row : rows) {
    if (row.vertices == 0) continue;
    const std::string degrees =
        row.least == row.most ? std::to_string(row.least) : fmt::format("{} to {}", row.least, row.most);
    text += fmt::format("  {:<20}{:>12}\n", degrees, row.vertices);
  }
  text += fmt::format("  largest degree {}\n\n", largest_degree(of));
  for (const auto& [name, state] : sums.items())
    text += fmt::format("  {:<15} checksum {}\n", name, state.get<std::string>());
  return text;
}

void info(context& with, const info_choice& choice) {
  const storage opened = storage::open(choice.graph.uris, {.mode = drive::access::read});
  const graph::stored_graph of(opened.volume());
  const std::vector<degree_row> rows = degree_histogram(of);
  const json sums = check_sums(of, choice.verify);
  json object = as_json(of, rows);
  object["checksums"] = sums;
  object["version"] = version();
  with.print(object, as_text(of, rows, sums));
}

}  // namespace

void add_graph_info(CLI::App& graph, context& with) {
  auto choice = std::make_shared<info_choice>();
  CLI::App& command = with.add_command(graph,
                                       {"info", "a stored graph's size, degrees and checksums",
                                        "sluice graph info --graph file:/data/web.img"},
                                       runs_on::host);
  add_uris(command, "--graph", "where the graph lies", choice->graph);
  command.add_flag("--verify,!--no-verify", choice->verify, "read all edges to check them (as is usual)");
  with.runs(command, [&with, choice] { info(with, *choice); });
}

}  // namespace sluice::tool
