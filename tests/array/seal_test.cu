// Pages that lanes check when they come: what they are told, what they are never told, and what is sealed
// afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/error.h"
#include "sluice/drive/scrub.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "tests/support/doomed.h"
#include "tests/support/refusal.h"
#include "tests/support/scratch_file.h"

namespace sluice {
namespace {

using test::refusal_of;
using ::testing::HasSubstr;
using words = cached_volume<>::array_type<std::uint64_t>;

constexpr std::uint64_t pages = 64;  // of 4 KiB
constexpr std::uint64_t page_words = 512;
constexpr int rounds = SLUICE_TSAN ? 6 : 30;

/// Counts the words of a page that are not its number.
struct read_all {
  words from;
  std::uint64_t* wrong;
  SLUICE_HD void operator()() const {
    for (std::uint64_t i = lane::grid_index() * 64; i < from.size(); i += lane::grid_lanes() * 64) {
      const auto got = from.try_read(i);
      if (got.is_ok() && got.value != i / page_words) lane::on_device(*wrong).fetch_add(1, lane::relaxed);
      if (!got.is_ok()) from.read(i);
    }
  }
};

/// Writes to every third page, from `first` on, what it holds already, but for one word.
struct write_some {
  words to;
  std::uint64_t first;
  SLUICE_HD void operator()() const {
    for (std::uint64_t page = first + 3 * lane::grid_index(); page < pages; page += 3 * lane::grid_lanes())
      to.fetch_add(page * page_words + 5, 1);
  }
};

class sealed_volume : public ::testing::TestWithParam<drive::layout> {
 protected:
  sealed_volume() {
    storage made = storage::create(uris("?size=4MiB"), {.mode = drive::access::write}, GetParam(),
                                   drive::largest_page, "v");
    const drive::dataset data = made.volume().begin_dataset("words", "raw", pages * 4096);
    std::vector<std::uint64_t> all(pages * page_words);
    for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = i / page_words;
    made.volume().write(data.first_byte, std::as_bytes(std::span(all)));
    made.volume().commit(data);
    made.volume().seal_dataset("words");
  }
  std::vector<std::string> uris(const std::string& options = "") const {
    return {"file:" + files_[0].path() + options, "file:" + files_[1].path() + options};
  }
  storage open(drive::access mode) const { return storage::open(uris(), {.mode = mode}); }
  static cached_options checking(std::uint32_t page_bytes = 4096) {
    return {.cache_bytes = 8 * std::uint64_t{page_bytes},
            .page_bytes = page_bytes,
            .queues = 1,
            .depth = 32,
            .verify_pages = true};
  }
  /// Another byte of that page, behind everybody's back.
  void spoil(std::uint64_t page, std::uint32_t replica) {
    drive::volume_place at;
    {
      const storage held = open(drive::access::read);
      at = held.volume().ref().locate(held.volume().find("words").first_byte + page * 4096, replica);
    }
    std::fstream file(files_[at.drive].path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto where = static_cast<std::streamoff>(at.first.value * 512);
    file.seekg(where);
    const char byte = static_cast<char>(file.get());
    file.seekp(where);
    file.put(static_cast<char>(byte ^ 1));
  }
  io_truth read(cached_volume<>& cached, const storage& held) const {
    std::uint64_t wrong = 0;
    lane::launch(*machine_, {.blocks = 1, .block_lanes = 64},
                 read_all{cached.array<std::uint64_t>(held.volume().find("words")), &wrong});
    EXPECT_EQ(wrong, 0U) << "a spoiled byte reached a lane";
    cached.sync();
    return cached.truth();
  }
  drive::scrub_report scrubbed() const {
    storage held = open(drive::access::read);
    return drive::scrub(held.volume(), {.repair = false});
  }

  test::scratch_file files_[2];
  std::unique_ptr<lane::machine> machine_ = lane::machine::cpu(2);
};
INSTANTIATE_TEST_SUITE_P(layouts, sealed_volume,
                         ::testing::Values(drive::layout::stripe, drive::layout::mirror),
                         [](const auto& info) {
                           return info.param == drive::layout::stripe ? "stripe" : "mirror";
                         });

TEST_P(sealed_volume, gives_all_pages_where_all_are_good) {
  for (const std::uint32_t page_bytes : {4096U, 16384U, 65536U}) {
    storage held = open(drive::access::read);
    cached_volume<> cached(*machine_, held, checking(page_bytes));
    EXPECT_EQ(read(cached, held).mismatches, 0U);
  }
}

TEST_P(sealed_volume, catches_a_spoiled_page_and_names_it_or_serves_the_other_copy) {
  spoil(21, 0);
  storage held = open(drive::access::read);
  cached_volume<> cached(*machine_, held, checking());
  if (GetParam() == drive::layout::mirror) {
    read(cached, held);  // from one replica or the other, by a hash: but rightly
    return;
  }
  const auto told = refusal_of([&] { read(cached, held); });
  EXPECT_EQ(told.kind, error_kind::corrupt);
  EXPECT_THAT(told.line, HasSubstr("page 21 of dataset 'words' is not as it was sealed"));
  EXPECT_THAT(told.line, HasSubstr(files_[1].path())) << "64 KiB on the first drive, then the second";
  EXPECT_THAT(told.line, HasSubstr("LBA " + std::to_string((MiB + 5 * 4096) / 512)));
  EXPECT_THAT(told.line, HasSubstr("checksum mismatch"));
  EXPECT_GE(cached.truth().mismatches, 1U);
}

TEST_P(sealed_volume, serves_from_a_mirror_where_every_page_is_bad_on_one_side) {
  if (GetParam() != drive::layout::mirror) GTEST_SKIP() << "a stripe has one copy";
  for (std::uint64_t page = 0; page < pages; ++page) spoil(page, page % 2);
  storage held = open(drive::access::read);
  cached_volume<> cached(*machine_, held, checking());
  EXPECT_GT(read(cached, held).mismatches, 0U);
  storage to_mend = open(drive::access::read);
  EXPECT_EQ(drive::scrub(to_mend.volume(), {.repair = false}).counts().bad, pages);
}

TEST_P(sealed_volume, says_nothing_where_nobody_asked_for_checks) {
  spoil(3, 0);
  storage held = open(drive::access::read);
  cached_options plain = checking();
  plain.verify_pages = false;
  cached_volume<> cached(*machine_, held, plain);
  std::uint64_t wrong = 0;
  lane::launch(*machine_, {.blocks = 1, .block_lanes = 32},
               read_all{cached.array<std::uint64_t>(held.volume().find("words")), &wrong});
  cached.sync();
}

TEST_P(sealed_volume, refuses_checks_that_cannot_be) {
  storage held = open(drive::access::read);
  const auto small = refusal_of([&] { cached_volume<> cached(*machine_, held, checking(512)); });
  EXPECT_EQ(small.kind, error_kind::bad_input);
  EXPECT_THAT(small.mend, HasSubstr("--unit 512"));
  storage raw = storage::raw({{"mem:4MiB"}}, {.mode = drive::access::write});
  EXPECT_THAT(refusal_of([&] { cached_volume<> cached(*machine_, raw, checking()); }).line,
              HasSubstr("is sealed"));
}

TEST_P(sealed_volume, covers_all_but_what_lanes_wrote) {
  for (std::uint64_t first = 0; first < 2; ++first) {
    storage held = open(drive::access::write);
    cached_volume<> cached(*machine_, held, checking());
    cached_volume<> other(*machine_, held, checking());  // shares what is noted
    const auto array = cached.array<std::uint64_t>(held.volume().find("words"));
    lane::launch(*machine_, {.blocks = 1, .block_lanes = 32}, write_some{array, first});
    cached.sync();
    cached.flush();
    EXPECT_TRUE(held.volume().find("words").sealed->being_written);
    std::uint64_t wrong = 0;
    lane::launch(*machine_, {.blocks = 1, .block_lanes = 64}, read_all{array, &wrong});
    lane::launch(*machine_, {.blocks = 1, .block_lanes = 64},
                 read_all{other.array<std::uint64_t>(held.volume().find("words")), &wrong});
    cached.sync();
    other.sync();
    EXPECT_EQ(cached.truth().mismatches + other.truth().mismatches, 0U);
  }
  const drive::scrub_report told = scrubbed();
  const std::uint64_t copies = GetParam() == drive::layout::mirror ? 2 : 1;
  EXPECT_EQ(told.datasets[0].standing, drive::seal_standing::counts);
  EXPECT_EQ(told.counts().unsealed, copies * 43) << "pages 0, 3, ... and 1, 4, ...";
  EXPECT_EQ(told.counts().good, copies * 21);
  EXPECT_TRUE(told.all_good());
  spoil(2, 0);  // still covered
  spoil(3, 0);  // not any more
  EXPECT_EQ(scrubbed().counts().bad, 1U);
}

TEST_P(sealed_volume, has_no_good_page_that_looks_bad_after_any_kill) {
  // The parent scrubs between two kills, so that it forks with threads.
  if (SLUICE_TSAN) GTEST_SKIP() << "under ThreadSanitizer such a fork may start no threads";
  std::mt19937 random(1);
  std::uint64_t broken = 0;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    test::doomed writer([&](const auto& report) {
      const auto machine = lane::machine::cpu(1);
      storage held = open(drive::access::write);
      held.volume().seal_dataset("words");
      for (std::uint64_t k = 1;; ++k) {
        report(k);
        cached_volume<> cached(*machine, held, checking());
        const auto array = cached.array<std::uint64_t>(held.volume().find("words"));
        lane::launch(*machine, {.blocks = 1, .block_lanes = 32}, write_some{array, k});
        cached.sync();
        if (k % 2 == 0) cached.flush();
      }
    });
    if (round % 4 != 0) (void)writer.next_report();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    writer.kill();
    ASSERT_FALSE(writer.failed()) << "a page looked bad while the program ran";
    const drive::scrub_report told = scrubbed();
    EXPECT_EQ(told.counts().bad, 0U) << "round " << round;
    EXPECT_EQ(told.records_left, 0U);
    broken += told.datasets[0].standing == drive::seal_standing::broken ? 1 : 0;
    // Replicas may differ in what was never flushed: a scrub makes them equal, and they can be sealed again.
    storage held = open(drive::access::write);
    drive::scrub(held.volume(), {});
  }
  EXPECT_GT(broken, 0U) << "no kill came while it wrote";
}

}  // namespace
}  // namespace sluice
