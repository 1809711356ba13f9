#include "apps/graph/bfs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <vector>

#include "tests/graph/graph_bench.h"
#include "tests/support/refusal.h"

namespace sluice::graph {
namespace {

using sluice::test::refusal;
using sluice::test::refusal_of;
using test::scratch_volume;

std::vector<std::uint64_t> histogram_of(const bfs_outcome& of) { return depth_histogram(of.tree.depth); }

bfs_outcome import_and_search(const loaded_graph& graph, vertex_id source,
                              const bfs_options& options = {.cache_bytes = MiB}) {
  const scratch_volume drives;
  drives.import(graph);
  storage opened = drives.open();
  return test::search(opened, source, options);
}

TEST(bfs, equals_plain_cplus_on_random_graphs) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed)
    import_and_search(test::random_graph(2'000, 1'500 * seed, seed), seed);
}

TEST(bfs, follows_a_chain_to_its_end) {
  const bfs_outcome found = import_and_search(test::chain(300), 0);
  EXPECT_EQ(histogram_of(found), std::vector<std::uint64_t>(300, 1));
}

TEST(bfs, reads_a_list_of_many_pages) {
  const bfs_outcome found = import_and_search(test::star(50'000), 0, {.cache_bytes = MiB, .page_bytes = 512});
  EXPECT_EQ(histogram_of(found), (std::vector<std::uint64_t>{1, 49'999}));
  EXPECT_EQ(histogram_of(import_and_search(test::star(5'000), 4'321)),
            (std::vector<std::uint64_t>{1, 1, 4'998}));
}

TEST(bfs, leaves_unreached_what_is_not_connected) {
  std::vector<edge> edges{{0, 1}, {2, 3}, {3, 2}};
  const loaded_graph graph{.lists = build_csr(5, edges), .names = {}, .facts = {}};
  const bfs_outcome found = import_and_search(graph, 2);
  EXPECT_EQ(found.tree.depth, (std::vector<std::uint32_t>{unreached, unreached, 0, 1, unreached}));
  EXPECT_EQ(found.edges_followed, 2U);
}

TEST(bfs, of_a_vertex_without_edges_reaches_itself) {
  const loaded_graph graph{.lists = build_csr(3, {}), .names = {}, .facts = {}};
  const bfs_outcome found = import_and_search(graph, 1);
  EXPECT_EQ(found.tree.depth, (std::vector<std::uint32_t>{unreached, 0, unreached}));
  EXPECT_EQ(found.io.commands_issued, 0U);
}

TEST(bfs, is_right_with_a_cache_of_a_few_frames) {
  for (const std::uint64_t frames : {4, 8, 16}) {
    const bfs_outcome found = import_and_search(test::random_graph(1'000, 3'000, 7), 0,
                                                {.cache_bytes = frames * 512, .page_bytes = 512});
    EXPECT_GT(found.io.bytes_moved, found.io.bytes_needed);
  }
}

TEST(bfs, says_beforehand_what_no_cache_can_be) {
  const scratch_volume drives;
  drives.import(test::chain(100));
  storage opened = drives.open();
  const auto machine = lane::machine::cpu(1);
  const std::uint64_t before = opened.counters().served;
  EXPECT_NO_THROW(need_possible(*machine, opened, {.page_bytes = 512}));
  for (const bfs_options& wrong :
       {bfs_options{.page_bytes = 3000}, bfs_options{.cache_bytes = 4096}, bfs_options{.depth = 3}}) {
    const auto told = sluice::test::refusal_of([&] { need_possible(*machine, opened, wrong); });
    EXPECT_EQ(told.kind, error_kind::bad_input) << told.line;
    EXPECT_EQ(opened.counters().served, before) << "nothing was read";
  }
}

TEST(bfs, tells_the_io_truth) {
  const loaded_graph graph = test::random_graph(20'000, 100'000, 3);
  const bfs_outcome found = import_and_search(graph, 0, {.cache_bytes = 8 * MiB, .trials = 2});
  EXPECT_EQ(found.io.commands_issued, found.io.commands_served);
  EXPECT_EQ(found.seconds.size(), 2U);
  EXPECT_EQ(found.io.bytes_needed, 2 * found.edges_followed * sizeof(vertex_id));
  EXPECT_EQ(found.io.bytes_moved, found.io.commands_served * 4096);
  // With room for all, every page comes once in a trial.
  EXPECT_LE(found.io.bytes_moved, 2 * (graph.lists.targets.size() * sizeof(vertex_id) + 2 * 4096));
  EXPECT_GE(found.io.amplification(), 1.0);
}

TEST(bfs, is_the_same_over_stripes_and_mirrors) {
  const loaded_graph graph = test::random_graph(30'000, 90'000, 5);
  const auto truth = histogram_of(import_and_search(graph, 0));
  for (const drive::layout how : {drive::layout::stripe, drive::layout::mirror}) {
    const scratch_volume drives(2, how);
    drives.import(graph);
    storage opened = drives.open();
    EXPECT_EQ(histogram_of(test::search(opened, 0)), truth);
  }
}

TEST(bfs, runs_over_a_copy_in_drives_that_forget) {
  const scratch_volume drives;
  drives.import(test::random_graph(2'000, 6'000, 9));
  const storage lasting = drives.open();
  const std::vector<std::string> memory{"mem:16MiB", "mem:16MiB"};
  storage copy = storage::create(memory, {.mode = drive::access::write}, drive::layout::stripe,
                                 drive::largest_page, "copy");
  copy_graph(lasting.volume(), copy.volume());
  EXPECT_GT(test::search(copy, 0).io.commands_served, 0U);
}

/// Blocks of the first drive that hold edges, as a range for `error_lba=`.
std::string edge_blocks(const scratch_volume& drives) {
  const storage opened = drives.open();
  const stored_graph graph(opened.volume());
  const drive::volume_ref ref = opened.volume().ref();
  const drive::dataset& edges = graph.edge_lists();
  return std::to_string(ref.locate(edges.first_byte).first.value) + "-" +
         std::to_string(ref.locate(edges.first_byte + edges.bytes - 1).first.value);
}

/// Searches without reading all edges on the host first.
void search_unchecked(storage& over, const bfs_options& options = {.cache_bytes = MiB}) {
  const stored_graph graph(over.volume());
  const auto machine = lane::machine::cpu(2);
  bfs_on_lanes(*machine, over, graph, 0, options);
}

TEST(bfs, ends_with_the_drives_error) {
  const scratch_volume drives;
  drives.import(test::random_graph(5'000, 20'000, 2));
  storage opened = drives.open("error_lba=" + edge_blocks(drives));
  try {
    search_unchecked(opened);
    FAIL() << "a drive that fails all reads of edges was not noticed";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::io_failure);
    EXPECT_TRUE(e.place().drive.starts_with("file:"));
    EXPECT_TRUE(e.place().block.has_value());
    EXPECT_EQ(e.place().code.nvme_code(), 0x281U);
  }
}

TEST(bfs, recovers_from_dropped_commands_or_says_so_within_the_deadline) {
  const scratch_volume drives;
  drives.import(test::random_graph(5'000, 20'000, 2));
  for (int seed = 1; seed <= 2; ++seed) {
    const refusal said = refusal_of([&] {
      storage opened = drives.open("drop_rate=0.02&deadline_ms=100&seed=" + std::to_string(seed));
      test::search(opened, 0);
    });
    if (!said.line.empty()) {
      EXPECT_EQ(said.kind, error_kind::io_failure) << said.line;
    }
  }
}

TEST(bfs, notices_edges_that_lead_nowhere) {
  const scratch_volume drives;
  drives.import(test::star(1'000));
  std::uint64_t at = 0;
  {
    const storage opened = drives.open();
    const stored_graph graph(opened.volume());
    at = opened.volume().ref().locate(graph.edge_lists().first_byte).first.value *
         opened.volume().block_size();
  }
  std::fstream file(drives.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at + 7));
  file.put('\x7f');
  file.close();
  storage opened = drives.open();
  EXPECT_EQ(refusal_of([&] { search_unchecked(opened); }).kind, error_kind::corrupt);
}

TEST(bfs, stops_when_asked) {
  const scratch_volume drives;
  drives.import(test::chain(100'000));
  storage opened = drives.open();
  std::atomic<int> looks{0};
  bfs_options options{.cache_bytes = MiB};
  options.stop_asked = [&] { return ++looks > 3; };
  EXPECT_EQ(refusal_of([&] { search_unchecked(opened, options); }).kind, error_kind::cancelled);
}

TEST(bfs, check_finds_each_kind_of_wrong_answer) {
  const csr lists = build_csr(4, std::vector<edge>{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 3}, {3, 0}});
  const bfs_tree right = bfs_reference(lists.view(), 0);
  EXPECT_FALSE(fault_of_bfs(lists.view(), 0, right).has_value());
  const auto fault = [&](auto spoil) {
    bfs_tree wrong = right;
    spoil(wrong);
    return fault_of_bfs(lists.view(), 0, wrong).value_or("");
  };
  EXPECT_EQ(fault([](bfs_tree& t) { t.depth[2] = 1; }), "vertex 2 has depth 1, in truth 2");
  EXPECT_EQ(fault([](bfs_tree& t) { t.depth[3] = unreached; }), "vertex 3 has depth unreached, in truth 1");
  EXPECT_EQ(fault([](bfs_tree& t) { t.parent[0] = 1; }), "the source's parent is vertex 1, not itself");
  EXPECT_EQ(fault([](bfs_tree& t) { t.parent[2] = 3; }), "vertex 2 has no edge from its parent, vertex 3");
  EXPECT_EQ(fault([](bfs_tree& t) { t.parent[2] = 9; }), "vertex 2 has a parent that there is not");
}

}  // namespace
}  // namespace sluice::graph
