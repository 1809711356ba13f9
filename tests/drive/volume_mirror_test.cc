// What a mirror does when a replica fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/drive/volume.h"
#include "tests/drive/volume_fixture.h"

namespace sluice::drive {
namespace {

using test::refusal_of;
using testing::HasSubstr;

volume make_mirror(const test::shelf& shelf) {
  return volume::create(shelf.drives(), layout::mirror, largest_page, "v");
}

TEST(mirror, remembers_a_failed_replica_on_the_others) {
  test::shelf shelf(3, 2 * MiB);
  volume made = make_mirror(shelf);
  made.record_failed(1);
  EXPECT_FALSE(made.ref().alive(1));
  shelf.restart([] { return false; });
  const volume found = volume::open(shelf.drives());
  EXPECT_EQ(found.failed(), 2U);
  EXPECT_FALSE(found.ref().alive(1));
  ASSERT_EQ(found.notes().size(), 1U);
  EXPECT_THAT(found.notes()[0], HasSubstr("fake:1"));
}

TEST(mirror, records_a_replica_that_fails_a_write_before_the_write_returns) {
  test::shelf shelf(3, 2 * MiB);
  volume made = make_mirror(shelf);
  shelf[2].fails_writes = true;
  const std::vector<std::byte> data(4096, std::byte{9});
  made.write(0, data);
  shelf[2].fails_writes = false;
  shelf.restart([] { return false; });
  EXPECT_EQ(volume::open(shelf.drives()).failed(), 4U);
}

TEST(mirror, never_reads_the_stale_bytes_of_a_failed_replica) {
  test::shelf shelf(2, 2 * MiB);
  volume made = make_mirror(shelf);
  shelf[0].fails_writes = true;
  const std::vector<std::byte> data(MiB, std::byte{9});
  made.write(0, data);
  shelf[0].fails_writes = false;
  std::vector<std::byte> back(data.size());
  volume::open(shelf.drives()).read(0, back);
  EXPECT_EQ(back, data);
}

TEST(mirror, reads_the_other_replica_when_one_fails_a_read) {
  test::shelf shelf(2, 2 * MiB);
  volume made = make_mirror(shelf);
  const std::vector<std::byte> data(MiB, std::byte{9});
  made.write(0, data);
  shelf[0].fails_reads = true;
  std::vector<std::byte> back(data.size());
  made.read(0, back);
  EXPECT_EQ(back, data);
  shelf[1].fails_reads = true;
  EXPECT_EQ(refusal_of([&] { made.read(0, back); }).kind, error_kind::io_failure);
}

TEST(mirror, refuses_to_lose_its_last_replica) {
  test::shelf shelf(2, 2 * MiB);
  volume made = make_mirror(shelf);
  made.record_failed(0);
  made.record_failed(0);
  EXPECT_EQ(refusal_of([&] { made.record_failed(1); }).kind, error_kind::io_failure);
  shelf[1].fails_writes = true;
  const std::vector<std::byte> data(4096);
  EXPECT_EQ(refusal_of([&] { made.write(0, data); }).kind, error_kind::io_failure);
}

TEST(mirror, records_a_replica_that_cannot_take_a_manifest) {
  test::shelf shelf(3, 2 * MiB);
  volume made = make_mirror(shelf);
  shelf[1].fails_writes = true;
  made.commit(made.begin_dataset("a", "raw", 1));
  shelf[1].fails_writes = false;
  const volume found = volume::open(shelf.drives());
  EXPECT_EQ(found.failed(), 2U);
  EXPECT_EQ(found.find("a").bytes, 1U);
}

TEST(mirror, opens_without_a_replica_whose_manifest_cannot_be_read) {
  test::shelf shelf(3, 2 * MiB);
  make_mirror(shelf);
  shelf[0].fails_reads = true;
  EXPECT_EQ(volume::open(shelf.drives()).failed(), 1U);
  shelf[0].fails_reads = false;
  EXPECT_EQ(volume::open(shelf.drives()).failed(), 0U) << "one who only reads records nothing";
  shelf[0].fails_reads = true;
  volume::open(shelf.drives(), access::write);
  shelf[0].fails_reads = false;
  EXPECT_EQ(volume::open(shelf.drives()).failed(), 1U);
}

TEST(stripe, has_no_second_copy_to_go_on_with) {
  test::shelf shelf(2, 2 * MiB);
  volume made = volume::create(shelf.drives(), layout::stripe, largest_page, "v");
  EXPECT_EQ(refusal_of([&] { made.record_failed(1); }).kind, error_kind::io_failure);
  shelf[1].fails_reads = true;
  EXPECT_EQ(refusal_of([&] { volume::open(shelf.drives()); }).kind, error_kind::io_failure);
}

}  // namespace
}  // namespace sluice::drive
