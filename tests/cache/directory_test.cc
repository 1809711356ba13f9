// The directory: shapes for any number of frames, and the way from a page to its place and back.
#include "sluice/cache/directory.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "sluice/cache/set_view.h"
#include "tests/support/plain_cache.h"

namespace sluice::cache {
namespace {

TEST(directory, uses_most_of_the_frames_that_it_may_have) {
  for (std::uint64_t frames = 2; frames < 5000; ++frames) {
    const directory_shape shape = shape_for(frames);
    EXPECT_LE(shape.frames(), frames);
    EXPECT_GE(shape.frames() * 5, frames * 4) << frames;
    EXPECT_GE(shape.ways, 2U);
    EXPECT_TRUE(shape.set_bits == 0 || shape.ways % 4 == 0) << "words of a set are whole sectors";
  }
}

TEST(directory, costs_sixteen_bytes_a_frame) {
  const directory_shape shape = shape_for(1U << 20);
  EXPECT_EQ(shape.frames(), 1U << 20);
  EXPECT_EQ(shape.words(), shape.frames());
}

TEST(directory, finds_back_every_page_from_its_place) {
  std::mt19937_64 random(1);
  for (const std::uint64_t frames : {2, 3, 15, 16, 48, 1000, 1 << 16, 1 << 22}) {
    const directory_shape shape = shape_for(frames);
    for (int k = 0; k < 1000; ++k) {
      const page_id page{random() % shape.pages()};
      const directory_place at = place_of(page, shape);
      EXPECT_LT(at.set, shape.sets());
      EXPECT_LT(at.tag, 1U << frame_word::tag_bits);
      EXPECT_LT(at.quad(), shape.quads());
      EXPECT_EQ(page_at(at.set, at.tag, shape), page);
    }
  }
}

TEST(directory, names_pages_to_two_to_the_forty) {
  EXPECT_GE(shape_for(1U << 22).pages(), std::uint64_t{1} << 40);
}

TEST(directory, fills_all_sets_alike_with_neighbours_and_with_strides) {
  const directory_shape shape = shape_for(1U << 14);
  for (const std::uint64_t stride :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{64}, std::uint64_t{1024}}) {
    std::vector<std::uint32_t> pages(shape.sets());
    for (std::uint64_t k = 0; k < shape.frames(); ++k) ++pages[place_of({k * stride}, shape).set];
    std::uint32_t most = 0;
    for (const std::uint32_t n : pages) most = std::max(most, n);
    EXPECT_LE(most, stride == 1 ? 16U : 48U) << stride;
  }
}

TEST(directory, spreads_a_sets_pages_over_its_quads) {
  const directory_shape shape = shape_for(1U << 14);
  std::vector<std::uint32_t> quads(shape.quads());
  for (std::uint32_t tag = 0; tag < 4000; ++tag) ++quads[place_of(page_at(5, tag, shape), shape).quad()];
  for (const std::uint32_t n : quads) EXPECT_NEAR(n, 1000, 150);
}

TEST(directory, finds_a_resident_page_in_any_way) {
  for (const std::uint64_t page : {77, 78, 79, 80}) {
    testing::plain_cache memory(16, 64);
    const directory_ref directory = memory.view().directory;
    const directory_place at = directory.place({page});
    for (std::uint32_t way = 0; way < 16; ++way) {
      const frame_word loading = frame_word().taken_to_load(at.tag, 1);
      directory.word(way).store(loading.bits(), lane::relaxed);
      EXPECT_FALSE(directory.find_resident(at, lane::acquire).found());
      directory.word(way).store(loading.plus(frame_word::report_ok).bits(), lane::relaxed);
      EXPECT_EQ(directory.find_resident(at, lane::acquire).frame, way);
      directory.word(way).store(0, lane::relaxed);
    }
  }
}

TEST(directory, sees_at_a_glance_the_preferred_pair_and_nothing_else) {
  testing::plain_cache memory(16, 64);
  const directory_ref directory = memory.view().directory;
  // An empty way has tag 0, too: a page of tag 0 behind one is overlooked.
  for (std::uint64_t page = 1; page < 50; ++page) {
    const directory_place at = directory.place({page});
    const auto sees = [&] {
      const sighting seen = directory.glance(at, lane::acquire);
      return seen.word.is_resident_page(at.tag) ? seen.frame : no_frame_index;
    };
    EXPECT_EQ(sees(), no_frame_index);
    for (std::uint32_t way = 0; way < 16; ++way) {
      const frame_word loading = frame_word().taken_to_load(at.tag, 1);
      directory.word(way).store(loading.bits(), lane::relaxed);
      EXPECT_EQ(sees(), no_frame_index);
      directory.word(way).store(loading.plus(frame_word::report_ok).bits(), lane::relaxed);
      EXPECT_EQ(sees(), way / 2 == at.pair ? way : no_frame_index);
      directory.word(way).store(0, lane::relaxed);
    }
  }
}

TEST(directory, finds_after_a_glance_what_lies_behind_the_preferred_pair) {
  for (const std::uint64_t frames : {7, 16, 20}) {
    testing::plain_cache memory(frames, 64);
    const directory_ref directory = memory.view().directory;
    for (std::uint64_t page = 1; page < 50; ++page) {
      const directory_place at = directory.place({page});
      EXPECT_FALSE(directory.find_resident(at, lane::acquire, true).found());
      for (std::uint32_t way = 0; way < directory.shape().ways; ++way) {
        const frame_word resident = frame_word().taken_to_load(at.tag, 1).plus(frame_word::report_ok);
        directory.word(way).store(resident.bits(), lane::relaxed);
        EXPECT_EQ(directory.find_resident(at, lane::acquire, true).frame,
                  way / 2 == at.pair ? no_frame_index : way);
        EXPECT_EQ(directory.find_resident(at, lane::acquire).frame, way);
        directory.word(way).store(0, lane::relaxed);
      }
    }
  }
}

TEST(directory, looks_at_every_way_once_and_at_the_preferred_pair_first) {
  for (const std::uint64_t frames : {2, 3, 7, 15, 16, 20, 28}) {
    const directory_shape shape = shape_for(frames);
    for (std::uint64_t page = 0; page < 50; ++page) {
      const directory_place at = place_of({page}, shape);
      std::set<std::uint32_t> ways;
      for (std::uint32_t position = 0; position < shape.quads() * 4; ++position) {
        if (at.way(position, shape) < shape.ways) ways.insert(at.way(position, shape));
      }
      EXPECT_EQ(ways.size(), shape.ways);
      EXPECT_EQ(at.way(0, shape), at.quad() * 4 + at.half() * 2);
      EXPECT_EQ(at.way(1, shape), at.quad() * 4 + at.half() * 2 + 1);
    }
  }
}

TEST(set_view, finds_a_page_in_any_way_and_no_error) {
  testing::plain_cache memory(16, 64);
  const directory_ref directory = memory.view().directory;
  const page_id page{77};
  const directory_place at = directory.place(page);
  for (std::uint32_t way = 0; way < 16; ++way) {
    const frame_word loading = frame_word().taken_to_load(at.tag, 1);
    directory.word(way).store(loading.bits(), lane::relaxed);
    EXPECT_EQ(set_view(directory, at).page().frame, way);
    directory.word(way).store(loading.plus(frame_word::report_error).bits(), lane::relaxed);
    EXPECT_FALSE(set_view(directory, at).page().found());
    directory.word(way).store(0, lane::relaxed);
  }
}

TEST(directory, lets_one_lane_lock_a_set) {
  testing::plain_cache memory(64, 64);
  const directory_ref directory = memory.view().directory;
  EXPECT_TRUE(directory.try_lock(1));
  EXPECT_FALSE(directory.try_lock(1));
  EXPECT_TRUE(directory.try_lock(2));
  directory.unlock(1);
  EXPECT_TRUE(directory.try_lock(1));
}

}  // namespace
}  // namespace sluice::cache
