// A mirrored volume in kernels: with a replica that fails every value is right, and the next program knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "tests/support/scratch_file.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using numbers = cached_volume<>::array_type<std::uint64_t>;

// The manifest lies before, so that a drive can be opened whatever it does to its data.
constexpr const char* all_data = "error_lba=2048-1000000";

constexpr std::uint64_t count = 512 * KiB / sizeof(std::uint64_t);
constexpr std::uint64_t value_of(std::uint64_t i) { return i * 3 + 1; }

struct add_to_each {
  numbers to;
  std::uint64_t what;
  SLUICE_HD void operator()() const {
    for (std::uint64_t i = lane::grid_index(); i < to.size(); i += lane::grid_lanes()) to[i] = to[i] + what;
  }
};

struct count_wrong {
  numbers of;
  std::uint64_t more;
  std::uint64_t* wrong;
  SLUICE_HD void operator()() const {
    for (std::uint64_t i = lane::grid_index(); i < of.size(); i += lane::grid_lanes())
      if (of[i] != value_of(i) + more) lane::on_device(*wrong).fetch_add(1, lane::relaxed);
  }
};

/// A whole page, without reading it.
struct overwrite {
  numbers to;
  std::uint64_t page;
  SLUICE_HD void operator()() const {
    const auto warp = lane::warp_team::whole();
    const auto span = to.span(warp, page, span_kind::overwrite);
    for (std::uint32_t k = warp.rank(); k < span.size(); k += warp.size()) span.set(k, k);
  }
};

class mirror_on_lanes : public ::testing::Test {
 protected:
  mirror_on_lanes() {
    storage made = storage::create(uris("size=4MiB", "size=4MiB"), {.mode = drive::access::write},
                                   drive::layout::mirror, drive::largest_page, "v");
    std::vector<std::uint64_t> values(count);
    for (std::uint64_t i = 0; i < count; ++i) values[i] = value_of(i);
    const drive::dataset begun = made.volume().begin_dataset("numbers", "raw", count * sizeof(std::uint64_t));
    made.volume().write(begun.first_byte, std::as_bytes(std::span(values)));
    made.volume().commit(begun);
  }
  std::vector<std::string> uris(const std::string& first = "", const std::string& second = "") const {
    const auto uri = [](const test::scratch_file& file, const std::string& options) {
      return "file:" + file.path() + (options.empty() ? "" : "?" + options);
    };
    return {uri(files_[0], first), uri(files_[1], second)};
  }
  storage open(const std::string& first = "", const std::string& second = "",
               drive::access mode = drive::access::write) const {
    return storage::open(uris(first, second), {.mode = mode});
  }
  numbers in(cached_volume<>& cached, const storage& from) const {
    return cached.array<std::uint64_t>(from.volume().find("numbers"));
  }
  /// Values that are not what they were plus `more`, read by lanes.
  std::uint64_t wrong(cached_volume<>& cached, const storage& from, std::uint64_t more = 0) {
    const memory::buffer sum(machine_->kind(), memory::place::pinned, sizeof(std::uint64_t));
    lane::launch(*machine_, {.blocks = 2, .block_lanes = 64},
                 count_wrong{in(cached, from), more, sum.lanes_as<std::uint64_t>()});
    cached.sync();
    return sum.host_as<std::uint64_t>()[0];
  }
  void add(cached_volume<>& cached, const storage& to, std::uint64_t what) {
    lane::launch(*machine_, {.blocks = 2, .block_lanes = 64}, add_to_each{in(cached, to), what});
  }
  /// The healthy drives, by a program that comes later.
  void expect_later(std::uint64_t failed, std::uint64_t more) {
    storage later = open("", "", drive::access::read);
    EXPECT_EQ(later.volume().failed(), failed);
    cached_volume<> cached(*machine_, later, small);
    EXPECT_EQ(wrong(cached, later, more), 0U);
  }

  // Much smaller than the data: pages are evicted while lanes write.
  static constexpr cached_options small{
      .cache_bytes = 64 * KiB, .page_bytes = 4096, .queues = 2, .depth = 64};

  test::scratch_file files_[2];
  std::unique_ptr<lane::machine> machine_ =
      lane::machine::has_cuda() ? lane::machine::cuda() : lane::machine::cpu();
};

TEST_F(mirror_on_lanes, reads_the_other_replica_where_one_fails) {
  for (const std::string& fault : {std::string(all_data), std::string("error_rate=0.3&seed=3"),
                                   std::string(all_data) + "&status=0x4281"}) {
    for (const bool second : {false, true}) {
      storage drives = open(second ? "" : fault, second ? fault : "", drive::access::read);
      cached_volume<> cached(*machine_, drives, small);
      EXPECT_EQ(wrong(cached, drives), 0U) << fault;
    }
  }
  expect_later(0, 0);
}

