// The driver of breadth-first search by lanes: state in lanes' memory, one launch for each depth.
#include "apps/graph/bfs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <thread>

#include "apps/graph/bfs_kernel.h"
#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/memory/buffer.h"

namespace sluice::graph {

namespace {

using edge_array = cached_volume<>::array_type<vertex_id>;
using step_kernel = bfs_step<edge_array>;

/// Ends the lanes' waits soon after somebody asked to stop.
class stop_watch {
 public:
  stop_watch(const std::function<bool()>& asked, cached_volume<>& cached) {
    if (asked)
      watcher_ = std::jthread([&asked, &cached](const std::stop_token& over) { watch(over, asked, cached); });
  }

 private:
  static void watch(const std::stop_token& over, const std::function<bool()>& asked,
                    cached_volume<>& cached) {
    while (!over.stop_requested()) {
      if (asked()) return cached.cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  std::jthread watcher_;
};

/// The arrays of a search, in lanes' memory.
class bfs_memory {
 public:
  bfs_memory(backend on, const stored_graph& graph)
      : vertices_(graph.vertices()),
        offsets_(on, memory::place::device, graph.offsets().size() * sizeof(std::uint64_t)),
        depth_(per_vertex(on)),
        parent_(per_vertex(on)),
        frontiers_{per_vertex(on), per_vertex(on)},
        words_(on, memory::place::device, sizeof(bfs_words)) {
    memory::copy_in(offsets_.view(), 0, std::as_bytes(std::span(graph.offsets())));
  }

  void start_at(vertex_id source) {
    const std::vector<std::uint32_t> none(vertices_, unreached);
    memory::copy_in(depth_.view(), 0, std::as_bytes(std::span(none)));
    put(depth_, source, 0);
    put(parent_, source, source);
    put(frontiers_[0], 0, source);
    current_ = 0;
    size_ = 1;
  }
  bfs_state state() const {
    return {offsets_.lanes_as<std::uint64_t>(),
            depth_.lanes_as<std::uint32_t>(),
            parent_.lanes_as<vertex_id>(),
            frontiers_[current_].lanes_as<vertex_id>(),
            frontiers_[1 - current_].lanes_as<vertex_id>(),
            words_.lanes_as<bfs_words>(),
            vertices_,
            size_};
  }
  std::uint64_t frontier_size() const { return size_; }
  void clear_words() {
    const bfs_words none;
    memory::copy_in(words_.view(), 0, std::as_bytes(std::span(&none, 1)));
  }
  /// Makes the next frontier the current one. What the step said of itself.
  bfs_words turn_over() {
    bfs_words said;
    memory::copy_out(words_.view(), 0, std::as_writable_bytes(std::span(&said, 1)));
    current_ = 1 - current_;
    size_ = said.found;
    return said;
  }
  bfs_tree tree() const {
    bfs_tree found{std::vector<std::uint32_t>(vertices_), std::vector<vertex_id>(vertices_)};
    memory::copy_out(depth_.view(), 0, std::as_writable_bytes(std::span(found.depth)));
    memory::copy_out(parent_.view(), 0, std::as_writable_bytes(std::span(found.parent)));
    return found;
  }

 private:
  memory::buffer per_vertex(backend on) const {
    return {on, memory::place::device, vertices_ * sizeof(std::uint32_t)};
  }
  static void put(const memory::buffer& into, std::uint64_t at, std::uint32_t value) {
    memory::copy_in(into.view(), at * sizeof value, std::as_bytes(std::span(&value, 1)));
  }

  std::uint64_t vertices_;
  memory::buffer offsets_;
  memory::buffer depth_;
  memory::buffer parent_;
  memory::buffer frontiers_[2];
  memory::buffer words_;
  int current_ = 0;
  std::uint64_t size_ = 0;
};

/// Lanes of a block: several warps where an SM runs many, one where a worker thread runs them all.
std::uint32_t block_lanes(const lane::machine& on) { return on.kind() == backend::cuda ? 128 : 32; }

cached_options cache_of(const bfs_options& options) {
  return {.cache_bytes = options.cache_bytes,
          .page_bytes = options.page_bytes,
          .queues = options.queues,
          .depth = options.depth,
          .verify_pages = options.verify_pages};
}

/// One search, from an empty cache.
class bfs_trial {
 public:
  bfs_trial(lane::machine& on, storage& over, const stored_graph& graph, const bfs_options& options)
      : machine_(on),
        options_(options),
        cached_(on, over, cache_of(options)),
        edges_(cached_.template array<vertex_id>(graph.edge_lists())) {
    lane::preload<step_kernel>(on);
    // A warp asks for up to 32 pages at once: more warps than the cache has room for would only take them
    // from each other.
    const std::uint64_t warps = std::max<std::uint64_t>(cached_.frames() / 32, 1);
    most_blocks_ = std::min<std::uint64_t>(lane::resident_blocks<step_kernel>(on, block_lanes(on)),
                                           divide_up(warps, block_lanes(on) / 32));
  }

  /// Returns the seconds that it took.
  double run(bfs_memory& memory) {
    const stop_watch watch(options_.stop_asked, cached_);
    const auto began = std::chrono::steady_clock::now();
    for (std::uint32_t depth = 0; memory.frontier_size() > 0; ++depth) step(memory, depth);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  io_truth truth() const { return cached_.truth(); }

 private:
  void step(bfs_memory& memory, std::uint32_t depth) {
    memory.clear_words();
    const lane::grid shape = shape_for(memory.frontier_size());
    lane::launch(machine_, shape, step_kernel{edges_, memory.state(), depth, pages_ahead(shape)});
    if (options_.stop_asked && options_.stop_asked()) throw error(error_kind::cancelled, "stopped by Ctrl-C");
    cached_.sync();
    if (memory.turn_over().damaged != 0)
      throw error(error_kind::corrupt, "an edge of the graph leads to a vertex that there is not",
                  "import the graph again");
  }
  lane::grid shape_for(std::uint64_t frontier) const {
    const std::uint32_t lanes = block_lanes(machine_);
    const std::uint64_t wanted = divide_up(frontier, lanes / 32 * step_kernel::chunk);
    return {static_cast<std::uint32_t>(std::min(wanted, most_blocks_)), lanes};
  }
  /// As many as leave the other warps' pages in the cache.
  std::uint32_t pages_ahead(lane::grid shape) const {
    const std::uint64_t warps =
        std::max<std::uint64_t>(std::uint64_t{shape.blocks} * (shape.block_lanes / 32), 1);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(cached_.frames() / (2 * warps), 32));
  }

  lane::machine& machine_;
  const bfs_options& options_;
  cached_volume<> cached_;
  edge_array edges_;
  std::uint64_t most_blocks_ = 1;
};

void add(bfs_io& sum, const io_truth& truth) {
  sum.commands_issued += truth.commands.issued;
  sum.commands_served += truth.commands.served;
  sum.commands_dropped += truth.commands.dropped;
  sum.queues_lost += truth.commands.queues_lost;
  sum.mismatches += truth.mismatches;
  sum.bytes_moved += truth.bytes_moved;
  sum.accesses += truth.cache.accesses;
  sum.misses += truth.cache.misses;
}

}  // namespace

double bfs_io::amplification() const {
  return bytes_needed == 0 ? 0.0 : static_cast<double>(bytes_moved) / static_cast<double>(bytes_needed);
}

double bfs_io::hit_rate() const {
  return accesses == 0 ? 0.0 : static_cast<double>(accesses - misses) / static_cast<double>(accesses);
}

std::uint64_t edges_followed(const stored_graph& graph, const bfs_tree& tree) {
  std::uint64_t sum = 0;
  for (std::uint64_t u = 0; u < graph.vertices(); ++u)
    if (tree.depth[u] != unreached) sum += graph.degree(u);
  return sum;
}

void need_possible(lane::machine& on, storage& over, const bfs_options& options) {
  const cached_volume<> opened(on, over, cache_of(options));
}

bfs_outcome bfs_on_lanes(lane::machine& on, storage& over, const stored_graph& graph, vertex_id source,
                         const bfs_options& options) {
  bfs_memory memory(on.kind(), graph);
  bfs_outcome outcome;
  for (std::uint32_t i = 0; i < options.trials; ++i) {
    memory.start_at(source);
    bfs_trial trial(on, over, graph, options);
    outcome.seconds.push_back(trial.run(memory));
    outcome.tree = memory.tree();
    outcome.edges_followed = edges_followed(graph, outcome.tree);
    outcome.io.bytes_needed += outcome.edges_followed * sizeof(vertex_id);
    add(outcome.io, trial.truth());
    if (options.check) options.check(outcome.tree);
  }
  return outcome;
}

}  // namespace sluice::graph
