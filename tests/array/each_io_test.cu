// A small workload of which each I/O fails in turn, or is never answered: whoever was promised something is
// told, no wrong value is ever returned, and afterwards everything works.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "tests/support/scratch_file.h"

namespace sluice {
namespace {

using words = cached_volume<>::array_type<std::uint64_t>;

constexpr std::uint32_t page_bytes = 4096;
constexpr std::uint32_t page_words = page_bytes / 8;
constexpr std::uint64_t pages = 16;
constexpr std::uint32_t lanes = 32;
constexpr std::uint32_t steps = 8;  // of a launch

/// What lanes believe, and what contradicted it. Each lane has one word of each page.
struct beliefs {
  std::uint64_t held[pages][lanes];
  std::uint32_t wrong;    ///< values that were returned as good
  std::uint32_t told;     ///< accesses that failed
  std::uint32_t strange;  ///< of those, with another status than the fault's
  std::uint32_t writes_told;
};

SLUICE_HD std::uint64_t index_of(std::uint64_t page) { return page * page_words + lane::lane_index(); }

/// Each lane reads, writes and adds to words of its own, on pages that it shares with others.
struct work {
  words all;
  beliefs* known;
  std::uint64_t seed;
  status fault;
  std::uint64_t first_page = 0;  ///< of the array

  SLUICE_HD void operator()() const {
    for (std::uint32_t k = 0; k < steps; ++k) {
      const std::uint64_t page = mix(seed * 100 + k * 2 + lane::lane_index() / 16) % pages;
      std::uint64_t& held = known->held[page][lane::lane_index()];
      switch (mix(seed + k) % 3) {
        case 0: {
          const std::uint64_t value = mix(seed * 1000 + k * lanes + lane::lane_index());
          const status code = all.write(index_of(page), value);
          if (is_ok(code)) held = value;
          if (!code.is_ok()) lane::on_device(known->writes_told).fetch_add(1, lane::relaxed);
          break;
        }
        case 1: {
          const auto got =
              all.cache().fetch_add<std::uint64_t>({first_page + page}, lane::lane_index() * 8, 5);
          if (!is_ok(got.code)) break;
          expect(got.value, held);
          held += 5;
          break;
        }
        default: {
          const auto got = all.try_read(index_of(page));
          if (is_ok(got.code)) expect(got.value, held);
        }
      }
    }
  }
  SLUICE_HD bool is_ok(status code) const {
    if (code.is_ok()) return true;
    lane::on_device(known->told).fetch_add(1, lane::relaxed);
    if (code != fault) lane::on_device(known->strange).fetch_add(1, lane::relaxed);
    return false;
  }
  SLUICE_HD void expect(std::uint64_t value, std::uint64_t held) const {
    if (value != held) lane::on_device(known->wrong).fetch_add(1, lane::relaxed);
  }
};

/// Afterwards: every word can be read, and is what its lane believes.
struct read_all {
  words all;
  beliefs* known;
  SLUICE_HD void operator()() const {
    for (std::uint64_t page = 0; page < pages; ++page) {
      const auto got = all.try_read(index_of(page));
      if (!got.is_ok()) lane::on_device(known->told).fetch_add(1, lane::relaxed);
      if (got.is_ok() && got.value != known->held[page][lane::lane_index()])
        lane::on_device(known->wrong).fetch_add(1, lane::relaxed);
    }
  }
};

struct fault {
  const char* name;
  std::string option;  ///< with the number of the command behind it
  std::string others;
  status told;
};
void PrintTo(const fault& what, std::ostream* to) { *to << what.name; }

class each_io : public ::testing::TestWithParam<fault> {
 protected:
  /// What became of one run.
  struct outcome {
    std::uint64_t commands = 0;
    std::uint32_t told = 0;  ///< accesses, and flushes, that failed
  };

  std::string uri(const std::string& options) const { return "file:" + file_.path() + "?" + options; }
  void wipe() const {
    std::ofstream(file_.path(), std::ios::binary)
        .write(std::string(pages * page_bytes, '\0').data(), pages * page_bytes);
  }
  void expect_on_disk(const beliefs& known) const {
    std::vector<std::uint64_t> found(pages * page_words);
    std::ifstream(file_.path(), std::ios::binary)
        .read(reinterpret_cast<char*>(found.data()), pages * page_bytes);
    for (std::uint64_t page = 0; page < pages; ++page)
      for (std::uint32_t lane = 0; lane < page_words; ++lane)
        ASSERT_EQ(found[page * page_words + lane], lane < lanes ? known.held[page][lane] : 0)
            << "page " << page << " word " << lane;
  }

