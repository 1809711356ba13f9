// Pages between frames and the second tier: what a team copies after its claims. Part of cache_ref.h.
#pragma once

#include "sluice/cache/cache_ref.h"

namespace sluice::cache {

/// Moves what the lanes' claims say, and tells whether this lane's load is over with that. `frame`: the one
/// that the lane has taken.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD bool cache_ref<Store, Policy, Mode, Counts>::move_pages(const Team& team, const tier_move& move,
                                                                  std::uint32_t frame) const {
  if (!team.any(move.any())) return false;
  lane::far_call(&cache_ref::template move_by_team<Team>, this, team, move, frame);
  return move.from != no_slot;
}

/// Out of the frames first: then they may be filled. Waits for nothing.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_NOINLINE SLUICE_HD void cache_ref<Store, Policy, Mode, Counts>::move_by_team(const cache_ref* self,
                                                                                    Team team, tier_move move,
                                                                                    std::uint32_t frame) {
  const tier_ref tier = *self->view_.tier;
  team.sync();  // what the claims acquired, all may read and write
  for (std::uint32_t rest = team.ballot(move.to != no_slot); rest != 0; rest &= rest - 1) {
    const std::uint32_t mover = rest & (~rest + 1);
    lane::copy_from_frame(team, tier.bytes(team.of(move.to, mover)), self->frame_bytes(team.of(frame, mover)),
                          self->page_bytes());
  }
  team.sync();  // all lanes' copies come before the slots' words, and before what fills the frames
  if (move.to != no_slot) {
    self->count(counter::tier_stores, 1);
    tier.filled(move.to);
  }
  const bool brings = move.from != no_slot;
  if (!team.any(brings)) return;
  lane::fence_before_refill();
  lane::copy_into_frames(
      team, brings ? lane::frame_copy{self->frame_bytes(frame), tier.bytes(move.from), self->page_bytes()}
                   : lane::frame_copy{});
  team.sync();
  if (!brings) return;
  self->count(counter::tier_loads, 1);
  tier.drained(move.from);
  self->report_moved(frame);
}

/// The reports that the store would make of a load that went well.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD void cache_ref<Store, Policy, Mode, Counts>::report_moved(std::uint32_t frame) const {
  view_.directory.forget_beyond(frame, 0);
  // Release pairs with the loader's and all readers' acquires: the page's bytes are visible.
  view_.directory.word(frame).fetch_add(store_.reports(false) * frame_word::report_ok,
                                        lane::order_of("cache.moved", lane::release));
}

}  // namespace sluice::cache
