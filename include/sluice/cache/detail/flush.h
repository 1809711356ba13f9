// Writing dirty pages back on request: each lane of a team takes a frame at a time. Part of cache_ref.h.
#pragma once

#include "sluice/cache/cache_ref.h"

namespace sluice::cache {

/// What one lane does with one frame.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
struct cache_ref<Store, Policy, Mode, Counts>::write_back_state {
  std::uint32_t frame = no_frame_index;
  frame_word started;       ///< the word from which our write was started
  bool writing = false;     ///< our write, or somebody else's, is under way
  std::uint32_t tries = 0;  ///< writes that we started
  bool done = true;
  page_id page;
  status code;
};

/// One step for one frame; true where it has just become writing and wants its write submitted.
/// A frame is done when it is not dirty, was never in the range, changed its page (then somebody wrote it),
/// or failed twice.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD bool cache_ref<Store, Policy, Mode, Counts>::start_write_back(write_back_state& mine, page_id first,
                                                                        page_id last) const {
  const directory_ref& directory = view_.directory;
  // Acquire pairs with the report's release: a failure's status is visible.
  const frame_word word = directory.look(mine.frame, lane::order_of("cache.failed", lane::acquire));
  if (word.is_writing() && (!mine.writing || word.same_contents(mine.started))) {
    if (!mine.writing) mine.started = word;  // somebody else's write: it takes all bytes there are now
    mine.writing = true;
    return false;
  }
  const bool ours = mine.writing && word.same_contents(mine.started);
  mine.writing = false;
  if (ours && word.errors() == 0) return mine.done = true, false;  // written; dirty again is after this flush
  mine.page = directory.page(mine.frame, word);
  if (mine.page < first || mine.page >= last) return mine.done = true, false;
  // The frame may have been dirty when the span took it, with what no drive has: until the span ends there is
  // nothing to write in its place.
  if (word.is_overwriting() && !lane::planted("cache.flush_before_overwritten")) return mine.tries = 0, false;
  if (!word.is_dirty()) return mine.done = true, false;
  if (mine.tries != 0 && !word.same_contents(mine.started)) return mine.done = true, false;
  const status failed = directory.lasting_failure(mine.frame, word);
  if (!failed.is_ok() && mine.tries >= 2) {
    mine.code = failed;
    return mine.done = true, false;
  }
  if (!detail::start_writing(directory, mine.frame, word, store_.reports(true))) return false;
  // An abort says nothing of the page: it does not use up a try.
  mine.tries += word.errors() != 0 && mine.tries != 0 && failed.is_ok() ? 0 : 1;
  mine.started = word;
  mine.writing = true;
  return true;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_NOINLINE SLUICE_HD flush_report cache_ref<Store, Policy, Mode, Counts>::write_back(
    const Team& team, page_id first, page_id last, std::uint32_t from, std::uint32_t to) const {
  flush_report report;
  for (std::uint32_t batch = from; batch < to; batch += team.size()) {
    write_back_state mine;
    mine.frame = batch + team.rank();
    mine.done = mine.frame >= to;
    lane::budget left = patience();
    while (!team.all(mine.done)) {
      const bool start = !mine.done && start_write_back(mine, first, last);
      submit_writes(team, start ? mine.frame : no_frame_index, left);
      const std::uint32_t starts = team.ballot(start);
      report.written += static_cast<std::uint32_t>(cuda::std::popcount(starts));
      if (starts != 0) continue;
      if (pause(team, mine.done ? waits_for::nothing : waits_for::own, mine.frame, left)) {
        if (!mine.done) mine.code = out_of_patience();
        break;
      }
    }
    if (report.code.is_ok() && !mine.code.is_ok()) {
      report.code = mine.code;
      report.page = mine.page;
    }
  }
  // The first failure by lane stands for the team's.
  const std::uint32_t failed = team.ballot(!report.code.is_ok());
  const std::uint32_t teller = failed & (~failed + 1);
  const auto rank =
      failed == 0 ? 0 : static_cast<std::uint32_t>(cuda::std::popcount(team.mask() & (teller - 1)));
  report.code = status::from_bits(team.from(report.code.bits(), rank));
  report.page.value = team.from(report.page.value, rank);
  return report;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD flush_report cache_ref<Store, Policy, Mode, Counts>::flush(const Team& team, page_id first,
                                                                     page_id last) const {
  flush_report report = write_back(team, first, last, 0, view_.directory.shape().frames());
  status stored;
  if (team.leads()) {
    lane::budget left = patience();
    stored = store_.flush(lane::solo(), left);
  }
  stored = status::from_bits(team.broadcast(stored.bits()));
  if (report.code.is_ok()) report.code = stored;
  return report;
}

}  // namespace sluice::cache
