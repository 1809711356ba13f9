// Data larger than the cache, written by lanes in every way there is, flushed, and read by another process:
// all of it is there, whether one warp wrote or ten thousand.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "tests/support/schedules.h"
#include "tests/support/scratch_file.h"

namespace sluice {
namespace {

using words = cached_volume<>::array_type<std::uint64_t>;

constexpr std::uint32_t page_bytes = 4096;
constexpr std::uint32_t page_words = page_bytes / 8;
/// Of the data, on this machine; a GPU may be given many times more.
std::uint64_t data_pages() { return tests::rounds(SLUICE_TSAN ? 64 : 160); }
/// Each the work of one warp at a time.
constexpr std::uint32_t chunk_words = 32;
SLUICE_HD std::uint64_t chunks_of(const words& all) { return all.size() / chunk_words; }
/// The k-th chunk that is looked at: neighbours in time are no neighbours in the file.
SLUICE_HD std::uint64_t first_word_of(std::uint64_t k, std::uint64_t chunks) {
  constexpr std::uint64_t large_prime = 0x9e3779b1;
  return k * large_prime % chunks * chunk_words;
}
cached_options an_eighth() {
  return {.cache_bytes = data_pages() / 8 * page_bytes, .page_bytes = page_bytes, .queues = 2, .depth = 64};
}

SLUICE_HD constexpr std::uint64_t before(std::uint64_t i) { return mix(i + 0x5eed); }
SLUICE_HD constexpr std::uint64_t after(std::uint64_t i) { return mix(i + 0xda7a); }

/// Puts after(i) where before(i) is. Each page by one of four ways: by writes, additions, a span that writes,
/// or one that overwrites.
struct write_all {
  words to;
  SLUICE_HD void operator()() const {
    const auto warp = lane::warp_team::whole();
    const std::uint64_t chunks = chunks_of(to);
    for (std::uint64_t k = lane::warp_index(); k < chunks; k += lane::grid_lanes() / 32) {
      const std::uint64_t first = first_word_of(k, chunks), page = first / page_words;
      const std::uint64_t i = first + lane::lane_index();
      switch (mix(page) % 4) {
        case 0:
          to[i] = after(i);
          break;
        case 1:
          to.fetch_add(i, after(i) - before(i));
          break;
        case 2:
          fill(warp, page, span_kind::write, first);
          break;
        default:
          if (first % page_words == 0) fill(warp, page, span_kind::overwrite, first);
      }
    }
  }
  /// Where spans hold the set, word by word.
  SLUICE_HD void fill(const lane::warp_team& warp, std::uint64_t page, span_kind kind,
                      std::uint64_t first) const {
    const std::uint64_t end = kind == span_kind::overwrite ? first + page_words : first + chunk_words;
    bool held = false;
    {
      const auto span = to.span(warp, page, kind);
      held = span.is_ok();
      for (std::uint64_t i = first + warp.rank(); i < end && held; i += warp.size())
        span.set(static_cast<std::uint32_t>(i - span.first()), after(i));
    }
    for (std::uint64_t i = first + warp.rank(); i < end && !held; i += warp.size()) to[i] = after(i);
  }
};

struct count_wrong {
  words of;
  std::uint64_t* wrong;
  SLUICE_HD void operator()() const {
    const std::uint64_t chunks = chunks_of(of);
    for (std::uint64_t k = lane::warp_index(); k < chunks; k += lane::grid_lanes() / 32) {
      const std::uint64_t i = first_word_of(k, chunks) + lane::lane_index();
      if (of[i] != after(i)) lane::on_device(*wrong).fetch_add(1, lane::relaxed);
    }
  }
};

std::unique_ptr<lane::machine> any_machine() {
  return lane::machine::has_cuda() ? lane::machine::cuda() : lane::machine::cpu();
}
lane::grid grid_of(std::uint32_t warps) { return {.blocks = warps, .block_lanes = 32}; }

/// What the other process is told, by its environment.
constexpr const char* told_drives = "SLUICE_REREAD_DRIVES";
constexpr const char* told_warps = "SLUICE_REREAD_WARPS";

TEST(another_process, DISABLED_finds_every_word) {
  ASSERT_NE(std::getenv(told_drives), nullptr) << "started by the tests below";
  std::istringstream list(std::getenv(told_drives));
  std::vector<std::string> uris;
  for (std::string uri; list >> uri;) uris.push_back(uri);
  storage drives = storage::open(uris, {.mode = drive::access::read});
  const drive::dataset data = drives.volume().find("words");

  std::vector<std::uint64_t> found(data_pages() * page_words);
  drives.volume().read(data.first_byte, std::as_writable_bytes(std::span(found)));
  for (std::uint64_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], after(i)) << "word " << i;

