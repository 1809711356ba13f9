#include "apps/graph/csr.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/refusal.h"

namespace sluice::graph {
namespace {

using sluice::test::refusal;
using sluice::test::refusal_of;

using lists = std::vector<std::vector<vertex_id>>;

lists build(std::uint64_t vertices, const std::vector<edge>& edges, const csr_options& options = {}) {
  const csr graph = build_csr(vertices, edges, options);
  lists all;
  for (std::uint64_t u = 0; u < graph.view().vertices(); ++u) {
    const auto list = graph.view().targets_of(u);
    all.emplace_back(list.begin(), list.end());
  }
  return all;
}

const std::vector<edge> some{{2, 1}, {0, 2}, {2, 1}, {0, 1}, {1, 1}};

TEST(csr, sorts_each_vertexs_targets_and_keeps_duplicates_and_loops) {
  EXPECT_EQ(build(4, some), (lists{{1, 2}, {1}, {1, 1}, {}}));
}

TEST(csr, deduplicates) { EXPECT_EQ(build(4, some, {.deduplicate = true}), (lists{{1, 2}, {1}, {1}, {}})); }

TEST(csr, drops_loops) { EXPECT_EQ(build(4, some, {.drop_loops = true}), (lists{{1, 2}, {}, {1, 1}, {}})); }

TEST(csr, symmetrizes_without_doubling_edges_that_have_their_reverse) {
  EXPECT_EQ(build(4, some, {.symmetrize = true}), (lists{{1, 2}, {0, 1, 2}, {0, 1}, {}}));
  EXPECT_EQ(build(2, {{0, 1}, {1, 0}}, {.symmetrize = true}), (lists{{1}, {0}}));
}

TEST(csr, may_have_no_edges) { EXPECT_EQ(build(2, {}), (lists{{}, {}})); }

TEST(csr, says_so_where_memory_cannot_hold_it) {
  const refusal said = refusal_of([] { build_csr(std::uint64_t{1} << 60, {}); });
  EXPECT_EQ(said.kind, error_kind::unavailable);
}

}  // namespace
}  // namespace sluice::graph
