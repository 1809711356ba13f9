// Programs that are killed while they write: what a returned flush() covered is there afterwards, whole, and
// an import that was cut off is known as one. The programs are forks, and use the CPU backend: no flush
// depends on where lanes ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "tests/support/doomed.h"
#include "tests/support/refusal.h"
#include "tests/support/schedules.h"
#include "tests/support/scratch_file.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using words = cached_volume<>::array_type<std::uint64_t>;

constexpr std::uint32_t page_bytes = 4096;
constexpr std::uint64_t page_words = page_bytes / sizeof(std::uint64_t);
constexpr std::uint64_t pages = 96;

/// True where that generation writes the page: each about every third.
SLUICE_HD constexpr bool writes(std::uint64_t generation, std::uint64_t page) {
  return mix(generation * 1000003 + page) % 3 == 0;
}
SLUICE_HD constexpr std::uint64_t stamp(std::uint64_t generation, std::uint64_t page) {
  return generation << 16 | page;
}
/// Whether it is written word by word, each by an access of its own; else through a span, all words together.
SLUICE_HD constexpr bool word_by_word(std::uint64_t page) { return page % 3 == 2; }

/// Fills each page of a generation: what a span writes goes to the drive together.
struct write_generation {
  words to;
  std::uint64_t generation;
  SLUICE_HD void operator()() const {
    const auto warp = lane::warp_team::whole();
    const std::uint32_t warps = lane::grid_lanes() / 32;
    for (std::uint64_t page = lane::warp_index(); page < pages; page += warps) {
      if (!writes(generation, page)) continue;
      if (word_by_word(page)) {
        for (std::uint64_t k = warp.rank(); k < page_words; k += warp.size())
          to[page * page_words + k] = stamp(generation, page);
        continue;
      }
      const auto kind = page % 3 == 0 ? span_kind::overwrite : span_kind::write;
      const auto span = to.span(warp, page, kind);
      for (std::uint32_t k = warp.rank(); k < span.size(); k += warp.size())
        span.set(k, stamp(generation, page));
    }
  }
};

struct shape {
  const char* name;
  std::size_t drives;
  drive::layout how;
};
void PrintTo(const shape& what, std::ostream* to) { *to << what.name; }

/// All that lies on some drives, in words, from the first block that holds data.
class picture {
 public:
  explicit picture(const drive::volume& of, std::size_t drives) {
    const std::uint64_t start = of.ref().locate(0).first.value * of.block_size();
    for (std::uint32_t i = 0; i < drives; ++i) {
      std::vector<std::uint64_t> bytes((of.drive_at(i).bytes() - start) / sizeof(std::uint64_t));
      of.drive_at(i).read(start, std::as_writable_bytes(std::span(bytes)));
      drives_.push_back(std::move(bytes));
    }
    first_block_ = start / of.block_size();
    block_words_ = of.block_size() / sizeof(std::uint64_t);
  }
  std::span<std::uint64_t> page(drive::volume_place at) {
    return std::span(drives_[at.drive]).subspan((at.first.value - first_block_) * block_words_, page_words);
  }
  friend bool operator==(const picture&, const picture&) = default;

 private:
  std::vector<std::vector<std::uint64_t>> drives_;
  std::uint64_t first_block_ = 0;
  std::uint64_t block_words_ = 0;
};

/// Generations of the words of a page: of the oldest, and of the newest.
struct ages {
  std::uint64_t oldest = ~std::uint64_t{0};
  std::uint64_t newest = 0;
};

class crash : public ::testing::TestWithParam<shape> {
 protected:
  std::vector<std::string> uris(const std::string& options = "") const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < GetParam().drives; ++i) all.push_back("file:" + files_[i].path() + options);
    return all;
  }
  void wait_up_to(std::uint32_t ms) {
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % (ms * 1000)));
  }
  /// The array, and before and behind it others' data.
  void make_volume() const {
    storage made = storage::create(uris("?size=4MiB"), {.mode = drive::access::write}, GetParam().how,
                                   drive::largest_page, "v");
    for (const char* name : {"before", "words", "behind"}) {
      const drive::dataset begun = made.volume().begin_dataset(name, "raw", pages * page_bytes);
      const auto fill = std::string_view(name) == "words" ? std::byte{0} : std::byte{0xa5};
      made.volume().write(begun.first_byte, std::vector<std::byte>(pages * page_bytes, fill));
      made.volume().commit(begun);
    }
  }
  /// Writes generation after generation from `first` on, and reports each that a flush has covered.
  template <class Report>
  void write_for_ever(std::uint64_t first, const Report& report) const {
    const auto machine = lane::machine::cpu(1);
    storage drives = storage::open(uris(), {.mode = drive::access::write});
    // A fifth of the pages has room: others are written back while lanes go on.
    cached_volume<> cached(
        *machine, drives,
        {.cache_bytes = 20 * page_bytes, .page_bytes = page_bytes, .queues = 1, .depth = 32});
    const auto all = cached.array<std::uint64_t>(drives.volume().find("words"));
    for (std::uint64_t now = first;; ++now) {
      lane::launch(*machine, {.blocks = 1, .block_lanes = 64}, write_generation{all, now});
      cached.sync();
      if (now % 3 == 0) continue;
      cached.flush();
      report(now);
    }
  }
  picture take_picture() const {
    return picture(storage::open(uris(), {.mode = drive::access::read}).volume(), GetParam().drives);
  }
  /// Looks at each page of the array on each drive that has it, and wipes it from the picture: its words must
  /// be its own, of generation `least` or later, and all of one where a span wrote them.
  std::vector<ages> look_at_pages(picture& all, const std::vector<std::uint64_t>& least) const {
    const storage after = storage::open(uris(), {.mode = drive::access::read});
    const drive::volume_ref volume = after.volume().ref();
    const std::uint64_t first_byte = after.volume().find("words").first_byte;
    std::vector<ages> found(pages);
    for (std::uint64_t page = 0; page < pages; ++page) {
      for (std::uint32_t replica = 0; replica < volume.replicas(); ++replica) {
        const auto words = all.page(volume.locate(first_byte + page * page_bytes, replica));
        for (const std::uint64_t word : words) {
          EXPECT_TRUE(word == words[0] || word_by_word(page)) << "page " << page << " is torn";
          EXPECT_TRUE(word == 0 || (word & 0xffff) == page) << "another page's bytes";
          found[page].oldest = std::min(found[page].oldest, word >> 16);
          found[page].newest = std::max(found[page].newest, word >> 16);
        }
        std::fill(words.begin(), words.end(), 0);
      }
      EXPECT_GE(found[page].oldest, least[page])
          << "page " << page << " lost a write that a flush had covered";
    }
    return found;
  }

  test::scratch_file files_[2];
  std::mt19937_64 random_{tests::first_seed()};
};

