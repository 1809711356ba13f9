// Power cuts at every block that an update writes: what is found afterwards is the volume before it, or after
// it.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "sluice/drive/volume.h"
#include "tests/drive/volume_fixture.h"

namespace sluice::drive {
namespace {

using update = std::function<void(volume&)>;
using survival = std::function<bool()>;

/// Some 3 KiB, so that a manifest takes several blocks.
std::string long_meta() { return '"' + std::string(3'000, 'm') + '"'; }

test::shelf with_datasets(layout how) {
  test::shelf shelf(3, MiB + 4 * largest_page);
  volume made = volume::create(shelf.drives(), how, largest_page, "v");
  made.commit(made.begin_dataset("kept", "raw", largest_page, long_meta()));
  made.begin_dataset("half", "raw", largest_page);
  shelf.restart([] { return false; });
  return shelf;
}

void run(const test::shelf& shelf, const update& change) {
  volume opened = volume::open(shelf.drives(), access::write);
  change(opened);
}

/// Runs `change` with the power going after every possible number of writes.
void cut_everywhere(layout how, const update& change, const survival& survives) {
  const test::shelf before = with_datasets(how);
  const test::shelf after = before.copy();
  run(after, change);
  const std::vector<dataset> old_ones = volume::open(before.drives()).datasets();
  const std::vector<dataset> new_ones = volume::open(after.drives()).datasets();
  ASSERT_NE(old_ones, new_ones);

  for (std::uint64_t writes = 0;; ++writes) {
    test::shelf shelf = before.copy();
    shelf.cut_power_after(writes);
    bool finished = true;
    try {
      run(shelf, change);
    } catch (const test::power_cut&) {
      finished = false;
    }
    shelf.restart(survives);
    const volume found = volume::open(shelf.drives({2, 0, 1}));
    const std::vector<dataset> present = found.datasets();
    ASSERT_TRUE(present == new_ones || (!finished && present == old_ones)) << "after " << writes << " writes";
    ASSERT_EQ(found.find("kept").meta, long_meta());
    ASSERT_EQ(found.failed(), 0U);
    // The survivor can be changed: the next update begins from any mixture of old and new drives.
    volume again = volume::open(shelf.drives(), access::write);
    again.begin_dataset("next", "raw", 1);
    ASSERT_EQ(volume::open(shelf.drives()).datasets().size(), present.size() + 1);
    if (finished) return;
  }
}

const std::vector<update>& updates() {
  static const std::vector<update> all{
      [](volume& v) { v.begin_dataset("new", "raw", 5, long_meta()); },
      [](volume& v) { v.commit(v.datasets().back()); },
      [](volume& v) { v.remove("half"); },
  };
  return all;
}

TEST(volume_crash, leaves_old_or_new_when_writes_end_at_any_block) {
  for (const layout how : {layout::stripe, layout::mirror})
    for (const update& each : updates()) cut_everywhere(how, each, [] { return true; });
}

TEST(volume_crash, leaves_old_or_new_when_nothing_unflushed_survives) {
  for (const layout how : {layout::stripe, layout::mirror})
    for (const update& each : updates()) cut_everywhere(how, each, [] { return false; });
}

TEST(volume_crash, leaves_old_or_new_when_any_subset_of_blocks_survives) {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    for (const layout how : {layout::stripe, layout::mirror})
      for (const update& each : updates()) cut_everywhere(how, each, [&] { return random() % 2 == 0; });
  }
}

TEST(volume_crash, never_mixes_two_volumes_when_one_replaces_another) {
  const test::shelf before = with_datasets(layout::stripe);
  std::mt19937 random(1);
  for (std::uint64_t writes = 0;; ++writes) {
    test::shelf shelf = before.copy();
    shelf.cut_power_after(writes);
    bool finished = true;
    try {
      volume::create(shelf.drives(), layout::stripe, largest_page, "other", on_existing::replace);
    } catch (const test::power_cut&) {
      finished = false;
    }
    shelf.restart([&] { return random() % 2 == 0; });
    try {
      const volume found = volume::open(shelf.drives());
      ASSERT_TRUE(found.name() == "other" ? found.datasets().empty()
                                          : !finished && found.datasets().size() == 2);
    } catch (const error& e) {
      ASSERT_FALSE(finished);
      ASSERT_EQ(e.kind(), error_kind::bad_input) << e.what();  // drives of two volumes, said in one line
    }
    EXPECT_NO_THROW(
        volume::create(shelf.drives(), layout::stripe, largest_page, "again", on_existing::replace));
    if (finished) return;
  }
}

}  // namespace
}  // namespace sluice::drive