  /// `least`: so many commands at least; a run may be some shorter than another.
  outcome run(const std::string& options, std::uint64_t least = 0) const {
    wipe();
    storage drives = storage::raw({{uri(options)}}, {.mode = drive::access::write});
    cached_volume<> cached(
        *machine_, drives,
        {.cache_bytes = 4 * page_bytes, .page_bytes = page_bytes, .queues = 1, .depth = 64});
    const auto all = cached.array<std::uint64_t>(0, pages * page_words);
    const memory::buffer place(machine_->kind(), memory::place::pinned, sizeof(beliefs));
    beliefs& known = place.host_as<beliefs>()[0];
    outcome seen;
    const auto flush = [&] {
      try {
        cached.flush();
        expect_on_disk(known);
      } catch (const error& told) {
        ++seen.told;
        EXPECT_EQ(told.place().code, GetParam().told) << told.what();
      }
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const std::uint32_t before = known.writes_told;
      lane::launch(*machine_, {.blocks = 1, .block_lanes = lanes},
                   work{all, place.lanes_as<beliefs>(), seed, GetParam().told});
      bool threw = false;
      try {
        cached.sync();
      } catch (const error& told) {
        threw = true;
        EXPECT_EQ(told.place().code, GetParam().told) << told.what();
      }
      EXPECT_EQ(threw, known.writes_told != before) << "the mailbox and the lanes disagree";
      flush();
    }
    seen.commands = cached.truth().commands.issued;
    do flush();
    while (cached.truth().commands.issued <= least);
    seen.told += known.told;
    EXPECT_EQ(known.strange, 0U) << "a status from nowhere";

    known.told = 0;
    EXPECT_NO_THROW(cached.flush());
    expect_on_disk(known);
    lane::launch(*machine_, {.blocks = 1, .block_lanes = lanes}, read_all{all, place.lanes_as<beliefs>()});
    EXPECT_EQ(known.told, 0U) << "not usable any more";
    EXPECT_EQ(known.wrong, 0U) << "a wrong value";
    const io_truth truth = cached.truth();
    EXPECT_EQ(truth.commands.issued, truth.commands.served + truth.commands.dropped);
    return seen;
  }

  test::scratch_file file_{test::memory_folder()};
  std::unique_ptr<lane::machine> machine_ =
      lane::machine::has_cuda() ? lane::machine::cuda() : lane::machine::cpu(1);
};

TEST_P(each_io, may_fail_and_is_told_or_made_good) {
  const outcome healthy = run(GetParam().others);
  ASSERT_EQ(healthy.told, 0U);
  ASSERT_GT(healthy.commands, 40U);
  std::uint64_t runs_that_were_told = 0;
  for (std::uint64_t k = 0; k < healthy.commands && !HasFailure(); ++k) {
    SCOPED_TRACE("command " + std::to_string(k));
    runs_that_were_told +=
        run(GetParam().option + std::to_string(k) + "&" + GetParam().others, k).told != 0 ? 1 : 0;
  }
  EXPECT_GT(runs_that_were_told, 0U);
  EXPECT_LT(runs_that_were_told, healthy.commands) << "a write that is tried again by a flush is made good";
}

/// One replica fails a command, or says nothing to it: nobody notices but the manifest.
TEST_P(each_io, of_one_replica_may_fail_and_nobody_has_to_be_told) {
  test::scratch_file other(test::memory_folder());
  const auto uris = [&](const std::string& options) {
    return std::vector<std::string>{uri("size=2MiB"), "file:" + other.path() + "?size=2MiB&" + options};
  };
  const auto run_mirrored = [&](const std::string& options) {
    {
      storage made = storage::create(uris(""), {.mode = drive::access::write}, drive::layout::mirror,
                                     drive::largest_page, "v", drive::on_existing::replace);
      const drive::dataset begun = made.volume().begin_dataset("words", "raw", pages * page_bytes);
      made.volume().write(begun.first_byte, std::vector<std::byte>(pages * page_bytes));
      made.volume().commit(begun);
    }
    std::unique_ptr<storage> drives;
    try {
      drives = std::make_unique<storage>(storage::open(uris(options), {.mode = drive::access::write}));
    } catch (const error&) {
      return std::uint64_t{0};  // the host was told
    }
    cached_volume<> cached(
        *machine_, *drives,
        {.cache_bytes = 4 * page_bytes, .page_bytes = page_bytes, .queues = 1, .depth = 64});
    const drive::dataset data = drives->volume().find("words");
    const auto all = cached.array<std::uint64_t>(data);
    const memory::buffer place(machine_->kind(), memory::place::pinned, sizeof(beliefs));
    beliefs& known = place.host_as<beliefs>()[0];
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      lane::launch(*machine_, {.blocks = 1, .block_lanes = lanes},
                   work{all, place.lanes_as<beliefs>(), seed, GetParam().told, data.first_byte / page_bytes});
      EXPECT_NO_THROW(cached.sync());
      EXPECT_NO_THROW(cached.flush());
    }
    lane::launch(*machine_, {.blocks = 1, .block_lanes = lanes}, read_all{all, place.lanes_as<beliefs>()});
    EXPECT_EQ(known.told, 0U);
    EXPECT_EQ(known.wrong, 0U);
    return drives->drives()[1]->counters().served;
  };
  const std::uint64_t commands = run_mirrored(GetParam().others);
  ASSERT_GT(commands, 20U);
  for (std::uint64_t k = 0; k < commands && !HasFailure(); ++k) {
    SCOPED_TRACE("command " + std::to_string(k));
    run_mirrored(GetParam().option + std::to_string(k) + "&" + GetParam().others);
  }
}

INSTANTIATE_TEST_SUITE_P(
    faults, each_io,
    ::testing::Values(fault{"errors_that_may_pass", "error_at=", "status=0x281", status::from_nvme(0x281)},
                      fault{"errors_not_to_be_tried_again", "error_at=", "status=0x4281",
                            status::from_nvme(0x4281)},
                      // A healthy command must not take as long, also on a machine with much else to do.
                      fault{"no_answer", "drop_at=", "deadline_ms=100", status::timed_out}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sluice
