// `sluice graph bfs`: how far every vertex is from one, found by lanes that read edge lists from drives.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "apps/graph/bfs.h"
#include "apps/graph/stored_graph.h"
#include "sluice/array/storage.h"
#include "sluice/base/error.h"
#include "tools/sluice/bfs_report.h"
#include "tools/sluice/graph.h"

namespace sluice::tool {

namespace {

/// Graphs up to here are verified unless told otherwise: the plain C++ search takes a moment, and 4 bytes an
/// edge.
constexpr std::uint64_t verified_by_itself = 64'000'000;

struct bfs_choice {
  drive_choice graph;
  std::vector<std::string> onto;
  std::optional<std::uint64_t> source;
  std::string source_name;
  graph::bfs_options options;
  std::optional<bool> verify;
  bool comparators = false;
};

graph::vertex_id named_source(const graph::stored_graph& of, const std::string& name) {
  if (!of.facts().named)
    throw error(error_kind::bad_input, "the graph's vertices have no names", "give --source a number");
  if (const auto found = of.names().find(name)) return *found;
  throw error(error_kind::bad_input, "no vertex is called '" + name + "'", "give a name as it was imported");
}

graph::vertex_id source_of(const graph::stored_graph& of, const bfs_choice& choice) {
  if (!choice.source_name.empty()) return named_source(of, choice.source_name);
  if (choice.source && *choice.source < of.vertices()) return static_cast<graph::vertex_id>(*choice.source);
  if (choice.source)
    throw error(error_kind::bad_input, "there is no vertex " + std::to_string(*choice.source),
                "the graph has " + std::to_string(of.vertices()) + ", counted from 0");
  if (const auto first = of.first_with_edges()) return *first;
  throw error(error_kind::bad_input, "the graph has no edge to follow", "name a vertex with --source");
}

/// The graph copied into drives that forget, before anything is timed.
storage copy_onto(const storage& from, const std::vector<std::string>& uris, lane::machine* on) {
  const drive::volume& source = from.volume();
  storage made = storage::create(uris, {.mode = drive::access::write, .machine = on}, drive::layout::stripe,
                                 source.unit(), "copy");
  progress bar("copying", graph::volume_bytes(source));
  graph::copy_graph(source, made.volume(), [&](std::uint64_t bytes) {
    context::stop_if_asked();
    bar.add(bytes);
  });
  return made;
}

/// The edge lists in memory, for plain C++; brought there only where something asks for them.
class plain_graph {
 public:
  explicit plain_graph(const graph::stored_graph& of) : of_(of) {}
  graph::csr_view view() {
    if (!targets_) {
      progress bar("reading all edges to verify", of_.edge_lists().bytes);
      targets_ = of_.read_targets([&](std::uint64_t bytes) {
        context::stop_if_asked();
        bar.add(bytes);
      });
    }
    return {of_.offsets(), *targets_};
  }

