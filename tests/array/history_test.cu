// Lanes that really run at once, on threads or on a GPU, over drives that are far larger than the cache: what
// they record of their accesses has an explanation, and so has what each flush left on the drives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/error.h"
#include "sluice/lane/launch.h"
#include "tests/support/history.h"
#include "tests/support/mixed_lanes.h"
#include "tests/support/schedules.h"
#include "tests/support/scratch_file.h"

namespace sluice {
namespace {

using testing::element_places;
using testing::operation;

struct stress {
  const char* name;
  std::vector<std::string> options;  ///< of each drive's URI
  drive::layout how = drive::layout::stripe;
  std::uint32_t page_bytes = 4096;
  std::uint32_t frames = 16;
  std::uint32_t span_every = 0;
  std::uint32_t tier_pages = 0;
  cache::tier_kind tier = cache::tier_kind::exclusive;
  /// Commands: then accesses and flushes may time out, and have changed nothing. In memory: a file's system
  /// may stall for longer than these drives' deadline.
  bool forgets = false;
};
void PrintTo(const stress& what, std::ostream* to) { *to << what.name; }

class lanes_at_once : public ::testing::TestWithParam<stress> {
 protected:
  static constexpr lane::grid grid{.blocks = 4, .block_lanes = 64};
  static constexpr std::uint32_t warps = grid.blocks * grid.block_lanes / 32;
  static constexpr std::uint32_t operations = 16;  // of a lane, a launch
  static constexpr std::uint32_t launches = 3;
  static constexpr std::uint64_t pages = 60;
  static constexpr std::uint64_t longest_ns = 15'000'000'000;  // of an access; its patience is twice that

  std::vector<std::string> uris() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < GetParam().options.size(); ++i)
      all.push_back((GetParam().forgets ? "mem:4MiB?" : "file:" + files_[i].path() + "?size=4MiB&") +
                    GetParam().options[i]);
    return all;
  }

  /// Every element as it lies on the drives, at the moment after all that was recorded.
  void look_at_drives(const storage& drives, const drive::dataset& data, const element_places& places,
                      std::vector<operation>& history) const {
    std::uint64_t now = 0;
    for (const operation& o : history) now = std::max(now, o.returned);
    std::vector<std::byte> bytes(data.bytes);
    drives.volume().read(data.first_byte, bytes);
    for (std::uint64_t element = 0; element < places.elements(); ++element) {
      operation seen;
      seen.called = seen.returned = now;
      seen.element = element;
      seen.lane = warps * 32;
      seen.bytes = places.bytes(element);
      const std::uint64_t page = places.page(element).value - places.first_page;
      std::memcpy(&seen.result, bytes.data() + page * places.page_bytes + places.offset(element), seen.bytes);
      history.push_back(seen);
    }
  }

  static void flush(cached_volume<>& cached) {
    const std::uint64_t began = lane::clock_ns();
    flush_at_last(cached);
    EXPECT_LT(lane::clock_ns() - began, longest_ns) << "a flush took as long as its patience";
  }
  static void flush_at_last(cached_volume<>& cached) {
    for (int tries_left = GetParam().forgets ? 5 : 0; tries_left != 0; --tries_left) {
      try {
        return cached.flush();
      } catch (const error& told) {
        EXPECT_EQ(told.place().code, status::timed_out) << told.what();
      }
    }
    cached.flush();
  }

  std::string wrong(std::uint64_t seed) {
    const stress& what = GetParam();
    storage drives = storage::create(uris(), {.mode = drive::access::write}, what.how, drive::largest_page,
                                     "v", drive::on_existing::replace);
    const drive::dataset data = drives.volume().begin_dataset("words", "raw", pages * what.page_bytes);
    drives.volume().write(data.first_byte, std::vector<std::byte>(data.bytes));
    drives.volume().commit(data);

    cached_volume<> cached(*machine_, drives,
                           {.cache_bytes = std::uint64_t{what.frames} * what.page_bytes,
                            .page_bytes = what.page_bytes,
                            .queues = 2,
                            .depth = 32,
                            .tier_bytes = std::uint64_t{what.tier_pages} * what.page_bytes,
                            .tier = what.tier});
    const element_places places{what.page_bytes, pages, 1, data.first_byte / what.page_bytes};
    const testing::history record(machine_->kind(), warps, launches * operations * 3);
    std::vector<operation> seen_on_drives;
    for (std::uint32_t nth = 0; nth < launches; ++nth) {
      lane::launch(
          *machine_, grid,
          testing::mixed_lanes<cached_volume<>::cache_type>{
              cached.cache(), places, record.ref(), seed * launches + nth, operations, what.span_every, nth});
      flush(cached);
      std::vector<operation> so_far = record.operations();
      const auto recorded = static_cast<std::ptrdiff_t>(so_far.size());
      look_at_drives(drives, data, places, so_far);
      seen_on_drives.insert(seen_on_drives.end(), so_far.begin() + recorded, so_far.end());
    }
    EXPECT_EQ(cached.truth().cache.tier_loads > 0, what.tier_pages != 0);
    std::vector<operation> all = record.operations();
    for (const operation& o : all) {
      if (o.returned - o.called > longest_ns) return "an access took as long as its patience";
      if (o.code != 0 && !(what.forgets && o.code == status(status::timed_out).bits()))
        return "an access failed with status " + std::to_string(o.code);
    }
    all.insert(all.end(), seen_on_drives.begin(), seen_on_drives.end());
    // A GPU's processors read its clock some nanoseconds apart.
    const std::uint64_t slack = machine_->kind() == backend::cuda ? 100 : 0;
    return testing::unexplained(
        all, [](std::uint64_t) { return std::uint64_t{0}; }, slack);
  }

  test::scratch_file files_[2];
  std::unique_ptr<lane::machine> machine_ =
      lane::machine::has_cuda() ? lane::machine::cuda() : lane::machine::cpu(2);
};

TEST_P(lanes_at_once, leave_histories_that_have_an_explanation) {
  const std::uint64_t rounds = tests::rounds(SLUICE_TSAN ? 1 : 2);
  for (std::uint64_t seed = tests::first_seed(); seed < tests::first_seed() + rounds; ++seed)
    ASSERT_EQ(wrong(seed), "") << "seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(
    drives, lanes_at_once,
    ::testing::Values(
        stress{.name = "one_drive", .options = {""}},
        stress{.name = "two_frames", .options = {""}, .frames = 2},
        stress{.name = "stripe", .options = {"", ""}, .span_every = 4},
        stress{.name = "mirror", .options = {"", ""}, .how = drive::layout::mirror},
        stress{
            .name = "answers_late_and_out_of_order", .options = {"shuffle=1&delay_us=200"}, .span_every = 4},
        stress{.name = "an_exclusive_tier", .options = {""}, .span_every = 4, .tier_pages = 24},
        stress{.name = "an_inclusive_tier_over_a_mirror",
               .options = {"", ""},
               .how = drive::layout::mirror,
               .tier_pages = 32,
               .tier = cache::tier_kind::inclusive},
        stress{.name = "pages_of_several_commands", .options = {"mdts=8KiB"}, .page_bytes = 16 * KiB},
        stress{.name = "a_replica_that_fails_now_and_then",
               .options = {"", "error_rate=0.02&seed=3"},
               .how = drive::layout::mirror},
        stress{.name = "answers_that_never_come",
               .options = {"drop_rate=0.001&deadline_ms=250&seed=5"},
               .forgets = true}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sluice
