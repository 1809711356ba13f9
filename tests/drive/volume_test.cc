#include "sluice/drive/volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/drive/volume_fixture.h"

namespace sluice::drive {
namespace {

using test::refusal_of;
using testing::HasSubstr;

TEST(volume, opens_as_it_was_created) {
  for (const layout how : {layout::stripe, layout::mirror}) {
    test::shelf shelf(3, 4 * MiB);
    const volume made = volume::create(shelf.drives(), how, 128 * KiB, "v");
    const volume found = volume::open(shelf.drives());
    EXPECT_EQ(found.uuid(), made.uuid());
    EXPECT_EQ(found.name(), "v");
    EXPECT_EQ(found.how(), how);
    EXPECT_EQ(found.unit(), 128 * KiB);
    EXPECT_EQ(found.bytes(), made.bytes());
    EXPECT_EQ(found.bytes(), (how == layout::stripe ? 3 : 1) * 3 * MiB);
  }
}

TEST(volume, finds_the_order_of_its_drives) {
  test::shelf shelf(4, 2 * MiB);
  volume::create(shelf.drives(), layout::stripe, largest_page, "v");
  std::vector<std::uint32_t> order{2, 0, 3, 1};
  const volume found = volume::open(shelf.drives(order));
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found.drive_at(i).name(), shelf.drives()[i]->name());
    EXPECT_EQ(order[found.given_as(i)], i);
  }
}