TEST_P(crash, loses_and_tears_nothing_that_a_returned_flush_covered) {
  make_volume();
  const picture untouched = take_picture();  // the array's pages hold zeroes
  std::vector<std::uint64_t> least(pages);   // generation that each page must have, or a later one
  std::uint64_t newest = 0;
  const std::uint64_t rounds = tests::rounds(SLUICE_TSAN ? 10 : 50);
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    test::doomed writer([&](const auto& report) { write_for_ever(newest + 1, report); });
    std::uint64_t covered = newest;
    if (round % 4 != 0) covered = writer.next_report().value_or(covered);
    wait_up_to(60);
    covered = writer.kill(covered);
    ASSERT_FALSE(writer.failed());

    for (std::uint64_t now = newest + 1; now <= covered; ++now)
      for (std::uint64_t page = 0; page < pages; ++page)
        if (writes(now, page)) least[page] = now;
    newest = std::max(newest, covered);
    picture after = take_picture();
    const std::vector<ages> found = look_at_pages(after, least);
    EXPECT_TRUE(after == untouched) << "something outside the array was written";
    for (std::uint64_t page = 0; page < pages; ++page) {
      least[page] = found[page].oldest;
      newest = std::max(newest, found[page].newest);
    }
  }
  EXPECT_GT(newest, rounds) << "hardly anything was written";
}

INSTANTIATE_TEST_SUITE_P(drives, crash,
                         ::testing::Values(shape{"one_drive", 1, drive::layout::stripe},
                                           shape{"stripe", 2, drive::layout::stripe},
                                           shape{"mirror", 2, drive::layout::mirror}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(import, is_known_as_half_done_where_it_was_killed) {
  std::mt19937_64 random(tests::first_seed());
  int half = 0;
  const std::uint64_t rounds = tests::rounds(20);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const test::scratch_file fresh;
    const std::vector<std::string> there{"file:" + fresh.path()};
    const std::vector<std::byte> bytes(MiB, std::byte{7});
    test::doomed importer([&](const auto& report) {
      storage made =
          storage::create({{there[0] + "?size=4MiB&delay_us=1000"}}, {.mode = drive::access::write},
                          drive::layout::stripe, drive::largest_page, "v");
      report(1);
      const drive::dataset begun = made.volume().begin_dataset("data", "raw", bytes.size());
      report(2);
      for (std::uint64_t at = 0; at < bytes.size(); at += drive::largest_page)
        made.volume().write(begun.first_byte + at, std::span(bytes).subspan(at, drive::largest_page));
      report(3);
      made.volume().commit(begun);
      report(4);
    });
    std::uint64_t reached = 0;
    if (round % 3 != 0) reached = importer.next_report().value_or(0);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    reached = importer.kill(reached);
    ASSERT_FALSE(importer.failed()) << "round " << round;

    if (reached == 0) {  // perhaps not even the manifest
      try {
        const storage found = storage::open(there, {.mode = drive::access::write});
        EXPECT_TRUE(found.volume().datasets().empty());
      } catch (const error& told) {
        EXPECT_EQ(told.kind(), error_kind::bad_input) << told.what();
        EXPECT_NE(told.mend(), "") << told.what();
      }
      continue;
    }
    storage found = storage::open(there, {.mode = drive::access::write});
    if (reached < 4 && !found.volume().datasets().empty() &&
        found.volume().datasets()[0].state == drive::dataset_state::importing) {
      ++half;
      const test::refusal told = test::refusal_of([&] { found.volume().find("data"); });
      EXPECT_EQ(told.kind, error_kind::bad_input);
      EXPECT_THAT(told.line, HasSubstr("half-imported"));
      EXPECT_THAT(told.mend, HasSubstr("import it again"));
    }
    const drive::dataset again = found.volume().begin_dataset("data", "raw", bytes.size());
    found.volume().write(again.first_byte, bytes);
    found.volume().commit(again);
    std::vector<std::byte> back(bytes.size());
    found.volume().read(found.volume().find("data").first_byte, back);
    ASSERT_EQ(back, bytes) << "round " << round;
  }
  EXPECT_GT(half, 0) << "no import was cut off in its middle";
}

}  // namespace
}  // namespace sluice
