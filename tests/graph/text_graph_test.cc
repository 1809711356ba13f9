#include "apps/graph/text_graph.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/graph_file_target.h"
#include "tests/support/refusal.h"

namespace sluice::graph {
namespace {

using sluice::test::refusal;
using sluice::test::refusal_of;

text_graph read(const std::string& text, const text_options& options = {}, std::size_t piece = 1 << 16) {
  text_lines lines("g.el", fuzz::pieces_of(text, piece));
  return read_text_graph(lines, options);
}

refusal refused(const std::string& text, const text_options& options = {}) {
  return refusal_of([&] { read(text, options); });
}

using edges = std::vector<edge>;

TEST(text_graph, reads_edge_lists_with_any_separators_and_comments) {
  const text_graph graph = read("# comment\n\n0 1\n1\t2\n% another\n  2 , 0\r\n0;2");
  EXPECT_EQ(graph.edges, (edges{{0, 1}, {1, 2}, {2, 0}, {0, 2}}));
  EXPECT_EQ(graph.vertices, 3U);
  EXPECT_EQ(graph.format, text_format::edge_list);
}

TEST(text_graph, reads_the_same_whatever_pieces_the_text_comes_in) {
  const std::string text = "0 1\n10 200\r\n# x\n200 0\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(read(text, {}, piece).edges, (edges{{0, 1}, {10, 200}, {200, 0}}));
  }
}

TEST(text_graph, sees_from_the_smallest_number_where_an_edge_list_counts_from) {
  EXPECT_EQ(read("1 2\n2 3\n").edges, (edges{{0, 1}, {1, 2}}));
  EXPECT_EQ(read("1 2\n2 3\n").vertices, 3U);
  EXPECT_EQ(read("1 2\n2 3\n", {.first_vertex = 0}).edges, (edges{{1, 2}, {2, 3}}));
}

TEST(text_graph, takes_the_number_of_names_as_a_hint_where_an_edge_list_counts_from) {
  EXPECT_EQ(read("1 2\n", {.named_vertices = 3}).edges, (edges{{1, 2}}));
  EXPECT_EQ(read("1 2\n", {.named_vertices = 2}).edges, (edges{{0, 1}}));
  EXPECT_EQ(read("0 1\n", {.named_vertices = 9}).vertices, 9U);
}

TEST(text_graph, names_file_and_line_of_a_line_that_is_no_edge) {
  for (const char* line : {"7", "a b", "1 2 3", "-1 2", "1 2x", "1.5 2", "18446744073709551616 1"}) {
    const refusal said = refused("0 1\n" + std::string(line) + "\n");
    EXPECT_EQ(said.kind, error_kind::bad_input);
    EXPECT_TRUE(
        said.line.starts_with("g.el:2: expected two vertex numbers, found '" + std::string(line) + "'"))
        << said.line;
  }
}

TEST(text_graph, refuses_vertices_beyond_its_numbers) {
  EXPECT_NE(refused("0 1\n0 4294967296\n").line.find("g.el:2"), std::string::npos);
  EXPECT_NE(refused("0 1\n1 10\n", {.most = 10}).line.find("vertex 10 is too large"), std::string::npos);
  EXPECT_EQ(read("1 10\n", {.most = 10}).vertices, 10U);
  EXPECT_NE(refused("0 1\n", {.first_vertex = 1}).line.find("g.el:1"), std::string::npos);
}

TEST(text_graph, refuses_a_file_without_edges) {
  EXPECT_EQ(refused("").line, "g.el: holds no edge");
  EXPECT_EQ(refused("# only a comment\n").line, "g.el: holds no edge");
}

TEST(text_graph, reads_general_matrices_of_each_kind_of_value) {
  const std::string size = "\n% comment\n\n3 3 2\n";
  const edges truth{{0, 1}, {2, 0}};
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern general" + size + "1 2\n3 1\n").edges, truth);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general" + size + "1 2 -4\n3 1 9\n").edges, truth);
  EXPECT_EQ(read("%%MatrixMarket MATRIX Coordinate Real General" + size + "1 2 1e-3\n3 1 .5\n").edges, truth);
}

TEST(text_graph, takes_entries_of_symmetric_matrices_both_ways) {
  const text_graph graph = read("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
  EXPECT_EQ(graph.edges, (edges{{1, 0}, {0, 1}, {2, 2}}));
  EXPECT_TRUE(graph.symmetric);
}

TEST(text_graph, says_what_it_expected_of_a_matrix) {
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"%%MatrixMarket matrix array real general\n", "g.el:1: expected '%%MatrixMarket matrix coordinate"},
      {"%%MatrixMarket matrix coordinate complex general\n", "g.el:1: expected"},
      {banner, "g.el:1: expected rows, columns and entries"},
      {banner + "3 3\n", "g.el:2: expected rows, columns and entries"},
      {banner + "3 4 1\n1 1\n", "g.el:2: expected as many rows as columns"},
      {banner + "3 3 1\n0 1\n", "g.el:3: expected row and column from 1 to 3"},
      {banner + "3 3 1\n1 4\n", "g.el:3: expected row and column from 1 to 3"},
      {banner + "3 3 1\n1 2 0.5\n", "g.el:3: expected row and column,"},
      {banner + "3 3 2\n1 2\n", "g.el:3: expected 2 entries, found 'the end after 1'"},
      {banner + "3 3 1\n1 2\n2 3\n", "g.el:4: expected the end after 1 entries"}};
  for (const auto& [text, expected] : cases) {
    const refusal said = refused(text);
    EXPECT_EQ(said.kind, error_kind::bad_input);
    EXPECT_TRUE(said.line.starts_with(expected)) << said.line;
  }
}

TEST(text_graph, refuses_a_line_that_does_not_end) {
  EXPECT_NE(refused(std::string(3 << 20, '7')).line.find("a line of at most 1 MiB"), std::string::npos);
}

TEST(text_graph, reads_or_refuses_anything_made_of_its_own_words) {
  const std::vector<std::string> words{"%%MatrixMarket matrix coordinate ",
                                       "pattern ",
                                       "real ",
                                       "general\n",
                                       "symmetric\n",
                                       "\n",
                                       " ",
                                       ",",
                                       "0",
                                       "1",
                                       "2",
                                       "3 3 2\n",
                                       "65536",
                                       "-",
                                       "#",
                                       "%",
                                       "1e9",
                                       "\r\n",
                                       "99999999999999999999",
                                       std::string(1, '\0')};
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::string text(1, static_cast<char>(random() % 256));
    for (std::uint32_t left = random() % 30; left > 0; --left) text += words[random() % words.size()];
    fuzz::graph_file(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

}  // namespace
}  // namespace sluice::graph
