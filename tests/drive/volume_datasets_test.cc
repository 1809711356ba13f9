#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/drive/volume.h"
#include "tests/drive/volume_fixture.h"

namespace sluice::drive {
namespace {

using test::refusal_of;
using testing::HasSubstr;

volume make(const test::shelf& shelf) {
  return volume::create(shelf.drives(), layout::stripe, largest_page, "v");
}

TEST(dataset, is_found_by_its_name_after_reopening) {
  test::shelf shelf(2, 4 * MiB);
  {
    volume made = make(shelf);
    dataset begun = made.begin_dataset("graph", "csr", 100'000, R"({"vertices":5})");
    begun.meta = R"({"vertices":6})";
    begun.checksum = 0x1234;
    made.commit(begun);
  }
  const dataset found = volume::open(shelf.drives()).find("graph");
  EXPECT_EQ(found.kind, "csr");
  EXPECT_EQ(found.bytes, 100'000U);
  EXPECT_EQ(found.meta, R"({"vertices":6})");
  EXPECT_EQ(found.checksum, 0x1234U);
  EXPECT_EQ(found.state, dataset_state::complete);
}

TEST(dataset, lies_page_aligned_after_the_one_before) {
  test::shelf shelf(2, 4 * MiB);
  volume made = make(shelf);
  EXPECT_EQ(made.begin_dataset("a", "raw", 1).first_byte, 0U);
  EXPECT_EQ(made.begin_dataset("b", "raw", largest_page + 1).first_byte, largest_page);
  EXPECT_EQ(made.begin_dataset("empty", "raw", 0).bytes, 0U);
  EXPECT_EQ(made.begin_dataset("c", "raw", 10).first_byte, 3 * largest_page);
}

TEST(dataset, fills_the_first_gap_that_fits) {
  test::shelf shelf(1, 2 * MiB);
  volume made = make(shelf);
  for (const char* name : {"a", "b", "c"}) made.commit(made.begin_dataset(name, "raw", 2 * largest_page));
  made.remove("b");
  EXPECT_EQ(made.begin_dataset("large", "raw", 3 * largest_page).first_byte, 6 * largest_page);
  EXPECT_EQ(made.begin_dataset("small", "raw", 2 * largest_page).first_byte, 2 * largest_page);
}

TEST(dataset, is_refused_while_half_imported) {
  test::shelf shelf(2, 4 * MiB);
  make(shelf);
  volume::open(shelf.drives(), access::write).begin_dataset("graph", "csr", 100'000);
  const volume found = volume::open(shelf.drives());
  const auto no = refusal_of([&] { (void)found.find("graph"); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_THAT(no.line, HasSubstr("'graph' is half-imported"));
  EXPECT_EQ(no.mend, "import it again, or remove it");
  EXPECT_EQ(found.datasets().size(), 1U);
}

TEST(dataset, can_be_imported_again_or_removed_when_half_imported) {
  test::shelf shelf(1, 2 * MiB);
  volume made = make(shelf);
  made.begin_dataset("a", "raw", MiB);
  made.commit(made.begin_dataset("a", "raw", MiB));
  EXPECT_EQ(made.find("a").first_byte, 0U);
  made.remove("a");
  made.begin_dataset("b", "raw", MiB);
  made.remove("b");
  EXPECT_TRUE(made.datasets().empty());
}

TEST(dataset, stays_readable_until_its_successor_is_complete) {
  test::shelf shelf(1, 4 * MiB);
  volume made = make(shelf);
  made.commit(made.begin_dataset("a", "old", MiB));
  const dataset next = made.begin_dataset("a", "new", MiB);
  EXPECT_EQ(made.find("a").kind, "old");
  EXPECT_EQ(next.first_byte, MiB);
  made.commit(next);
  EXPECT_EQ(made.find("a").kind, "new");
  EXPECT_EQ(made.datasets().size(), 1U);
}

TEST(dataset, gives_way_to_its_successor_where_both_do_not_fit) {
  test::shelf shelf(1, 2 * MiB);
  volume made = make(shelf);
  made.commit(made.begin_dataset("a", "old", MiB));
  made.commit(made.begin_dataset("a", "new", MiB));
  EXPECT_EQ(made.find("a").kind, "new");
}

TEST(dataset, is_refused_where_it_does_not_fit_and_nothing_changes) {
  test::shelf shelf(1, 2 * MiB);
  volume made = make(shelf);
  made.commit(made.begin_dataset("a", "raw", largest_page));
  const std::vector<dataset> before = made.datasets();
  for (const std::uint64_t bytes : {MiB, ~std::uint64_t{0}}) {
    const auto no = refusal_of([&] { made.begin_dataset("b", "raw", bytes); });
    EXPECT_EQ(no.kind, error_kind::bad_input);
    EXPECT_THAT(no.line, HasSubstr("does not fit"));
  }
  EXPECT_THROW(made.begin_dataset("a", "raw", 2 * MiB), error);
  EXPECT_THROW(made.begin_dataset("c", "raw", 1, "{not json"), error);
  EXPECT_THROW(made.begin_dataset("", "raw", 1), error);
  EXPECT_EQ(made.datasets(), before);
  EXPECT_EQ(volume::open(shelf.drives()).datasets(), before);
}

TEST(dataset, that_is_not_there_is_named_with_those_that_are) {
  test::shelf shelf(1, 2 * MiB);
  volume made = make(shelf);
  made.commit(made.begin_dataset("graph", "csr", 1));
  const auto no = refusal_of([&] { (void)made.find("grahp"); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_THAT(no.line, HasSubstr("did you mean 'graph'?"));
  EXPECT_THAT(no.mend, HasSubstr("graph"));
  EXPECT_EQ(refusal_of([&] { made.remove("x"); }).kind, error_kind::bad_input);
}

TEST(dataset, is_committed_once_and_only_when_begun) {
  test::shelf shelf(1, 2 * MiB);
  volume made = make(shelf);
  const dataset done = made.commit(made.begin_dataset("a", "raw", 1));
  EXPECT_THROW(made.commit(done), error);
}

TEST(dataset, has_its_bytes_flushed_before_it_is_complete) {
  test::shelf shelf(2, 2 * MiB);
  volume made = make(shelf);
  const dataset begun = made.begin_dataset("a", "raw", 4 * largest_page);
  const std::vector<std::byte> data(4 * largest_page, std::byte{7});
  made.write(begun.first_byte, data);
  made.commit(begun);
  shelf.restart([] { return false; });
  volume found = volume::open(shelf.drives());
  std::vector<std::byte> back(data.size());
  found.read(found.find("a").first_byte, back);
  EXPECT_EQ(back, data);
}

TEST(dataset, cannot_be_changed_in_a_volume_open_for_reading) {
  test::shelf shelf(1, 2 * MiB);
  make(shelf);
  volume found = volume::open(shelf.drives());
  EXPECT_THAT(refusal_of([&] { found.begin_dataset("a", "raw", 1); }).line,
              HasSubstr("open for reading only"));
}

}  // namespace
}  // namespace sluice::drive