TEST_F(mirror_on_lanes, reads_the_other_replica_where_one_does_not_answer) {
  // A seed that lets the manifest through.
  storage drives = open("drop_rate=0.1&deadline_ms=100&seed=11", "", drive::access::read);
  ASSERT_EQ(drives.volume().failed(), 0U);
  cached_volume<> cached(*machine_, drives, small);
  // Which lanes ask which replica, and so which command is dropped, changes from run to run.
  constexpr int most_passes = 20;
  for (int pass = 0; pass < most_passes && cached.truth().commands.queues_lost == 0; ++pass)
    EXPECT_EQ(wrong(cached, drives), 0U);
  EXPECT_GT(cached.truth().commands.queues_lost, 0U);
}

TEST_F(mirror_on_lanes, tells_drive_block_and_status_where_both_fail) {
  storage drives = open("error_lba=2100", "error_lba=2100&status=0x4281", drive::access::read);
  cached_volume<> cached(*machine_, drives, small);
  try {
    wrong(cached, drives);
    FAIL() << "a page that no replica has went unnoticed";
  } catch (const error& told) {
    EXPECT_EQ(told.kind(), error_kind::io_failure);
    EXPECT_EQ(told.place().code.nvme_code(), 0x281U);
    EXPECT_EQ(told.place().block, lba{2096}) << "the page's first block";
    EXPECT_THAT(told.what(), HasSubstr("Unrecovered Read Error"));
    EXPECT_THAT(told.place().drive, HasSubstr(files_[0].path()));
  }
}

TEST_F(mirror_on_lanes, records_a_replica_that_fails_writes_before_flush_returns) {
  std::uint64_t more = 0;
  for (const char* status : {"&status=0x280", "&status=0x4280"}) {
    storage drives = open("", all_data + std::string(status));
    cached_volume<> cached(*machine_, drives, small);
    add(cached, drives, 5);
    cached.flush();
    cached.sync();
    EXPECT_EQ(wrong(cached, drives, more += 5), 0U);
    EXPECT_EQ(drives.volume().failed(), 2U);
  }
  expect_later(2, more);
}

TEST_F(mirror_on_lanes, reads_the_second_replica_once_the_first_has_failed) {
  {
    storage drives = open(all_data);
    cached_volume<> cached(*machine_, drives, small);
    add(cached, drives, 5);
    cached.flush();
    EXPECT_EQ(drives.volume().failed(), 1U);
  }
  expect_later(1, 5);
  {
    storage drives = open();
    cached_volume<> cached(*machine_, drives, small);
    add(cached, drives, 2);
    cached.flush();
  }
  expect_later(1, 7);
}

TEST_F(mirror_on_lanes, records_a_replica_also_where_nobody_flushes) {
  {
    storage drives = open("", std::string(all_data) + "&status=0x4280");
    cached_volume<> cached(*machine_, drives, small);
    add(cached, drives, 5);
  }
  EXPECT_EQ(open().volume().failed(), 2U);
}

TEST_F(mirror_on_lanes, leaves_out_for_lanes_what_the_host_records) {
  storage drives = open();
  cached_volume<> cached(*machine_, drives, small);
  EXPECT_EQ(wrong(cached, drives), 0U);
  drives.volume().record_failed(1);
  cached.sync();
  const std::uint64_t before = drives.drives()[1]->counters().served;
  EXPECT_EQ(wrong(cached, drives), 0U);
  EXPECT_EQ(drives.drives()[1]->counters().served, before);
}

TEST_F(mirror_on_lanes, tells_drive_block_and_status_where_no_replica_takes_a_write) {
  const std::string fault = "error_lba=2100&status=0x280";
  storage drives = open(fault, fault);
  cached_volume<> cached(*machine_, drives, small);
  lane::launch(*machine_, {.blocks = 1, .block_lanes = 32}, overwrite{in(cached, drives), 5});
  EXPECT_NO_THROW(cached.flush()) << "another page: nothing is wrong with it";
  lane::launch(*machine_, {.blocks = 1, .block_lanes = 32}, overwrite{in(cached, drives), 6});
  try {
    cached.flush();
    FAIL() << "a page that no replica took went unnoticed";
  } catch (const error& told) {
    EXPECT_EQ(told.place().code, status::from_nvme(0x280));
    EXPECT_EQ(told.place().block, lba{2096}) << "the page's first block";
    EXPECT_THAT(told.what(), HasSubstr("Write Fault"));
    EXPECT_THAT(told.place().drive, HasSubstr(files_[0].path()));
  }
  EXPECT_EQ(drives.volume().failed(), 0U) << "none of them has what the other lacks";
}

TEST_F(mirror_on_lanes, goes_on_with_pages_of_several_commands) {
  storage drives = open("mdts=8KiB", "mdts=8KiB&" + std::string(all_data) + "&status=0x4280");
  cached_volume<> cached(*machine_, drives, {.cache_bytes = 128 * KiB, .page_bytes = 16 * KiB});
  EXPECT_EQ(wrong(cached, drives), 0U);
  add(cached, drives, 1);
  cached.flush();
  EXPECT_EQ(wrong(cached, drives, 1), 0U);
  EXPECT_EQ(drives.volume().failed(), 2U);
}

}  // namespace
}  // namespace sluice
