// Pages whose bytes have come and that nobody has checked: who checks them. Part of cache_ref.h.
#pragma once

#include "sluice/cache/cache_ref.h"

namespace sluice::cache {

/// Before a team waits: checks the frames that its lanes wait for, where their bytes have come. True where
/// there was one, for all lanes: then look again instead. `pinned`: the lane is the frame's loader.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD bool cache_ref<Store, Policy, Mode, Counts>::check_arrived([[maybe_unused]] const Team& team,
                                                                     [[maybe_unused]] std::uint32_t wait_at,
                                                                     [[maybe_unused]] bool pinned) const {
  if constexpr (checked_store<Store>) {
    if (store_.checks()) return check_frames(team, wait_at, pinned);
  }
  return false;
}

/// One frame after another, the whole team at each. A frame is checked once: by its loader, whose pin it was
/// born with; where that has left, by whoever pins it first. A check waits for nothing, so a pin ends.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_NOINLINE SLUICE_HD bool cache_ref<Store, Policy, Mode, Counts>::check_frames(const Team& team,
                                                                                    std::uint32_t wait_at,
                                                                                    bool pinned) const {
  const directory_ref& directory = view_.directory;
  frame_word word;
  bool ours = false;
  if (wait_at != no_frame_index) {
    // Acquire pairs with the release of the drive's last report: the page's bytes are visible.
    word = directory.look(wait_at, lane::order_of("cache.arrived", lane::acquire));
    ours = word.awaits_check() && (pinned || pin_to_check(wait_at, word));
  }
  const std::uint32_t all = team.ballot(ours);
  for (std::uint32_t rest = all; rest != 0; rest &= rest - 1) {
    const std::uint32_t checker = rest & (~rest + 1);
    const std::uint32_t frame = team.of(wait_at, checker);
    const frame_word arrived(team.of(word.bits(), checker));
    team.sync();  // what the checker acquired, all may read
    status code;
    if (arrived.errors() == 0 && !lane::planted("cache.skip_check"))
      code = store_.check(team, directory.page(frame, arrived), frame_bytes(frame));
    team.sync();  // all lanes' reads come before the report
    if (team.bit() == checker) report_check(frame, code, pinned);
  }
  return all != 0;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD bool cache_ref<Store, Policy, Mode, Counts>::pin_to_check(std::uint32_t frame,
                                                                    frame_word word) const {
  if (lane::planted("cache.loader_checks_alone")) return false;
  if (lane::planted("cache.check_unpinned")) return word.uses() == 0;
  // Relaxed: the look that saw this word has acquired it.
  return word.uses() == 0 && view_.directory.change(frame, word, word.used(), lane::relaxed);
}

/// The report that the frame still waits for; with it a pin ends that was only taken to check.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD void cache_ref<Store, Policy, Mode, Counts>::report_check(std::uint32_t frame, status code,
                                                                    bool pinned) const {
  if (!code.is_ok()) view_.directory.note_failure(frame, code);
  const bool ends_pin = !pinned && !lane::planted("cache.check_unpinned");
  // Release: whoever sees the page resident may take its frame, or write to it; our reads come before. Who
  // sees the error sees its status.
  view_.directory.word(frame).fetch_add((code.is_ok() ? frame_word::report_ok : frame_word::report_error) +
                                            (ends_pin ? frame_word::release_use : 0),
                                        lane::order_of("cache.checked", lane::release));
}

}  // namespace sluice::cache