 private:
  const graph::stored_graph& of_;
  std::optional<std::vector<graph::vertex_id>> targets_;
};

double time_reference(const graph::csr_view& lists, graph::vertex_id source, graph::bfs_tree& found) {
  const auto began = std::chrono::steady_clock::now();
  found = graph::bfs_reference(lists, source);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

graph::bfs_outcome run_reference(const graph::stored_graph& of, plain_graph& plain, graph::vertex_id source,
                                 std::uint32_t trials) {
  graph::bfs_outcome outcome;
  for (std::uint32_t i = 0; i < trials; ++i) {
    context::stop_if_asked();
    outcome.seconds.push_back(time_reference(plain.view(), source, outcome.tree));
  }
  outcome.edges_followed = graph::edges_followed(of, outcome.tree);
  return outcome;
}

void need_right(const graph::csr_view& lists, graph::vertex_id source, const graph::bfs_tree& found) {
  if (const auto fault = graph::fault_of_bfs(lists, source, found))
    throw error(error_kind::wrong_answer, "the search's answer is wrong: " + *fault,
                "please report it with the command line and the machine");
}

void bfs(context& with, bfs_choice& choice) {
  const std::unique_ptr<lane::machine> machine = with.wants_reference() ? nullptr : with.open_machine();
  storage lasting = storage::open(choice.graph.uris, {.mode = drive::access::read, .machine = machine.get()});
  std::optional<storage> copy;
  if (!choice.onto.empty()) copy.emplace(copy_onto(lasting, choice.onto, machine.get()));
  storage& held = copy ? *copy : lasting;
  const graph::stored_graph of(held.volume());
  for (const std::string& line : held.volume().notes()) with.note(line);
  const graph::vertex_id source = source_of(of, choice);
  if (machine != nullptr)
    graph::need_possible(*machine, held, choice.options);  // before all edges are read to verify
  plain_graph plain(of);
  bfs_report report{.graph = of, .source = source, .options = choice.options};
  report.verified = choice.verify.value_or(of.edges() <= verified_by_itself);
  if (report.verified) {
    plain.view();  // before the drives' counters are read for the lanes
    choice.options.check = [&](const graph::bfs_tree& found) { need_right(plain.view(), source, found); };
  }
  choice.options.stop_asked = context::stop_asked;
  if (machine == nullptr) {
    report.machine = {{"name", "plain C++, one thread"}, {"backend", "reference"}, {"processors", 1}};
    report.outcome = run_reference(of, plain, source, choice.options.trials);
    if (report.verified) need_right(plain.view(), source, report.outcome.tree);
  } else {
    report.machine = describe_machine(*machine);
    report.outcome = graph::bfs_on_lanes(*machine, held, of, source, choice.options);
  }
  if (choice.comparators) {
    graph::bfs_tree ignored;
    report.reference_seconds = time_reference(plain.view(), source, ignored);
  }
  with.print(report.as_json(), report.as_text());
}

void add_run_options(CLI::App& command, bfs_choice& choice) {
  command
      .add_option("--onto", choice.onto,
                  "copy the graph into these drives first, mem: ones perhaps; repeatable")
      ->type_name("URI")
      ->expected(1)
      ->take_all();
  command.add_option("--trials", choice.options.trials, "searches, each from an empty cache")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  add_bytes(command, "--cache", "memory for pages", choice.options.cache_bytes);
  add_bytes(command, "--page", "bytes that move at once", choice.options.page_bytes);
  command.add_option("--queues", choice.options.queues, "queue pairs on each drive")
      ->check(CLI::Range(1U, 65'535U))
      ->capture_default_str();
  command.add_flag_function(
      "--verify,!--no-verify", [&choice](std::int64_t wanted) { choice.verify = wanted > 0; },
      "compare with plain C++ (as is usual for all but large graphs)");
  command.add_flag("--verify-pages", choice.options.verify_pages,
                   "check pages of sealed datasets when they come");
  command.add_flag("--comparators", choice.comparators, "also time plain C++ with all edges in memory");
}

}  // namespace

void add_graph_bfs(CLI::App& graph, context& with) {
  auto choice = std::make_shared<bfs_choice>();
  CLI::App& command = with.add_command(
      graph,
      {"bfs", "breadth-first search: how far is every vertex?",
       "sluice graph bfs --graph file:/data/web0.img --graph file:/data/web1.img --source 7"},
      runs_on::lanes_and_plain_cplus);
  add_uris(command, "--graph", "where the graph lies", choice->graph);
  CLI::Option* number =
      command
          .add_option("--source", choice->source, "start here (else at the lowest vertex that has an edge)")
          ->type_name("VERTEX");
  command.add_option("--source-name", choice->source_name, "start at the vertex of this name")
      ->type_name("NAME")
      ->excludes(number);
  add_run_options(command, *choice);
  with.runs(command, [&with, choice] { bfs(with, *choice); });
}

}  // namespace sluice::tool
