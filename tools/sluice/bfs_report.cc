#include "tools/sluice/bfs_report.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sluice/base/sizes.h"

namespace sluice::tool {

namespace {

std::string bytes_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

double bfs_report::total_seconds() const {
  return std::accumulate(outcome.seconds.begin(), outcome.seconds.end(), 0.0);
}

double bfs_report::edges_per_s() const {
  const double all =
      static_cast<double>(outcome.edges_followed) * static_cast<double>(outcome.seconds.size());
  return total_seconds() > 0 ? all / total_seconds() : 0;
}

bool bfs_report::by_lanes() const { return machine.value("backend", "") != "reference"; }

json bfs_report::as_json() const {
  const std::vector<std::uint64_t> depths = graph::depth_histogram(outcome.tree.depth);
  const graph::bfs_io& io = outcome.io;
  json comparators = json::array();
  if (reference_seconds) {
    const double rate = static_cast<double>(outcome.edges_followed) / std::max(*reference_seconds, 1e-9);
    comparators.push_back({{"name", "reference"},
                           {"seconds", *reference_seconds},
                           {"bytes_per_s", rate * sizeof(graph::vertex_id)},
                           {"ratio", edges_per_s() / rate}});
  }
  return {{"vertices", graph.vertices()},
          {"edges", graph.edges()},
          {"source", source},
          {"reached", std::accumulate(depths.begin(), depths.end(), std::uint64_t{0})},
          {"depth_histogram", depths},
          {"seconds", outcome.seconds},
          {"edges_per_s", edges_per_s()},
          {"verified", verified},
          {"io",
           {{"commands_issued", io.commands_issued},
            {"commands_served", io.commands_served},
            {"commands_dropped", io.commands_dropped},
            {"mismatches", io.mismatches},
            {"bytes_needed", io.bytes_needed},
            {"bytes_moved", io.bytes_moved},
            {"amplification", io.amplification()},
            {"hit_rate", io.hit_rate()},
            {"iops", total_seconds() > 0 ? static_cast<double>(io.commands_served) / total_seconds() : 0}}},
          {"comparators", comparators},
          {"config",
           {{"cache_bytes", options.cache_bytes},
            {"page_bytes", options.page_bytes},
            {"queues", options.queues},
            {"trials", options.trials}}},
          {"machine", machine},
          {"version", version()}};
}

std::string bfs_report::vertex_text(std::uint64_t v) const {
  return graph.facts().named ? std::string(graph.names()[v]) : std::to_string(v);
}

/// A few vertices at that depth: those with the most edges, which people are most likely to know.
std::string bfs_report::examples(std::uint32_t depth) const {
  constexpr std::size_t most = 4;
  std::vector<std::uint64_t> best;
  const auto has_more = [&](std::uint64_t a, std::uint64_t b) { return graph.degree(a) > graph.degree(b); };
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    if (outcome.tree.depth[v] != depth) continue;
    best.insert(std::upper_bound(best.begin(), best.end(), v, has_more), v);
    if (best.size() > most) best.pop_back();
  }
  std::string text;
  for (const std::uint64_t v : best) text += (text.empty() ? "" : ", ") + vertex_text(v);
  return text;
}

std::string bfs_report::distances() const {
  const std::vector<std::uint64_t> depths = graph::depth_histogram(outcome.tree.depth);
  const std::uint64_t reached = std::accumulate(depths.begin(), depths.end(), std::uint64_t{0});
  std::string text = fmt::format("\n  distance      vertices   for example\n");
  for (std::uint32_t d = 0; d < depths.size(); ++d)
    text += fmt::format("  {:>8}  {:>12}   {}\n", d, format_grouped(depths[d]), examples(d));
  if (reached < graph.vertices())
    text += fmt::format("  {:>8}  {:>12}   {}\n", "none", format_grouped(graph.vertices() - reached),
                        examples(graph::unreached));
  return text;
}

std::string bfs_report::io_text() const {
  const graph::bfs_io& io = outcome.io;
  const std::string dropped =
      io.commands_dropped == 0 ? "" : fmt::format(" + {} dropped", format_grouped(io.commands_dropped));
  return fmt::format(
      "  commands    {} issued by lanes = {} served by controllers{}\n"
      "  bytes       {} needed, {} moved: {:.2f} times as many, in pages of {}\n"
      "  cache       {:.1f} % of {} visits to pages found them there\n"
      "  rate        {} commands/s, {}/s\n",
      format_grouped(io.commands_issued), format_grouped(io.commands_served), dropped,
      bytes_text(io.bytes_needed), bytes_text(io.bytes_moved), io.amplification(),
      bytes_text(options.page_bytes), io.hit_rate() * 100, format_grouped(io.accesses),
      format_rate(static_cast<double>(io.commands_served) / total_seconds()),
      format_bytes(static_cast<double>(io.bytes_moved) / total_seconds()));
}

std::string bfs_report::as_text() const {
  std::string text = fmt::format("Breadth-first search of {} from {}: {} vertices, {} edges, on {}\n",
                                 graph.facts().from, vertex_text(source), format_grouped(graph.vertices()),
                                 format_grouped(graph.edges()), machine.value("name", ""));
  text += distances();
  const auto [least, most] = std::minmax_element(outcome.seconds.begin(), outcome.seconds.end());
  const std::string times = outcome.seconds.size() == 1 ? fmt::format("{:.3f} s", *least)
                                                        : fmt::format("{:.3f} to {:.3f} s, {} trials", *least,
                                                                      *most, outcome.seconds.size());
  text += fmt::format("\n  time        {}, {} edges/s\n", times, format_rate(edges_per_s()));
  if (by_lanes()) text += io_text();
  if (reference_seconds)
    text += fmt::format("  plain C++   {:.3f} s with all edges in memory\n", *reference_seconds);
  text += verified ? "  verified    every distance equals plain C++'s, every parent is one step nearer\n"
                   : "  not verified (--verify compares with plain C++)\n";
  return text;
}

}  // namespace sluice::tool
