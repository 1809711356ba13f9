// What a scrub finds, what it mends, and by whose copy.
#include "sluice/drive/scrub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/drive/seal_fixture.h"

namespace sluice::drive {
namespace {

using test::scrubbed;
using test::sealed_units;
using test::spoil;
using test::with_seal;

volume_place place_of_unit(test::shelf& on, std::uint64_t unit, std::uint32_t replica) {
  const volume found = volume::open(on.drives());
  return found.ref().locate(found.find("data").first_byte + unit * 4096, replica);
}

TEST(scrub, finds_all_good_where_nothing_happened) {
  test::shelf mirror = with_seal(3, layout::mirror);
  const scrub_report told = scrubbed(mirror, true);
  EXPECT_TRUE(told.all_good());
  EXPECT_EQ(told.counts().good, 3 * sealed_units);
  EXPECT_EQ(told.datasets[0].standing, seal_standing::counts);
}

TEST(scrub, names_a_bad_page_with_its_drive_and_block) {
  test::shelf stripe = with_seal(2, layout::stripe);
  spoil(stripe, 20);
  const scrub_report told = scrubbed(stripe, true);
  EXPECT_EQ(told.counts().bad, 1U);
  EXPECT_EQ(told.counts().left(), 1U) << "a stripe has no second copy";
  EXPECT_FALSE(told.all_good());
  ASSERT_EQ(told.findings.size(), 1U);
  const scrub_finding& found = told.findings[0];
  EXPECT_EQ(found.dataset, "data");
  EXPECT_EQ(found.page, 20U);
  EXPECT_EQ(found.what, scrub_fault::bad);
  EXPECT_EQ(found.drive, "fake:1") << "64 KiB on the first drive, then the second";
  EXPECT_EQ(found.first, place_of_unit(stripe, 20, 0).first);
  EXPECT_FALSE(found.mended);
}

TEST(scrub, mends_bad_and_unreadable_pages_from_the_good_copy) {
  test::shelf mirror = with_seal(2, layout::mirror);
  spoil(mirror, 0, 0);
  spoil(mirror, sealed_units - 1, 1);
  mirror[0].unreadable.insert(place_of_unit(mirror, 4, 0).first.value + 3);
  const scrub_report looked = scrubbed(mirror, false);
  EXPECT_EQ(looked.counts().left(), 3U);
  const scrub_report told = scrubbed(mirror, true);
  EXPECT_EQ(told.counts().bad, 2U);
  EXPECT_EQ(told.counts().unreadable, 1U);
  EXPECT_EQ(told.counts().mended, 3U);
  EXPECT_TRUE(told.all_good());
  mirror.restart([] { return false; });
  const scrub_report again = scrubbed(mirror, false);
  EXPECT_EQ(again.counts().good, 2 * sealed_units);
  EXPECT_TRUE(again.findings.empty());
}

TEST(scrub, leaves_a_page_that_is_bad_everywhere) {
  test::shelf mirror = with_seal(2, layout::mirror);
  spoil(mirror, 3, 0, 1);
  spoil(mirror, 3, 1, 2);
  const scrub_report told = scrubbed(mirror, true);
  EXPECT_EQ(told.counts().bad, 2U);
  EXPECT_EQ(told.counts().mended, 0U);
  EXPECT_FALSE(told.all_good());
}

TEST(scrub, makes_unsealed_replicas_equal_to_the_first) {
  test::shelf mirror = test::with_data(3, layout::mirror);
  spoil(mirror, 3, 1);
  mirror[2].unreadable.insert(place_of_unit(mirror, 5, 2).first.value);
  const scrub_report told = scrubbed(mirror, true);
  EXPECT_EQ(told.counts().differing, 1U);
  EXPECT_EQ(told.counts().unreadable, 1U);
  EXPECT_EQ(told.counts().unsealed, 3 * sealed_units - 1);
  EXPECT_TRUE(told.all_good());
  EXPECT_TRUE(scrubbed(mirror, false).findings.empty());
}

TEST(scrub, says_that_a_seal_without_a_whole_record_is_lost) {
  test::shelf stripe = with_seal(1, layout::stripe);
  const std::uint64_t record = volume::open(stripe.drives()).find("data").sealed->first_byte;
  stripe[0].content()[manifest_area_bytes + record] ^= std::byte{1};
  const scrub_report told = scrubbed(stripe, true);
  EXPECT_EQ(told.datasets[0].standing, seal_standing::lost);
  EXPECT_EQ(told.counts().unsealed, sealed_units);
  EXPECT_EQ(told.records_left, 1U);
  EXPECT_EQ(told.findings.at(0).what, scrub_fault::record);
}

TEST(scrub, mends_a_record_from_the_other_replica) {
  test::shelf mirror = with_seal(2, layout::mirror);
  const std::uint64_t record = volume::open(mirror.drives()).find("data").sealed->first_byte;
  mirror[1].unreadable.insert((manifest_area_bytes + record) / 512);
  EXPECT_EQ(scrubbed(mirror, false).records_left, 1U);
  EXPECT_TRUE(scrubbed(mirror, true).all_good());
  EXPECT_TRUE(scrubbed(mirror, false).findings.empty());
}

TEST(scrub, brings_a_replica_back_that_missed_a_write) {
  test::shelf mirror = with_seal(2, layout::mirror);
  {
    volume opened = volume::open(mirror.drives(), access::write);
    mirror[0].fails_writes = true;
    opened.write(opened.find("data").first_byte, std::vector<std::byte>(4096, std::byte{9}));
    opened.flush();
    mirror[0].fails_writes = false;
  }
  EXPECT_FALSE(scrubbed(mirror, false).all_good()) << "it is still left out";
  const scrub_report told = scrubbed(mirror, true);
  EXPECT_TRUE(told.all_good());
  EXPECT_EQ(told.readmitted, std::vector<std::string>{"fake:0"});
  mirror.restart([] { return false; });
  const volume found = volume::open(mirror.drives());
  EXPECT_EQ(found.failed(), 0U);
  const replica_io copies = found.copies();
  std::vector<std::byte> first(copies.bytes()), second(copies.bytes());
  copies.read(0, 0, first);
  copies.read(1, 0, second);
  EXPECT_EQ(first, second);
}

TEST(scrub, mends_by_a_left_out_replica_whose_copy_fits_its_sum) {
  test::shelf mirror = with_seal(2, layout::mirror);
  volume::open(mirror.drives(), access::write).record_failed(0);
  spoil(mirror, 6, 1);
  const scrub_report told = scrubbed(mirror, true);
  EXPECT_EQ(told.counts().bad, 1U);
  EXPECT_TRUE(told.all_good());
  EXPECT_EQ(scrubbed(mirror, false).counts().good, 2 * sealed_units);
}

TEST(scrub, names_no_more_pages_than_it_is_asked_to) {
  test::shelf stripe = with_seal(1, layout::stripe);
  for (std::uint64_t unit = 0; unit < 9; ++unit) spoil(stripe, unit);
  volume opened = volume::open(stripe.drives());
  const scrub_report told = scrub(opened, {.repair = false, .most_findings = 4});
  EXPECT_EQ(told.findings.size(), 4U);
  EXPECT_EQ(told.findings_left_off, 5U);
  EXPECT_EQ(test::refusal_of([&] { scrub(opened, {}); }).kind, error_kind::bad_input) << "open for reading";
}

}  // namespace
}  // namespace sluice::drive
