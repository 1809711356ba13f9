// Pages held across user code: pinned, counted against the one way of each set that spans never hold. Part of
// cache_ref.h.
#pragma once

#include "sluice/cache/cache_ref.h"

namespace sluice::cache {

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD held_page cache_ref<Store, Policy, Mode, Counts>::hold(const Team& team, page_id page,
                                                                 span_kind kind) const {
  const status refused = kind == span_kind::read ? refusal<access::read>(page) : refusal<access::write>(page);
  if (!refused.is_ok()) return {no_frame_index, kind, refused};
  if (kind == span_kind::overwrite) return hold_overwritten(team, page);
  if constexpr (Mode == mode::optimized) return hold_loaded(team, page, kind);
  // In the lesser modes each lane asks for itself, so only one asks.
  held_page held;
  team.sync();  // as in group_of()
  if (team.leads()) held = hold_loaded(lane::solo(), page, kind);
  team.sync();
  return {team.broadcast(held.frame), kind, status::from_bits(team.broadcast(held.code.bits()))};
}

/// Visits the page, and while it is pinned turns the visit into a hold. A writing span keeps a use, which
/// keeps the frame dirty and away from write-back until it ends.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD held_page cache_ref<Store, Policy, Mode, Counts>::hold_loaded(const Team& team, page_id page,
                                                                        span_kind kind) const {
  const directory_place at = view_.directory.place(page);
  const std::uint64_t extra = kind == span_kind::write ? frame_word::one_use : 0;
  lane::budget left = patience();
  while (true) {
    std::uint32_t frame = no_frame_index;
    hold_outcome got = hold_outcome::busy;
    const auto take_hold = [&](const std::byte* bytes) {
      frame = frame_of(bytes);
      if (team.leads()) got = add_hold(view_.directory, at, frame, extra);
    };
    const status code = kind == span_kind::write ? visit<access::write>(team, page, take_hold)
                                                 : visit<access::read>(team, page, take_hold);
    if (!code.is_ok()) return {no_frame_index, kind, code};
    got = static_cast<hold_outcome>(team.broadcast(static_cast<std::uint32_t>(got)));
    if (got == hold_outcome::held) return {frame, kind, status::ok};
    if (got == hold_outcome::refused) return {no_frame_index, kind, status::no_frame};
    if (pause(team, waits_for::nothing, no_frame_index, left))
      return {no_frame_index, kind, out_of_patience()};
  }
}

/// One step towards a frame that is ours to overwrite: the page's own, once nobody uses it, or a new one.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD auto cache_ref<Store, Policy, Mode, Counts>::take_to_overwrite(quest& mine) const -> step {
  const directory_ref& directory = view_.directory;
  const directory_place at = directory.place(mine.page);
  const set_view set(directory, at);
  const sighting& seen = set.page();
  step led;
  if (!seen.found()) {
    claim_request request = request_for(mine);
    request.overwrite = true;
    const claim_result claimed = claim<Policy>(set, request);
    if (claimed.evicted) count(counter::evictions, 1);
    led.clean = claimed.cleaning;
    led.failure = claimed.failure;
    led.wait_at = claimed.wait_at;
    led.move = claimed.move;
    led.ready = claimed.outcome == claim_outcome::taken;
    mine.frame = claimed.frame;
    return led;
  }
  led.wait_at = seen.frame;
  if (!seen.word.is_unpinned() || !seen.word.is_writable() || !directory.try_lock(at.set)) return led;
  const frame_word word = directory.look(seen.frame, lane::relaxed);  // with the lock in it, if it is way 0's
  if (set_view(directory, at).held_but_one()) {
    led.failure = status::no_frame;
  } else if (word.same_contents(seen.word) && word.is_unpinned() && word.is_writable()) {
    // As in claim_locked: acquire pairs with the last users' unpins, release with every probe.
    led.ready = directory.change(seen.frame, word, word.taken_to_overwrite(at.tag),
                                 lane::order_of("cache.take", lane::acq_rel));
    mine.frame = seen.frame;
  }
  directory.unlock(at.set);
  return led;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_NOINLINE SLUICE_HD held_page
cache_ref<Store, Policy, Mode, Counts>::hold_overwritten(const Team& team, page_id page) const {
  lane::budget left = patience();
  quest mine{page};
  // All have arrived: none waits elsewhere for the page that the leader is about to take.
  if (!lane::planted("cache.drop_arrival")) team.sync();
  while (true) {
    step led;
    if (team.leads()) led = take_to_overwrite(mine);
    submit_writes(team, led.clean, left);
    const std::uint32_t ready = team.broadcast(led.ready ? mine.frame : no_frame_index);
    if (ready != no_frame_index) {
      if (view_.tier != nullptr) (void)move_pages(team, led.move, ready);
      // What an earlier transfer left is no failure of the write that will follow.
      if (team.leads()) view_.directory.forget_beyond(ready, 0);
      // Each lane will store to the frame: all have seen its word change, and say so before their stores.
      team.sync();
      lane::fence_before_refill();
      return {ready, span_kind::overwrite, status::ok};
    }
    const status failure = status::from_bits(team.broadcast(led.failure.bits()));
    if (!failure.is_ok()) return {no_frame_index, span_kind::overwrite, failure};
    if (check_arrived(team, led.wait_at, false)) continue;
    if (pause(team, waits_for::others, led.wait_at, left))
      return {no_frame_index, span_kind::overwrite, out_of_patience()};
  }
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD void cache_ref<Store, Policy, Mode, Counts>::release(const Team& team,
                                                               const held_page& held) const {
  if (held.frame == no_frame_index) return;
  team.sync();  // all lanes' accesses come before the leader's release
  if (!team.leads()) return;
  const lane::order o = lane::order_of("cache.release_hold", lane::release);
  if (held.kind != span_kind::overwrite) {
    const std::uint64_t use = held.kind == span_kind::write ? frame_word::release_use : 0;
    view_.directory.word(held.frame).fetch_add(frame_word::release_hold + use, o);
    return;
  }
  // Only policy bits and the set's lock change in a frame that is being overwritten, so this ends soon.
  frame_word word = view_.directory.look(held.frame, lane::relaxed);
  while (!view_.directory.change(held.frame, word, word.overwritten(), o)) {
    word = view_.directory.look(held.frame, lane::relaxed);
  }
}

}  // namespace sluice::cache