  const auto machine = any_machine();
  cached_volume<> cached(*machine, drives, an_eighth());
  const memory::buffer wrong(machine->kind(), memory::place::pinned, sizeof(std::uint64_t));
  lane::launch(*machine, grid_of(static_cast<std::uint32_t>(std::atoi(std::getenv(told_warps)))),
               count_wrong{cached.array<std::uint64_t>(data), wrong.lanes_as<std::uint64_t>()});
  cached.sync();
  EXPECT_EQ(wrong.host_as<std::uint64_t>()[0], 0U);
}

/// Runs that test in a fresh process; its exit status.
int run_another_process(const std::vector<std::string>& uris, std::uint32_t warps) {
  std::string list;
  for (const std::string& uri : uris) list += uri + ' ';
  setenv(told_drives, list.c_str(), 1);
  setenv(told_warps, std::to_string(warps).c_str(), 1);
  const char* const words[] = {"array_tests", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                               "--gtest_filter=another_process.DISABLED_finds_every_word", nullptr};
  pid_t process = 0;
  if (::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(words), environ) != 0)
    return -1;
  int how = 0;
  ::waitpid(process, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

struct shape {
  const char* name;
  int drives;
  drive::layout how;
  std::uint32_t warps;
  bool tier = false;  ///< of twice the cache's size
};
void PrintTo(const shape& what, std::ostream* to) { *to << what.name; }

class reread : public ::testing::TestWithParam<shape> {
 protected:
  std::vector<std::string> uris(const std::string& options = "") const {
    std::vector<std::string> all;
    for (int i = 0; i < GetParam().drives; ++i) all.push_back("file:" + files_[i].path() + options);
    return all;
  }
  test::scratch_file files_[2];
};

TEST_P(reread, gives_another_process_all_that_was_flushed) {
  {
    storage drives =
        storage::create(uris("?size=" + std::to_string(4 + data_pages() * page_bytes / MiB) + "MiB"),
                        {.mode = drive::access::write}, GetParam().how, drive::largest_page, "v");
    const drive::dataset data = drives.volume().begin_dataset("words", "raw", data_pages() * page_bytes);
    std::vector<std::uint64_t> old(data_pages() * page_words);
    for (std::uint64_t i = 0; i < old.size(); ++i) old[i] = before(i);
    drives.volume().write(data.first_byte, std::as_bytes(std::span(old)));
    drives.volume().commit(data);
  }
  {
    const auto machine = any_machine();
    storage drives = storage::open(uris(), {.mode = drive::access::write});
    cached_options options = an_eighth();
    if (GetParam().tier) options.tier_bytes = 2 * options.cache_bytes;
    cached_volume<> cached(*machine, drives, options);
    lane::launch(*machine, grid_of(GetParam().warps),
                 write_all{cached.array<std::uint64_t>(drives.volume().find("words"))});
    try {
      cached.sync();
    } catch (const error& told) {
      ASSERT_EQ(told.place().code, status::no_frame) << told.what();
    }
    cached.flush();
    EXPECT_EQ(cached.truth().cache.tier_loads > 0, GetParam().tier);
  }
  EXPECT_EQ(run_another_process(uris(), GetParam().warps), 0);
}

INSTANTIATE_TEST_SUITE_P(
    drives, reread,
    ::testing::Values(shape{"one_warp", 1, drive::layout::stripe, 1},
                      shape{"one_warp_on_a_mirror", 2, drive::layout::mirror, 1},
                      shape{"some_warps_on_a_stripe", 2, drive::layout::stripe, 33},
                      shape{"some_warps_with_a_tier", 2, drive::layout::stripe, 33, true},
                      shape{"a_thousand_warps_on_a_mirror", 2, drive::layout::mirror, 1000},
                      shape{"ten_thousand_warps", 1, drive::layout::stripe, 10'000},
                      shape{"ten_thousand_warps_on_a_stripe", 2, drive::layout::stripe, 10'000}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sluice
