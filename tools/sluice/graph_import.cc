// `sluice graph import`: a text file becomes a graph on a volume.
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "apps/graph/import.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/graph.h"

namespace sluice::tool {

namespace {

struct graph_import_choice {
  graph::load_options load;
  drive_choice to;
  std::string format = "auto";
  std::string base = "auto";
};

void add_format_options(CLI::App& command, graph_import_choice& choice) {
  command
      .add_option("--format", choice.format,
                  "el: two vertices a line; mtx: Matrix Market; auto looks at the first line")
      ->check(CLI::IsMember({"auto", "el", "mtx"}))
      ->default_str("auto");
  command
      .add_option("--base", choice.base,
                  "the number of an edge list's first vertex; auto sees it from the smallest")
      ->check(CLI::IsMember({"auto", "0", "1"}))
      ->default_str("auto");
  command
      .add_option("--names", choice.load.names_file,
                  "names of the vertices, one a line, that of vertex 0 first")
      ->type_name("FILE");
  command.add_flag("--symmetrize", choice.load.lists.symmetrize,
                   "add the reverse of every edge that lacks it");
  command.add_flag("--deduplicate", choice.load.lists.deduplicate,
                   "keep one of several edges between two vertices");
  command.add_flag("--drop-loops", choice.load.lists.drop_loops, "leave out edges from a vertex to itself");
}

void apply_format(graph_import_choice& choice) {
  if (choice.format == "el") choice.load.text.format = graph::text_format::edge_list;
  if (choice.format == "mtx") choice.load.text.format = graph::text_format::matrix_market;
  if (choice.base != "auto") choice.load.text.first_vertex = choice.base == "1" ? 1 : 0;
}

graph::loaded_graph load(graph_import_choice& choice) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(choice.load.file, unknown);
  progress bar("reading " + choice.load.file, unknown ? 0 : size);
  std::uint64_t told = 0;
  choice.load.text.progress = [&](std::uint64_t read) {
    context::stop_if_asked();
    bar.add(read - told);
    told = read;
  };
  return graph::load_graph(choice.load);
}

graph::import_report store(const graph::loaded_graph& loaded, const graph_import_choice& choice) {
  progress bar("writing", graph::volume_bytes(loaded.lists, loaded.names));
  return graph::import_graph(loaded, {choice.to.uris, choice.to.how, choice.to.unit},
                             [&](std::uint64_t written) {
                               context::stop_if_asked();
                               bar.add(written);
                             });
}

void import(context& with, graph_import_choice& choice) {
  apply_format(choice);
  const auto began = std::chrono::steady_clock::now();
  const graph::loaded_graph loaded = load(choice);
  const graph::import_report report = store(loaded, choice);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (const std::string& line : report.notes) with.note(line);
  if (loaded.first_vertex == 1)
    with.note(choice.load.file + " counts its vertices from 1: its vertex 1 is vertex 0 from now on");
  const graph::graph_facts& facts = loaded.facts;
  with.print(
      {{"vertices", facts.vertices},
       {"edges", facts.edges},
       {"symmetric", facts.symmetric},
       {"named", facts.named},
       {"bytes", report.bytes},
       {"seconds", seconds},
       {"drives", choice.to.uris},
       {"version", version()}},
      fmt::format("{}: {} vertices, {} edges{}, {} on {} drive{}, in {:.2f} s\n", facts.from, facts.vertices,
                  facts.edges, facts.named ? ", named" : "", format_bytes(static_cast<double>(report.bytes)),
                  choice.to.uris.size(), choice.to.uris.size() == 1 ? "" : "s", seconds));
}

}  // namespace

void add_graph_import(CLI::App& graph, context& with) {
  auto choice = std::make_shared<graph_import_choice>();
  CLI::App& command =
      with.add_command(graph,
                       {"import", "put a graph from a text file onto a volume",
                        "sluice graph import web.mtx --to file:/data/web0.img --to file:/data/web1.img"},
                       runs_on::host);
  command.add_option("file", choice->load.file, "an edge list, or a Matrix Market file")
      ->type_name("FILE")
      ->required();
  add_uris(command, "--to", "where it goes: a file: drive is made, or grows, as large as it needs",
           choice->to);
  add_layout(command, choice->to);
  add_format_options(command, *choice);
  with.runs(command, [&with, choice] { import(with, *choice); });
}

}  // namespace sluice::tool
