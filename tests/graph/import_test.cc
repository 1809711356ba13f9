#include "apps/graph/import.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/graph/graph_bench.h"
#include "tests/support/refusal.h"

namespace sluice::graph {
namespace {

using sluice::test::refusal;
using sluice::test::refusal_of;
using sluice::test::scratch_file;
using test::scratch_volume;

void write(const scratch_file& file, const std::string& text) { std::ofstream(file.path()) << text; }

/// Bytes of a file, to see that nothing changed.
std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(graph_import, brings_back_what_the_text_says) {
  const scratch_file text, names;
  write(text, "0 1\n0 2\n2 1\n");
  write(names, "zero\none\ntwo\n");
  const scratch_volume drives(2);
  drives.import(load_graph({.file = text.path(), .names_file = names.path()}));
  const storage opened = drives.open();
  const stored_graph graph(opened.volume());
  EXPECT_EQ(graph.offsets(), (std::vector<std::uint64_t>{0, 2, 2, 3}));
  EXPECT_EQ(graph.read_targets(), (std::vector<vertex_id>{1, 2, 1}));
  EXPECT_EQ(graph.names().find("two"), vertex_id{2});
  EXPECT_EQ(graph.names()[1], "one");
  EXPECT_EQ(graph.first_with_edges(), vertex_id{0});
}

TEST(graph_import, counts_names_against_vertices) {
  const scratch_file text, names;
  write(text, "0 1\n1 2\n");
  write(names, "zero\none\n");
  const refusal said = refusal_of([&] { load_graph({.file = text.path(), .names_file = names.path()}); });
  EXPECT_EQ(said.kind, error_kind::bad_input);
  EXPECT_NE(said.line.find("has 2 names"), std::string::npos);
}

TEST(graph_import, makes_files_as_large_as_the_graph_needs_and_grows_them) {
  const scratch_volume drives(2);
  drives.import(test::chain(10));
  const auto before = std::filesystem::file_size(drives.path());
  drives.import(test::random_graph(100'000, 300'000, 1));
  EXPECT_GT(std::filesystem::file_size(drives.path()), before);
  EXPECT_EQ(stored_graph(drives.open().volume()).vertices(), 100'000U);
}

TEST(graph_import, replaces_a_graph_and_its_names) {
  const scratch_file text, names;
  write(text, "0 1\n");
  write(names, "a\nb\n");
  const scratch_volume drives;
  drives.import(load_graph({.file = text.path(), .names_file = names.path()}));
  drives.import(test::chain(5));
  const storage opened = drives.open();
  const stored_graph graph(opened.volume());
  EXPECT_EQ(graph.vertices(), 5U);
  EXPECT_TRUE(graph.names().empty());
}

TEST(graph_import, refuses_drives_that_forget) {
  const loaded_graph graph = test::chain(3);
  const refusal said = refusal_of([&] { import_graph(graph, {.uris = {"mem:16MiB"}}); });
  EXPECT_EQ(said.kind, error_kind::bad_input);
  EXPECT_NE(said.mend.find("--onto"), std::string::npos);
}

TEST(graph_import, leaves_a_file_alone_that_holds_something_else) {
  const scratch_file foreign;
  write(foreign, std::string(4 << 20, 'x'));
  const std::string before = bytes_of(foreign.path());
  const loaded_graph graph = test::chain(1'000'000);
  const refusal said = refusal_of([&] { import_graph(graph, {.uris = {"file:" + foreign.path()}}); });
  EXPECT_EQ(said.kind, error_kind::bad_input);
  EXPECT_EQ(bytes_of(foreign.path()), before);
}

TEST(graph_import, leaves_no_file_behind_when_it_fails) {
  const std::string path = scratch_file().path();  // gone again, and free to be made
  const loaded_graph graph = test::chain(100'000);
  const refusal said =
      refusal_of([&] { import_graph(graph, {.uris = {"file:" + path + "?error_lba=2200-2300"}}); });
  EXPECT_EQ(said.kind, error_kind::io_failure);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(graph_import, keeps_the_old_graph_when_a_drive_fails_under_the_new) {
  const scratch_volume drives;
  drives.import(test::random_graph(50'000, 100'000, 1));
  const refusal said =
      refusal_of([&] { import_graph(test::chain(100), {.uris = drives.uris("error_rate=1")}); });
  EXPECT_EQ(said.kind, error_kind::io_failure);
  EXPECT_EQ(stored_graph(drives.open().volume()).vertices(), 50'000U);
}

TEST(graph_import, stopped_between_datasets_is_recognised) {
  const scratch_volume drives;
  drives.import(test::chain(100));
  {
    storage opened = storage::open(drives.uris(), {.mode = drive::access::write});
    // What a program leaves that was killed between two commits: offsets of one import, edges of another.
    drive::volume& volume = opened.volume();
    const drive::dataset edges = volume.find(edges_dataset);
    drive::dataset other =
        volume.begin_dataset(edges_dataset, graph_kind, edges.bytes, R"({"format":1,"mark":"x",
      "vertices":100,"edges":198,"id_bytes":4,"symmetric":true,"named":false,"from":"chain"})");
    volume.commit(other);
  }
  const storage opened = drives.open();
  const refusal said = refusal_of([&] { stored_graph graph(opened.volume()); });
  EXPECT_EQ(said.kind, error_kind::corrupt);
  EXPECT_EQ(said.mend, "import the graph again");
}

TEST(graph_import, notices_a_damaged_page_of_edges) {
  const scratch_volume drives;
  drives.import(test::random_graph(1'000, 10'000, 1));
  std::uint64_t at = 0;
  {
    const storage opened = drives.open();
    const stored_graph graph(opened.volume());
    const auto place = opened.volume().ref().locate(graph.edge_lists().first_byte);
    at = place.first.value * opened.volume().block_size();
  }
  std::fstream file(drives.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at + 8));
  file.put('\x7f');
  file.close();
  const storage opened = drives.open();
  const refusal said = refusal_of([&] { stored_graph(opened.volume()).read_targets(); });
  EXPECT_EQ(said.kind, error_kind::corrupt);
  EXPECT_NE(said.line.find(edges_dataset), std::string::npos);
}

TEST(graph_import, says_what_a_volume_without_a_graph_holds) {
  const scratch_volume drives;
  drives.import(test::chain(3));
  storage::create(drives.uris(), {.mode = drive::access::write}, drive::layout::stripe, drive::largest_page,
                  "empty", drive::on_existing::replace);
  const storage opened = drives.open();
  EXPECT_EQ(refusal_of([&] { stored_graph graph(opened.volume()); }).kind, error_kind::bad_input);
}

}  // namespace
}  // namespace sluice::graph
