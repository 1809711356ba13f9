// The worst that lanes and drives can do to a cache: every launch ends soon, and every access with a value or
// with the status that it deserves.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/wait.h"

namespace sluice {
namespace {

using words = cached_volume<>::array_type<std::uint64_t>;

constexpr std::uint32_t page_bytes = 4096;
constexpr std::uint32_t page_words = page_bytes / 8;
constexpr std::uint64_t pages = 64;
constexpr std::chrono::seconds soon{SLUICE_TSAN ? 60 : 20};

/// How accesses ended.
struct tally {
  std::uint32_t ok;
  std::uint32_t no_frame;
  std::uint32_t fault;  ///< the drive's
  std::uint32_t other;
  std::uint32_t met;  ///< warps that have come to the meeting

  SLUICE_HD void note(status code, status fault_code) {
    std::uint32_t& count = code.is_ok()               ? ok
                           : code == status::no_frame ? no_frame
                           : code == fault_code       ? fault
                                                      : other;
    lane::on_device(count).fetch_add(1, lane::relaxed);
  }
};

/// What all kernels here know.
struct stage {
  words all;
  tally* told;
  status fault;

  SLUICE_HD void note(status code) const { told->note(code, fault); }
  SLUICE_HD void read(std::uint64_t i) const { note(all.try_read(i).code); }
  SLUICE_HD void write(std::uint64_t i) const { note(all.write(i, i)); }
  SLUICE_HD void add(std::uint64_t i) const {
    note(all.cache()
             .fetch_add<std::uint64_t>({i / page_words}, static_cast<std::uint32_t>(i % page_words) * 8, 1)
             .code);
  }
  SLUICE_HD std::uint64_t any(std::uint64_t k) const {
    return mix(lane::grid_index() * 1009 + k) % all.size();
  }
};

/// Each warp holds a page, as long as there is a frame for it, until all warps have one or were refused; the
/// others' elements are read meanwhile.
struct hold_all : stage {
  SLUICE_HD void operator()() const {
    const auto warp = lane::warp_team::whole();
    const auto span = all.span(warp, lane::warp_index() % pages);
    if (warp.leads()) {
      note(span.code());
      lane::on_device(told->met).fetch_add(1, lane::relaxed);
    }
    lane::budget patience(std::uint64_t{10'000'000'000});
    while (warp.broadcast(lane::on_device(told->met).load(lane::relaxed)) < lane::grid_lanes() / 32)
      if (warp.broadcast(patience.spent())) return note(status::timed_out);
    for (std::uint64_t k = 0; k < 4; ++k) read(any(k));
    const auto second = all.span(warp, (lane::warp_index() + 31) % pages);  // while it holds the first
    if (!second.is_ok() && second.code() != status::no_frame) note(second.code());
  }
};

struct dirty_all : stage {
  SLUICE_HD void operator()() const {
    for (std::uint64_t page = 0; page < pages; ++page)
      write((page * page_words + lane::grid_index()) % all.size());
    for (std::uint64_t k = 0; k < 8; ++k) read(any(k));
  }
};

/// Elements, and pages that are overwritten without a load: those become dirty though no drive takes them.
struct use_all : stage {
  SLUICE_HD void operator()() const {
    const auto warp = lane::warp_team::whole();
    for (std::uint64_t k = 0; k < 6; ++k) {
      const auto fill = all.span(warp, mix(lane::warp_index() * 31 + k) % pages, span_kind::overwrite);
      for (std::uint32_t at = warp.rank(); at < fill.size(); at += warp.size()) fill.set(at, at);
      if (!fill.is_ok()) note(fill.code());
    }
    for (std::uint64_t k = 0; k < 4; ++k) k % 2 == 0 ? read(any(k)) : add(any(k));
  }
};

struct add_everywhere : stage {
  SLUICE_HD void operator()() const {
    for (std::uint64_t k = 0; k < 2; ++k) add(any(k));
  }
};

/// No two lanes of a warp do the same, nor equally often.
struct part_ways : stage {
  SLUICE_HD void operator()() const {
    for (std::uint64_t k = 0; k < 2 + lane::lane_index() % 5; ++k) {
      switch ((lane::lane_index() + k) % 4) {
        case 0:
          read(any(k));
          break;
        case 1:
          write(any(k));
          break;
        case 2:
          add(any(k));
          break;
        default:
          note(all.wait(all.prefetch(any(k))));
      }
    }
  }
};

/// Some never begin, some leave in the middle, with pages under way that they have asked for.
struct leave_early : stage {
  SLUICE_HD void operator()() const {
    if (lane::lane_index() % 3 == 0) return;
    for (std::uint64_t k = 0; k < 6; ++k) {
      if (k == lane::lane_index() % 7) return void(all.prefetch(any(k)));
      k % 2 == 0 ? read(any(k)) : write(any(k));
    }
  }
};

class never_stuck : public ::testing::Test {
 protected:
  void open(const std::string& faults, std::uint64_t frames) {
    cached_.reset();
    drives_ = std::make_unique<storage>(storage::raw({{"mem:" + std::to_string(pages * page_bytes) + faults}},
                                                     {.mode = drive::access::write}));
    cached_ = std::make_unique<cached_volume<>>(
        *machine_, *drives_,
        cached_options{
            .cache_bytes = frames * page_bytes, .page_bytes = page_bytes, .queues = 2, .depth = 32});
  }
  /// The launch's tally; it must have ended soon.
  template <class Kernel>
  tally run(lane::grid shape, status fault = status::ok) {
    const memory::buffer place(machine_->kind(), memory::place::pinned, sizeof(tally));
    Kernel kernel;
    static_cast<stage&>(kernel) = {cached_->array<std::uint64_t>(0, pages * page_words),
                                   place.lanes_as<tally>(), fault};
    const auto began = std::chrono::steady_clock::now();
    lane::launch(*machine_, shape, kernel);
    EXPECT_LT(std::chrono::steady_clock::now() - began, soon);
    return place.host_as<tally>()[0];
  }
  void expect_all_good(const tally& told) {
    EXPECT_GT(told.ok, 0U);
    EXPECT_EQ(told.no_frame, 0U);
    EXPECT_EQ(told.fault, 0U);
    EXPECT_EQ(told.other, 0U);
    EXPECT_NO_THROW(cached_->sync());
    EXPECT_NO_THROW(cached_->flush());
  }

  std::unique_ptr<lane::machine> machine_ =
      lane::machine::has_cuda() ? lane::machine::cuda() : lane::machine::cpu(2);
  std::unique_ptr<storage> drives_;
  std::unique_ptr<cached_volume<>> cached_;
};

TEST_F(never_stuck, by_all_frames_pinned) {
  constexpr std::uint32_t frames = 16, warps = 40;
  open("", frames);
  const tally told = run<hold_all>({.blocks = warps, .block_lanes = 32});
  EXPECT_EQ(told.no_frame, warps - (frames - 1)) << "one way is never held";
  EXPECT_EQ(told.ok, frames - 1 + warps * 32 * 4) << "elements always find a frame";
  EXPECT_EQ(told.other, 0U);
}

TEST_F(never_stuck, by_two_frames_of_which_one_is_pinned) {
  open("", 2);
  const tally told = run<hold_all>({.blocks = 8, .block_lanes = 32});
  EXPECT_EQ(told.no_frame, 7U);
  EXPECT_EQ(told.ok, 1U + 8 * 32 * 4);
  EXPECT_EQ(told.other, 0U);
}

TEST_F(never_stuck, by_all_frames_dirty) {
  for (const std::uint64_t frames : {2, 16}) {
    open("", frames);
    expect_all_good(run<dirty_all>({.blocks = 4, .block_lanes = 64}));
  }
}

TEST_F(never_stuck, by_drives_that_fail_everything) {
  const status fault = status::from_nvme(0x4280);
  for (const std::uint64_t frames : {2, 16}) {
    open("?error_rate=1&status=0x4280", frames);
    const tally told = run<use_all>({.blocks = 4, .block_lanes = 64}, fault);
    EXPECT_GT(told.fault, 0U);
    EXPECT_EQ(told.other, 0U);
    EXPECT_TRUE(frames == 2 || told.no_frame == 0) << "each of eight warps has room for its span";
    EXPECT_THROW(cached_->flush(), error);
  }
}

TEST_F(never_stuck, by_drives_that_never_answer) {
  open("?drop_rate=1&deadline_ms=20", 4);
  const tally told = run<use_all>({.blocks = 2, .block_lanes = 32}, status::timed_out);
  EXPECT_GT(told.fault, 0U);
  EXPECT_EQ(told.no_frame, 0U);
  EXPECT_EQ(told.other, 0U);
}

TEST_F(never_stuck, by_many_more_warps_than_frames) {
  for (const std::uint64_t frames : {2, 5}) {
    open("", frames);
    expect_all_good(run<add_everywhere>({.blocks = 25, .block_lanes = 64}));
    std::uint64_t sum = 0;
    std::vector<std::uint64_t> found(pages * page_words);
    drives_->volume().read(0, std::as_writable_bytes(std::span(found)));
    for (const std::uint64_t word : found) sum += word;
    EXPECT_EQ(sum, 25U * 64 * 2);
  }
}

TEST_F(never_stuck, by_lanes_that_part_ways) {
  for (const std::uint64_t frames : {2, 16}) {
    open("", frames);
    expect_all_good(run<part_ways>({.blocks = 8, .block_lanes = 64}));
  }
}

TEST_F(never_stuck, by_lanes_that_leave_early) {
  for (const std::uint64_t frames : {2, 16}) {
    open("", frames);
    expect_all_good(run<leave_early>({.blocks = 8, .block_lanes = 64}));
  }
}

}  // namespace
}  // namespace sluice
