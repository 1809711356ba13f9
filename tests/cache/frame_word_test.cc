// The frame word: every transition that the protocol makes, as a change of fields.
#include "sluice/cache/frame_word.h"

#include <gtest/gtest.h>

namespace sluice::cache {
namespace {

frame_word loaded(std::uint32_t tag) {
  return frame_word().taken_to_load(tag, 1).plus(frame_word::report_ok);
}

TEST(frame_word, is_empty_and_a_victim_when_zero) {
  EXPECT_TRUE(frame_word().is_empty());
  EXPECT_TRUE(frame_word().is_victim());
  EXPECT_FALSE(frame_word().names(0));
  EXPECT_FALSE(frame_word().is_resident());
}

TEST(frame_word, is_taken_with_a_new_version_and_the_loaders_pin) {
  const frame_word word = frame_word().taken_to_load(0x3fffff, 3);
  EXPECT_TRUE(word.is_loading());
  EXPECT_TRUE(word.names(0x3fffff));
  EXPECT_EQ(word.version(), 1U);
  EXPECT_EQ(word.uses(), 1U);
  EXPECT_EQ(word.outstanding(), 3U);
  EXPECT_FALSE(word.is_victim());
  EXPECT_FALSE(word.is_resident());
}

TEST(frame_word, awaits_its_check_when_only_that_report_is_missing) {
  frame_word word = frame_word().taken_to_load(5, 2 + 1).plus(frame_word::report_ok);
  EXPECT_FALSE(word.awaits_check());
  word = word.plus(frame_word::report_error);
  EXPECT_TRUE(word.awaits_check());
  EXPECT_TRUE(word.is_loading()) << "nobody reads it";
  EXPECT_TRUE(word.plus(frame_word::release_use).awaits_check()) << "also where its loader has left";
  EXPECT_FALSE(word.plus(frame_word::report_ok).awaits_check());
  EXPECT_TRUE(word.plus(frame_word::report_ok).is_error());
  EXPECT_FALSE(frame_word().taken_to_overwrite(5).awaits_check()) << "a span holds it";
  EXPECT_FALSE(loaded(5).dirtied().writing(1).awaits_check());
}

TEST(frame_word, turns_clean_with_the_last_good_report_only) {
  frame_word word = frame_word().taken_to_load(5, 2).plus(frame_word::report_ok);
  EXPECT_TRUE(word.is_loading());
  word = word.plus(frame_word::report_ok);
  EXPECT_TRUE(word.is_clean());
  EXPECT_TRUE(word.is_resident());
  EXPECT_FALSE(word.is_victim()) << "the loader still has its pin";
  EXPECT_TRUE(word.plus(frame_word::release_use).is_victim());
}

TEST(frame_word, turns_error_when_any_report_failed_and_none_is_left) {
  frame_word word = frame_word().taken_to_load(5, 3).plus(frame_word::report_error);
  EXPECT_TRUE(word.is_loading());
  word = word.plus(frame_word::report_ok).plus(frame_word::report_ok);
  EXPECT_TRUE(word.is_error());
  EXPECT_FALSE(word.names(5)) << "an error is a miss for new askers";
  EXPECT_FALSE(word.is_victim()) << "its loader has still to read the status";
  EXPECT_TRUE(word.plus(frame_word::release_use).is_victim());
}

TEST(frame_word, ends_as_an_error_where_the_load_was_never_started) {
  const frame_word word = frame_word().taken_to_load(5, 15).plus(frame_word::never_started(15));
  EXPECT_TRUE(word.is_error());
  EXPECT_EQ(word.uses(), 1U);
  EXPECT_EQ(word.tag(), 5U);
}

TEST(frame_word, counts_as_many_errors_as_reports) {
  frame_word word = frame_word().taken_to_load(1, frame_word::max_reports);
  for (std::uint32_t k = 0; k < frame_word::max_reports; ++k) word = word.plus(frame_word::report_error);
  EXPECT_TRUE(word.is_error());
  EXPECT_EQ(word.errors(), frame_word::max_reports);
  EXPECT_EQ(word.tag(), 1U);
  EXPECT_EQ(word.version(), 1U);
}

TEST(frame_word, is_a_resident_page_in_just_those_states_that_are_resident) {
  for (std::uint64_t progress = 0; progress < 1024; ++progress) {
    const frame_word word(std::uint64_t{7} << 42 | std::uint64_t{3} << 26 | progress << 16 | 0xffffU);
    EXPECT_EQ(word.is_resident_page(7), word.is_resident()) << progress;
    EXPECT_FALSE(word.is_resident_page(6));
  }
}

TEST(frame_word, is_written_back_only_while_nobody_uses_it) {
  const frame_word dirty = loaded(7).dirtied();
  EXPECT_TRUE(dirty.is_dirty());
  EXPECT_FALSE(dirty.is_cleanable());
  const frame_word unused = dirty.plus(frame_word::release_use);
  EXPECT_TRUE(unused.is_cleanable());
  EXPECT_FALSE(unused.is_victim());
  EXPECT_TRUE(unused.held().is_cleanable()) << "a reading span does not keep its page from the drive";
}

TEST(frame_word, is_readable_but_not_writable_while_writing) {
  const frame_word writing = loaded(7).dirtied().plus(frame_word::release_use).writing(2);
  EXPECT_TRUE(writing.is_writing());
  EXPECT_TRUE(writing.is_resident());
  EXPECT_FALSE(writing.is_writable());
  EXPECT_FALSE(writing.is_victim());
  const frame_word clean = writing.plus(frame_word::report_ok).plus(frame_word::report_ok);
  EXPECT_TRUE(clean.is_clean());
  EXPECT_TRUE(clean.is_victim());
}

TEST(frame_word, stays_dirty_and_remembers_the_failure_of_a_write) {
  const frame_word writing = loaded(7).dirtied().plus(frame_word::release_use).writing(2);
  const frame_word failed = writing.plus(frame_word::report_error).plus(frame_word::report_ok);
  EXPECT_TRUE(failed.is_dirty());
  EXPECT_TRUE(failed.is_writable());
  EXPECT_EQ(failed.errors(), 1U);
  EXPECT_EQ(failed.used().dirtied().errors(), 1U) << "a new write to the page does not mend its drive";
  EXPECT_EQ(failed.writing(2).errors(), 0U);
  EXPECT_EQ(writing.plus(frame_word::never_started(2)),
            writing.plus(frame_word::report_error).plus(frame_word::report_ok));
}

TEST(frame_word, becomes_dirty_from_each_writable_state) {
  const frame_word clean = loaded(9);
  const frame_word written =
      clean.dirtied().plus(frame_word::release_use).writing(1).plus(frame_word::report_ok);
  EXPECT_TRUE(clean.dirtied().is_dirty());
  EXPECT_TRUE(written.is_clean());
  EXPECT_TRUE(written.dirtied().is_dirty());
  EXPECT_EQ(written.dirtied().tag(), 9U);
}

TEST(frame_word, looks_loading_to_others_while_it_is_overwritten) {
  const frame_word taken = loaded(9).plus(frame_word::release_use).taken_to_overwrite(9);
  EXPECT_TRUE(taken.is_loading());
  EXPECT_TRUE(taken.is_overwriting());
  EXPECT_FALSE(loaded(9).plus(frame_word::release_use).taken_to_load(9, 1).is_overwriting());
  EXPECT_FALSE(loaded(9).held().is_overwriting());
  EXPECT_EQ(taken.holds(), 1U);
  EXPECT_EQ(taken.version(), 2U);
  const frame_word ended = taken.overwritten();
  EXPECT_TRUE(ended.is_dirty());
  EXPECT_TRUE(ended.is_unpinned());
  EXPECT_EQ(ended.outstanding(), 0U);
}

TEST(frame_word, has_the_same_contents_whatever_is_pinned_or_dirty) {
  const frame_word word = loaded(9);
  EXPECT_TRUE(word.same_contents(word.used().held().dirtied().referenced_now()));
  EXPECT_FALSE(word.same_contents(word.plus(frame_word::release_use).taken_to_load(9, 1)));
  EXPECT_FALSE(word.same_contents(loaded(8)));
}

TEST(frame_word, tells_the_same_contents_and_its_own_reference_at_once) {
  const frame_word word = loaded(9), seen = word.referenced_now();
  EXPECT_TRUE(seen.same_referenced(word.used().held().dirtied()));
  EXPECT_FALSE(word.same_referenced(seen)) << "who looks has to mark it";
  EXPECT_FALSE(seen.same_referenced(seen.plus(frame_word::release_use).taken_to_load(9, 1)));
  EXPECT_FALSE(seen.same_referenced(loaded(8)));
}

TEST(frame_word, wraps_its_version_into_no_other_field) {
  frame_word word;
  for (int k = 0; k < (1 << 16); ++k)
    word = word.taken_to_load(3, 1).plus(frame_word::report_ok + frame_word::release_use);
  EXPECT_EQ(word.version(), 0U);
  EXPECT_EQ(word.tag(), 3U);
  EXPECT_TRUE(word.is_victim());
}

TEST(frame_word, refuses_what_does_not_fit_its_counts) {
  frame_word word = loaded(1);
  while (word.takes_use()) word = word.used();
  while (word.takes_hold()) word = word.held();
  EXPECT_EQ(word.uses(), frame_word::max_uses);
  EXPECT_EQ(word.holds(), frame_word::max_holds);
  EXPECT_TRUE(word.is_clean());
}

TEST(frame_word, keeps_the_sets_lock_when_its_frame_is_taken) {
  const frame_word locked(frame_word::lock_bit);
  EXPECT_TRUE(locked.taken_to_load(1, 1).locked());
  EXPECT_TRUE(locked.is_victim());
}

TEST(frame_detail, tells_hints_from_failures) {
  const frame_detail hint(std::uint64_t{1} << 63 | 5);
  EXPECT_EQ(hint.hint(), std::uint64_t{1} << 63 | 5);
  EXPECT_EQ(hint.told(), status::ok);
  EXPECT_EQ(frame_detail(0x281).hint(), 0U);
  EXPECT_EQ(frame_detail(0x281).told(), status::from_nvme(0x281));
  EXPECT_EQ(frame_detail(status::aborted.bits()).told(), status::aborted);
}

}  // namespace
}  // namespace sluice::cache
