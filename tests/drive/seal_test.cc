// What a seal covers: all at first, then what was not written, and after a crash either that or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/drive/seal_fixture.h"

namespace sluice::drive {
namespace {

using test::covered;
using test::refusal_of;
using test::sealed_units;
using test::with_seal;
using testing::HasSubstr;

class seal_of : public ::testing::TestWithParam<layout> {};
INSTANTIATE_TEST_SUITE_P(layouts, seal_of, ::testing::Values(layout::stripe, layout::mirror),
                         [](const auto& info) { return info.param == layout::stripe ? "stripe" : "mirror"; });

TEST_P(seal_of, has_the_sum_of_each_unit) {
  for (const std::uint32_t unit : {512U, 4096U, 65536U}) {
    test::shelf shelf = with_seal(3, GetParam(), unit);
    const volume found = volume::open(shelf.drives());
    const dataset data = found.find("data");
    const seal_record record = found.record_of(data);
    ASSERT_EQ(record.shape().units, divide_up(data.bytes, unit));
    std::vector<std::uint32_t> sums(record.shape().units);
    record.sums(0, sums);
    std::vector<std::byte> bytes(unit);
    for (std::uint64_t u = 0; u < sums.size(); ++u) {
      found.read(data.first_byte + u * unit, bytes);
      ASSERT_EQ(sums[u], crc32c(bytes)) << u;
      ASSERT_TRUE(record.covers(u));
    }
  }
}

TEST_P(seal_of, takes_its_record_a_place_that_no_dataset_gets) {
  test::shelf shelf = with_seal(2, GetParam());
  {
    volume opened = volume::open(shelf.drives(), access::write);
    const dataset other = opened.begin_dataset("other", "raw", 3 * largest_page);
    opened.write(other.first_byte, std::vector<std::byte>(3 * largest_page, std::byte{0xff}));
    opened.commit(other);
    EXPECT_EQ(covered(opened), sealed_units);
    opened.remove("data");
    EXPECT_EQ(opened.begin_dataset("third", "raw", 2 * largest_page).first_byte, 0U);
  }
  EXPECT_TRUE(test::scrubbed(shelf, false).all_good());
}

TEST_P(seal_of, covers_no_more_what_the_host_wrote) {
  test::shelf shelf = with_seal(2, GetParam());
  {
    volume opened = volume::open(shelf.drives(), access::write);
    opened.write(opened.find("data").first_byte + 3 * 4096 - 512, std::vector<std::byte>(1024, std::byte{7}));
    EXPECT_TRUE(opened.find("data").sealed->being_written);
    EXPECT_EQ(covered(opened), sealed_units - 2) << "who writes knows what it wrote";
    opened.flush();
    EXPECT_FALSE(opened.find("data").sealed->being_written);
  }
  shelf.restart([] { return false; });
  const volume found = volume::open(shelf.drives());
  const seal_record record = found.record_of(found.find("data"));
  for (std::uint64_t u = 0; u < sealed_units; ++u) EXPECT_EQ(record.covers(u), u != 2 && u != 3) << u;
  EXPECT_TRUE(test::scrubbed(shelf, false).all_good());
}

TEST_P(seal_of, covers_nothing_where_a_writer_never_closed) {
  test::shelf shelf = with_seal(2, GetParam());
  { volume::open(shelf.drives(), access::write).begin_writing(); }
  shelf.restart([] { return false; });
  const volume found = volume::open(shelf.drives());
  EXPECT_EQ(covered(found), 0U);
  ASSERT_EQ(found.notes().size(), 1U);
  EXPECT_THAT(found.notes()[0], HasSubstr("'data'"));
  EXPECT_EQ(test::scrubbed(shelf, false).datasets[0].standing, seal_standing::broken);
  volume::open(shelf.drives(), access::write).seal_dataset("data");
  EXPECT_EQ(covered(shelf), sealed_units) << "sealing it again mends that";
}

TEST_P(seal_of, keeps_what_several_writers_noted) {
  test::shelf shelf = with_seal(2, GetParam());
  {
    volume opened = volume::open(shelf.drives(), access::write);
    const dataset data = opened.find("data");
    opened.begin_writing();
    opened.begin_writing();
    opened.note_written(data, std::vector<std::uint32_t>{1U << 5, 0});
    opened.end_writing();
    opened.flush();
    EXPECT_TRUE(opened.find("data").sealed->being_written) << "another one still writes";
    EXPECT_EQ(refusal_of([&] { opened.seal_dataset("data"); }).kind, error_kind::bad_input);
    opened.note_written(data, std::vector<std::uint32_t>{0, 1U << 1});
    opened.end_writing();
  }
  const volume found = volume::open(shelf.drives());
  const seal_record record = found.record_of(found.find("data"));
  EXPECT_EQ(covered(found), sealed_units - 2);
  EXPECT_FALSE(record.covers(5));
  EXPECT_FALSE(record.covers(33));
}

TEST(seal, is_refused_in_words_that_help) {
  test::shelf shelf = test::with_data(2, layout::mirror);
  volume opened = volume::open(shelf.drives(), access::write);
  EXPECT_THAT(refusal_of([&] { opened.seal_dataset("dato"); }).line, HasSubstr("did you mean 'data'"));
  EXPECT_THAT(refusal_of([&] { opened.seal_dataset("data", 1000); }).mend, HasSubstr("512 B"));
  EXPECT_EQ(refusal_of([&] { volume::open(shelf.drives()).seal_dataset("data"); }).kind,
            error_kind::bad_input);
  test::spoil(shelf, 7, 1);
  const auto differ = refusal_of([&] { opened.seal_dataset("data"); });
  EXPECT_EQ(differ.kind, error_kind::corrupt);
  EXPECT_THAT(differ.line, HasSubstr("fake:1"));
  EXPECT_THAT(differ.mend, HasSubstr("scrub"));
}

TEST(seal, changes_nothing_where_it_is_stopped) {
  test::shelf shelf = with_seal(1, layout::stripe);
  volume opened = volume::open(shelf.drives(), access::write);
  const std::vector<dataset> before = opened.datasets();
  const auto stop = [](std::uint64_t) { throw error(error_kind::cancelled, "stopped"); };
  EXPECT_EQ(refusal_of([&] { opened.seal_dataset("data", 512, stop); }).kind, error_kind::cancelled);
  EXPECT_EQ(opened.datasets(), before);
  EXPECT_EQ(covered(opened), sealed_units);
}

TEST(seal, counts_by_the_replica_whose_record_is_whole) {
  test::shelf shelf = with_seal(2, layout::mirror);
  const volume found = volume::open(shelf.drives());
  const dataset data = found.find("data");
  shelf[0].content()[manifest_area_bytes + data.sealed->first_byte] ^= std::byte{1};
  EXPECT_EQ(covered(found), sealed_units);
  EXPECT_FALSE(found.record_of(data).is_whole(0));
  shelf[1].content()[manifest_area_bytes + data.sealed->first_byte + 512] ^= std::byte{1};
  EXPECT_EQ(covered(found), 0U);
}

TEST(seal, makes_a_manifest_that_older_programs_refuse_and_goes_with_its_dataset) {
  test::shelf shelf = with_seal(1, layout::stripe);
  EXPECT_EQ(read_manifest(shelf[0]).content.datasets[0].sealed.has_value(), true);
  const auto version = [&] {
    return shelf[0].content()[read_manifest(shelf[0]).slot * manifest_slot_bytes + 8];
  };
  EXPECT_EQ(version(), std::byte{2});
  volume opened = volume::open(shelf.drives(), access::write);
  opened.remove("data");
  EXPECT_EQ(version(), std::byte{1});
}

/// Some writes of the host and of lanes, sealing, closing: with a crash anywhere.
void seal_and_write(volume& on) {
  const dataset data = on.find("data");
  on.write(data.first_byte + 5 * 4096, std::vector<std::byte>(4096, std::byte{5}));
  on.flush();
  on.begin_writing();
  on.copies().write(0, data.first_byte + 9 * 4096, std::vector<std::byte>(512, std::byte{9}));
  if (on.how() == layout::mirror)
    on.copies().write(1, data.first_byte + 9 * 4096, std::vector<std::byte>(512, std::byte{9}));
  on.note_written(data, std::vector<std::uint32_t>{1U << 9});
  on.end_writing();
  on.seal_dataset("data", 512);
  on.write(data.first_byte, std::vector<std::byte>(512, std::byte{1}));
}

TEST_P(seal_of, never_makes_a_good_page_look_bad_wherever_the_power_goes) {
  std::mt19937 random(1);
  const std::vector<std::function<bool()>> survivals{[] { return true; }, [] { return false; },
                                                     [&] { return random() % 2 == 0; }};
  const test::shelf before = with_seal(2, GetParam());
  for (const auto& survives : survivals) {
    std::set<std::uint64_t> covers;
    for (std::uint64_t writes = 0;; ++writes) {
      test::shelf shelf = before.copy();
      shelf.cut_power_after(writes);
      bool finished = true;
      try {
        volume opened = volume::open(shelf.drives(), access::write);
        seal_and_write(opened);
      } catch (const test::power_cut&) {
        finished = false;
      }
      shelf.restart(survives);
      const scrub_report told = test::scrubbed(shelf, false);
      ASSERT_EQ(told.counts().bad, 0U) << "after " << writes << " writes";
      covers.insert(told.datasets[0].counts.good);
      if (finished) break;
    }
    EXPECT_GT(covers.size(), 3U) << "some crashes leave all, some a part, some nothing";
  }
}

}  // namespace
}  // namespace sluice::drive
