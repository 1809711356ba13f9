#include "apps/graph/stored_graph.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/graph/dataset_bytes.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"

namespace sluice::graph {

namespace {

using nlohmann::json;

constexpr int format_version = 1;

constexpr std::array all_datasets{offsets_dataset, edges_dataset, names_dataset};

/// A number that no other import draws.
std::string draw_mark() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string meta_text(const graph_facts& facts, const std::string& mark) {
  const json meta{{"format", format_version},      {"mark", mark},
                  {"vertices", facts.vertices},    {"edges", facts.edges},
                  {"id_bytes", sizeof(vertex_id)}, {"symmetric", facts.symmetric},
                  {"named", facts.named},          {"from", facts.from}};
  return meta.dump(-1, ' ', false, json::error_handler_t::replace);
}

[[noreturn]] void refuse(const std::string& what) {
  throw error(error_kind::corrupt, "the graph's parts do not belong together: " + what,
              "import the graph again");
}

struct graph_meta {
  graph_facts facts;
  std::string mark;
};

graph_meta parse_meta(const drive::dataset& of) {
  try {
    const json meta = json::parse(of.meta);
    if (meta.at("format").get<int>() != format_version)
      throw error(error_kind::unavailable, "the graph was imported by a newer version of this program",
                  "use that version, or import it again");
    if (meta.at("id_bytes").get<std::size_t>() != sizeof(vertex_id))
      throw error(error_kind::unavailable,
                  "the graph's vertex numbers are of a size that this version cannot read",
                  "use a newer version");
    return {{.vertices = meta.at("vertices"),
             .edges = meta.at("edges"),
             .symmetric = meta.at("symmetric"),
             .named = meta.at("named"),
             .from = meta.at("from")},
            meta.at("mark")};
  } catch (const json::exception&) {
    refuse("what the manifest says of " + of.name + " cannot be read");
  }
}

/// The three datasets, in order, while they are being written.
class graph_writer {
 public:
  graph_writer(drive::volume& on, std::string meta) : volume_(on), meta_(std::move(meta)) {}
  graph_writer(const graph_writer&) = delete;
  graph_writer& operator=(const graph_writer&) = delete;
  /// What was begun and not committed goes; a drive that fails now has been told of already.
  ~graph_writer() {
    for (const drive::dataset& each : begun_) {
      try {
        volume_.remove(each.name);
      } catch (const error&) {
        continue;
      }
    }
  }

  drive::dataset& begin(const char* name, std::uint64_t bytes) {
    begun_.push_back(volume_.begin_dataset(name, graph_kind, bytes, meta_));
    return begun_.back();
  }
  void commit() {
    for (const drive::dataset& each : begun_) volume_.commit(each);
    begun_.clear();
  }

 private:
  drive::volume& volume_;
  std::string meta_;
  std::vector<drive::dataset> begun_;
};

bool holds(const drive::volume& on, const char* name) {
  const auto all = on.datasets();
  return std::any_of(all.begin(), all.end(), [&](const drive::dataset& each) { return each.name == name; });
}

std::uint64_t padded(std::uint64_t bytes) { return align_up(bytes, drive::largest_page); }

}  // namespace

std::uint64_t volume_bytes(const csr& graph, const vertex_names& names) {
  return padded(graph.offsets.size() * sizeof(std::uint64_t)) +
         padded(graph.targets.size() * sizeof(vertex_id)) +
         (names.empty() ? 0 : padded(names.bytes().size()));
}

void store_graph(drive::volume& on, const csr& graph, const vertex_names& names, graph_facts facts,
                 const byte_progress& progress) {
  facts.vertices = graph.offsets.size() - 1;
  facts.edges = graph.targets.size();
  facts.named = !names.empty();
  graph_writer writer(on, meta_text(facts, draw_mark()));
  const auto put = [&](const char* name, std::span<const std::byte> bytes) {
    write_dataset(on, writer.begin(name, bytes.size()), bytes, progress);
  };
  put(offsets_dataset, std::as_bytes(std::span(graph.offsets)));
  put(edges_dataset, std::as_bytes(std::span(graph.targets)));
  if (facts.named) put(names_dataset, names.bytes());
  writer.commit();
  if (!facts.named && holds(on, names_dataset)) on.remove(names_dataset);
}

stored_graph::stored_graph(const drive::volume& on) : volume_(&on) {
  const drive::dataset offsets = on.find(offsets_dataset);
  edges_ = on.find(edges_dataset);
  const graph_meta meta = parse_meta(offsets);
  if (parse_meta(edges_).mark != meta.mark) refuse("an import stopped between them");
  facts_ = meta.facts;
  if (facts_.vertices > most_vertices || offsets.bytes != (facts_.vertices + 1) * sizeof(std::uint64_t) ||
      edges_.bytes / sizeof(vertex_id) != facts_.edges)
    refuse("their sizes differ from what the manifest says");
  offsets_.resize(facts_.vertices + 1);
  read_dataset(on, offsets, std::as_writable_bytes(std::span(offsets_)), {});
  if (offsets_.front() != 0 || offsets_.back() != facts_.edges ||
      !std::is_sorted(offsets_.begin(), offsets_.end()))
    refuse("the offsets do not fit the edges");
}

const vertex_names& stored_graph::names() const {
  if (names_) return *names_;
  if (!facts_.named) return names_.emplace();
  const drive::dataset of = volume_->find(names_dataset);
  std::vector<std::byte> bytes(of.bytes);
  read_dataset(*volume_, of, bytes, {});
  vertex_names read = vertex_names::from_bytes(bytes);
  if (read.size() != facts_.vertices) refuse("there are not as many names as vertices");
  return names_.emplace(std::move(read));
}

std::vector<vertex_id> stored_graph::read_targets(const byte_progress& progress) const {
  std::vector<vertex_id> targets(facts_.edges);
  read_dataset(*volume_, edges_, std::as_writable_bytes(std::span(targets)), progress);
  if (std::any_of(targets.begin(), targets.end(), [&](vertex_id v) { return v >= facts_.vertices; }))
    refuse("an edge leads to a vertex that there is not");
  return targets;
}

std::optional<vertex_id> stored_graph::first_with_edges() const {
  for (std::uint64_t u = 0; u < facts_.vertices; ++u)
    if (degree(u) > 0) return static_cast<vertex_id>(u);
  return std::nullopt;
}

std::uint64_t volume_bytes(const drive::volume& of) {
  std::uint64_t sum = 0;
  for (const drive::dataset& each : of.datasets())
    if (each.kind == graph_kind) sum += padded(each.bytes);
  return sum;
}

void copy_graph(const drive::volume& from, drive::volume& to, const byte_progress& progress) {
  for (const char* name : all_datasets) {
    if (!holds(from, name)) continue;
    const drive::dataset of = from.find(name);
    drive::dataset into = to.begin_dataset(name, of.kind, of.bytes, of.meta);
    copy_dataset(from, of, to, into, progress);
    to.commit(into);
  }
}

}  // namespace sluice::graph
