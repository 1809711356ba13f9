// The addition of vectors on drives by lanes of the CPU backend, every element held against plain C++.
#include "apps/vector_add/vector_add.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "sluice/base/error.h"
#include "tests/support/refusal.h"
#include "tests/support/scratch_file.h"

namespace sluice::vector_add {
namespace {

using sluice::test::refusal;
using sluice::test::refusal_of;
using sluice::test::scratch_file;

constexpr std::uint64_t seed = 7;

storage open_raw(const std::vector<std::string>& uris, drive::layout how = drive::layout::stripe) {
  return storage::raw(uris, {.mode = drive::access::write}, how);
}

void prepare(storage& drives, const vectors& of) {
  write_operands(drives.volume(), of, seed);
  spoil_sums(drives.volume(), of);
}

/// Adds what prepare() wrote.
add_outcome add(storage& drives, const vectors& of, const add_options& options, unsigned threads = 2) {
  const auto machine = lane::machine::cpu(threads);
  return add_on_lanes(*machine, drives, of, options);
}

/// Writes, adds, and fails the test where the drives do not hold the sums.
add_outcome add_and_check(storage& drives, const vectors& of,
                          const add_options& options = {.cache_bytes = MiB}) {
  prepare(drives, of);
  const add_outcome outcome = add(drives, of, options);
  EXPECT_EQ(fault_of_sums(drives.volume(), of, seed).value_or(""), "");
  return outcome;
}
add_outcome add_and_check(const vectors& of, const add_options& options = {.cache_bytes = MiB}) {
  storage drives = open_raw({"mem:16MiB"});
  return add_and_check(drives, of, options);
}

TEST(vector_add, adds_elements_of_every_type) {
  for (const element of : {element::u32, element::u64, element::f32, element::f64})
    add_and_check({.of = of, .elements = 50'000});
}

TEST(vector_add, adds_counts_that_fill_no_page) {
  for (const std::uint64_t count : {1, 2, 3, 5, 127, 128, 129, 255, 257, 1023, 2049, 5000}) {
    add_and_check({.of = element::u32, .elements = count}, {.cache_bytes = MiB, .page_bytes = 512});
    add_and_check({.of = element::f64, .elements = count}, {.cache_bytes = MiB, .page_bytes = 512});
  }
}

TEST(vector_add, adds_through_pages_of_every_size) {
  for (std::uint32_t page = 512; page <= 64 * KiB; page *= 2)
    add_and_check({.of = element::u32, .elements = 100'003}, {.cache_bytes = MiB, .page_bytes = page});
}

TEST(vector_add, is_right_with_a_cache_of_a_few_frames) {
  for (const std::uint64_t frames : {2, 3, 4, 8, 16, 40})
    add_and_check({.of = element::u64, .elements = 3'001}, {.cache_bytes = frames * 512, .page_bytes = 512});
}

/// Each of them holds a page of C, or waits until another one does not any more.
TEST(vector_add, is_right_with_more_warps_than_frames) {
  for (const std::uint64_t frames : {2, 4, 16}) {
    const add_outcome outcome =
        add_and_check({.of = element::u64, .elements = 6'401},
                      {.cache_bytes = frames * 512, .page_bytes = 512, .lanes = 32 * 32});
    EXPECT_EQ(outcome.lanes, 1024U);
    EXPECT_FALSE(outcome.ahead) << "there is no room to ask ahead";
  }
}

TEST(vector_add, is_the_same_over_stripes_and_mirrors) {
  const vectors of{.of = element::f32, .elements = 200'001};
  storage stripe = open_raw({"mem:2MiB", "mem:2MiB", "mem:2MiB"});
  add_and_check(stripe, of);
  storage mirror = open_raw({"mem:4MiB", "mem:4MiB"}, drive::layout::mirror);
  add_and_check(mirror, of);
}

TEST(vector_add, adds_vectors_that_begin_further_behind) {
  storage drives = open_raw({"mem:4MiB"});
  add_and_check(drives, {.of = element::u32, .elements = 10'000, .first_byte = MiB});
}

TEST(vector_add, leaves_the_sums_on_a_drive_that_is_opened_again) {
  const scratch_file file;
  const std::string uri = "file:" + file.path();
  const vectors of{.of = element::u32, .elements = 30'000};
  {
    storage drives = open_raw({uri + "?size=1MiB"});
    add_and_check(drives, of);
  }
  const storage again = storage::raw({{uri}}, {.mode = drive::access::read});
  EXPECT_EQ(fault_of_sums(again.volume(), of, seed).value_or(""), "");
}

TEST(vector_add, reads_each_page_once_and_never_reads_sums) {
  const std::uint32_t page = 4096;
  const vectors of{.of = element::u32, .elements = 100 * page / 4};
  const add_outcome outcome = add_and_check(of, {.cache_bytes = 8 * MiB, .page_bytes = page});
  EXPECT_EQ(outcome.io.commands_issued, outcome.io.commands_served);
  EXPECT_EQ(outcome.io.bytes_moved, of.bytes_needed());
  EXPECT_EQ(outcome.io.visits, 2U * 100 * 32);
  EXPECT_LE(outcome.io.misses, outcome.io.visits);
  EXPECT_EQ(std::accumulate(outcome.page_times.begin(), outcome.page_times.end(), std::uint64_t{0}), 100U);
  EXPECT_TRUE(outcome.ahead);
  EXPECT_GT(outcome.run, 1U);
  EXPECT_GE(outcome.seconds, outcome.flush_seconds);
}

/// As a range for `error_lba=`.
std::string blocks_of(std::uint64_t first_byte, std::uint64_t bytes) {
  return std::to_string(first_byte / 512) + "-" + std::to_string((first_byte + bytes - 1) / 512);
}

/// Adds over a drive that fails in those bytes.
void add_over_failing(const vectors& of, std::uint64_t first_byte, std::uint64_t bytes,
                      const std::string& code) {
  const scratch_file file;
  const std::string uri = "file:" + file.path();
  {
    storage calm = open_raw({uri + "?size=1MiB"});
    prepare(calm, of);
  }
  storage drives = open_raw({uri + "?error_lba=" + blocks_of(first_byte, bytes) + "&status=" + code});
  add(drives, of, {.cache_bytes = 128 * KiB});
}

TEST(vector_add, ends_with_the_drives_error) {
  const vectors of{.of = element::u32, .elements = 50'000};
  const struct {
    std::uint64_t at;
    std::uint32_t code;
  } faults[] = {
      {of.a(), 0x281}, {of.b() + 4096, 0x281}, {of.c(), 0x280}, {of.c() + of.bytes_each() - 4, 0x280}};
  for (const auto& fault : faults) {
    try {
      add_over_failing(of, fault.at / 4096 * 4096, 4096, std::to_string(fault.code));
      FAIL() << "a page that the drive fails was not noticed";
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::io_failure);
      EXPECT_TRUE(e.place().drive.starts_with("file:"));
      ASSERT_TRUE(e.place().block.has_value());
      EXPECT_EQ(e.place().block->value, fault.at / 4096 * 8);
      EXPECT_EQ(e.place().code.nvme_code(), fault.code);
    }
  }
}

TEST(vector_add, recovers_from_dropped_commands_or_says_so_within_the_deadline) {
  const vectors of{.of = element::u64, .elements = 20'000};
  for (int drop = 1; drop <= 2; ++drop) {
    const scratch_file file;
    const std::string uri = "file:" + file.path();
    {
      storage calm = open_raw({uri + "?size=1MiB"});
      prepare(calm, of);
    }
    const refusal said = refusal_of([&] {
      storage drives = open_raw({uri + "?drop_rate=0.02&deadline_ms=100&seed=" + std::to_string(drop)});
      add(drives, of, {.cache_bytes = 128 * KiB});
    });
    if (said.line.empty()) {
      const storage calm = storage::raw({{uri}}, {.mode = drive::access::read});
      EXPECT_EQ(fault_of_sums(calm.volume(), of, seed).value_or(""), "");
    } else {
      EXPECT_EQ(said.kind, error_kind::io_failure) << said.line;
    }
  }
}

TEST(vector_add, stops_when_asked) {
  storage drives = open_raw({"mem:16MiB?delay_us=20000"});
  std::atomic<int> looks{0};
  add_options options{.cache_bytes = 64 * KiB};
  options.stop_asked = [&] { return ++looks > 3; };
  EXPECT_EQ(refusal_of([&] { add(drives, {.elements = 1'000'000}, options); }).kind, error_kind::cancelled);
}

TEST(vector_add, does_not_write_to_what_was_opened_for_reading) {
  const scratch_file file;
  const std::string uri = "file:" + file.path();
  const vectors of{.elements = 1'000};
  {
    storage drives = open_raw({uri + "?size=1MiB"});
    prepare(drives, of);
  }
  storage drives = storage::raw({{uri}}, {.mode = drive::access::read});
  const refusal told = refusal_of([&] { add(drives, of, {.cache_bytes = MiB}); });
  EXPECT_EQ(told.kind, error_kind::bad_input);
  EXPECT_NE(told.line.find("opened for reading"), std::string::npos) << told.line;
}

TEST(vector_add, says_beforehand_what_cannot_be) {
  storage drives = open_raw({"mem:1MiB"});
  const auto machine = lane::machine::cpu(1);
  EXPECT_NO_THROW(need_possible(*machine, drives, {.cache_bytes = MiB, .page_bytes = 512}));
  for (const add_options& wrong : {add_options{.page_bytes = 3000}, add_options{.cache_bytes = 4096}}) {
    const refusal told = refusal_of([&] { need_possible(*machine, drives, wrong); });
    EXPECT_EQ(told.kind, error_kind::bad_input);
    EXPECT_NE(told.line, "");
  }
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{100'000}, most_elements, most_elements + 1, ~std::uint64_t{0}}) {
    const refusal told = refusal_of([&] { need_room(drives.volume(), {.elements = count}); });
    EXPECT_EQ(told.kind, error_kind::bad_input) << count;
    EXPECT_NE(told.line, "");
    EXPECT_NE(told.mend, "");
  }
  EXPECT_NO_THROW(need_room(drives.volume(), {.elements = 64 * KiB}));
}

}  // namespace
}  // namespace sluice::vector_add