TEST(volume, names_a_missing_drive) {
  test::shelf shelf(3, 2 * MiB);
  volume::create(shelf.drives(), layout::stripe, largest_page, "v");
  const auto no = refusal_of([&] { volume::open(shelf.drives({0, 2})); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_EQ(no.line, "volume 'v' has 3 drives, and drive 1 is not among the 2 given");
}

TEST(volume, names_a_drive_given_twice) {
  test::shelf shelf(3, 2 * MiB);
  volume::create(shelf.drives(), layout::stripe, largest_page, "v");
  const auto no = refusal_of([&] { volume::open(shelf.drives({0, 1, 1})); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_EQ(no.line, "fake:1 and fake:1 are both drive 1 of volume 'v'");
}

TEST(volume, names_a_drive_of_another_volume) {
  test::shelf shelf(4, 2 * MiB);
  volume::create(shelf.drives({0, 1}), layout::stripe, largest_page, "mine");
  volume::create(shelf.drives({2, 3}), layout::stripe, largest_page, "yours");
  const auto no = refusal_of([&] { volume::open(shelf.drives({0, 3})); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_THAT(no.line, HasSubstr("fake:3"));
  EXPECT_THAT(no.line, HasSubstr("yours"));
}

TEST(volume, names_a_drive_without_a_manifest) {
  test::shelf shelf(2, 2 * MiB);
  volume::create(shelf.drives({0}), layout::stripe, largest_page, "v");
  const auto no = refusal_of([&] { volume::open(shelf.drives()); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_THAT(no.line, HasSubstr("holds no volume [drive fake:1"));
}

TEST(volume, says_so_when_drives_are_unequal) {
  test::shelf shelf(2, 2 * MiB);
  shelf[1].resize(3 * MiB);
  const volume made = volume::create(shelf.drives(), layout::stripe, largest_page, "v");
  EXPECT_EQ(made.bytes(), 2 * MiB);
  ASSERT_EQ(made.notes().size(), 1U);
  EXPECT_THAT(made.notes()[0], HasSubstr("fake:1 is larger"));
  EXPECT_THAT(made.notes()[0], HasSubstr("1.00 MiB"));
}

TEST(volume, refuses_shapes_that_cannot_be) {
  test::shelf shelf(2, 2 * MiB);
  for (const std::uint64_t unit : {std::uint64_t{0}, 32 * KiB, 96 * KiB, 2 * MiB})
    EXPECT_EQ(refusal_of([&] { volume::create(shelf.drives(), layout::stripe, unit, "v"); }).kind,
              error_kind::bad_input)
        << unit;
  EXPECT_EQ(refusal_of([&] { volume::create({}, layout::stripe, largest_page, "v"); }).kind,
            error_kind::bad_input);
  EXPECT_EQ(refusal_of([&] { volume::create(shelf.drives(), layout::stripe, largest_page, ""); }).kind,
            error_kind::bad_input);
  test::shelf tiny(1, MiB);
  EXPECT_EQ(refusal_of([&] { volume::create(tiny.drives(), layout::stripe, largest_page, "v"); }).kind,
            error_kind::bad_input);
  const block_drives mixed{std::make_shared<test::fake_drive>("a", 2 * MiB, 512),
                           std::make_shared<test::fake_drive>("b", 2 * MiB, 4096)};
  EXPECT_THAT(refusal_of([&] { volume::create(mixed, layout::stripe, largest_page, "v"); }).line,
              HasSubstr("equal blocks"));
}

TEST(volume, does_not_write_over_what_it_does_not_know) {
  test::shelf shelf(1, 2 * MiB);
  shelf[0].content()[1080] = std::byte{0x53};  // as ext4 marks its superblock
  const auto no = refusal_of([&] { volume::create(shelf.drives(), layout::stripe, largest_page, "v"); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_FALSE(no.mend.empty());
  EXPECT_NO_THROW(volume::create(shelf.drives(), layout::stripe, largest_page, "v", on_existing::replace));
}

TEST(volume, replaces_an_empty_volume_but_not_one_with_data) {
  test::shelf shelf(1, 2 * MiB);
  volume::create(shelf.drives(), layout::stripe, largest_page, "first");
  volume second = volume::create(shelf.drives(), layout::stripe, largest_page, "second");
  second.commit(second.begin_dataset("d", "raw", 4096));
  const auto no = refusal_of([&] { volume::create(shelf.drives(), layout::stripe, largest_page, "third"); });
  EXPECT_THAT(no.line, HasSubstr("volume 'second' with dataset 'd'"));
  volume::create(shelf.drives(), layout::stripe, largest_page, "third", on_existing::replace);
  EXPECT_EQ(volume::open(shelf.drives()).name(), "third");
}

TEST(volume, tells_whether_drives_hold_one) {
  test::shelf shelf(2, 2 * MiB);
  EXPECT_FALSE(volume::exists(shelf.drives()));
  volume::create(shelf.drives({1}), layout::stripe, largest_page, "v");
  EXPECT_TRUE(volume::exists(shelf.drives()));
}

TEST(volume, grows_with_its_drives_and_refuses_to_shrink) {
  test::shelf shelf(2, 2 * MiB);
  volume::create(shelf.drives(), layout::stripe, largest_page, "v");
  shelf[0].resize(3 * MiB);
  shelf[1].resize(3 * MiB);
  EXPECT_EQ(volume::open(shelf.drives()).bytes(), 4 * MiB);
  shelf[1].resize(2 * MiB - 4096);
  EXPECT_EQ(refusal_of([&] { volume::open(shelf.drives()); }).kind, error_kind::corrupt);
}

TEST(volume, asks_for_just_enough_of_each_drive) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 30; ++round) {
    const auto drives = static_cast<std::uint32_t>(1 + random() % 6);
    const layout how = random() % 2 == 0 ? layout::stripe : layout::mirror;
    const std::uint64_t unit = largest_page << (random() % 5);
    const std::uint64_t bytes = random() % MiB;
    const std::uint64_t each = volume::drive_bytes_for(bytes, drives, how, unit);
    test::shelf shelf(drives, each);
    volume made = volume::create(shelf.drives(), how, unit, "v");
    EXPECT_NO_THROW(made.begin_dataset("d", "raw", bytes));
    EXPECT_LT(made.bytes(), bytes + unit * (how == layout::stripe ? drives : 1) + 1);
  }
}

TEST(volume, reads_back_what_was_written_across_units) {
  for (const layout how : {layout::stripe, layout::mirror}) {
    test::shelf shelf(3, 4 * MiB);
    volume made = volume::create(shelf.drives(), how, largest_page, "v");
    std::mt19937 random(1);
    std::vector<std::byte> data(MiB + 512);
    for (std::byte& b : data) b = std::byte(random());
    made.write(largest_page - 512, data);
    std::vector<std::byte> back(data.size());
    volume::open(shelf.drives({2, 1, 0})).read(largest_page - 512, back);
    EXPECT_EQ(back, data);
    EXPECT_THROW(made.read(made.bytes(), back), error);
  }
}

TEST(volume, begins_at_byte_0_when_raw_and_remembers_nothing) {
  test::shelf shelf(2, 2 * MiB);
  volume raw = volume::raw(shelf.drives());
  EXPECT_EQ(raw.bytes(), 4 * MiB);
  EXPECT_EQ(raw.ref().locate(0).first.value, 0U);
  EXPECT_THROW(raw.begin_dataset("d", "raw", 1), error);
  EXPECT_FALSE(volume::exists(shelf.drives()));
}

}  // namespace
}  // namespace sluice::drive
