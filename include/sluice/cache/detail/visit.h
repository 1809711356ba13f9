// One access from miss to use: the loop in which a team seeks, claims, submits, waits and consumes. Part of
// cache_ref.h.
#pragma once

#include "sluice/cache/cache_ref.h"

namespace sluice::cache {

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD claim_request cache_ref<Store, Policy, Mode, Counts>::request_for(const quest& mine) const {
  claim_request request;
  request.page = mine.page;
  request.load_reports = load_reports(store_);
  request.write_reports = store_.reports(true);
  request.again = mine.shuns_tier;
  request.tier = view_.tier;
  return request;
}

/// Takes a frame for the quest's page, and counts what that costs others.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD auto cache_ref<Store, Policy, Mode, Counts>::take(quest& mine, const set_view& seen) const -> step {
  const claim_result claimed = claim<Policy>(seen, request_for(mine));
  step led;
  led.clean = claimed.cleaning;
  led.wait_at = claimed.wait_at;
  led.failure = claimed.failure;
  if (claimed.outcome != claim_outcome::taken) return led;
  if (claimed.evicted) count(counter::evictions, 1);
  mine.frame = claimed.frame;
  mine.loading = true;
  mine.from_tier = claimed.move.from != no_slot;
  led.move = claimed.move;
  led.load = true;
  led.moved = true;
  return led;
}

/// Mode none: a resident page is loaded again, once nobody uses it and its changes are on the drive.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD auto cache_ref<Store, Policy, Mode, Counts>::renew(quest& mine, const sighting& seen) const
    -> step {
  step led;
  led.wait_at = seen.frame;
  // Acquire pairs with the report's release: a failure's status is visible. What has changed since `seen` is
  // for the next step.
  const frame_word word = view_.directory.look(seen.frame, lane::order_of("cache.failed", lane::acquire));
  if (!word.same_contents(seen.word)) return led;
  const status failed = view_.directory.lasting_failure(seen.frame, word);
  if (word.is_cleanable() && failed.is_ok()) {
    if (detail::start_writing(view_.directory, seen.frame, word, store_.reports(true)))
      led.clean = seen.frame;
  } else if (!failed.is_ok()) {
    led.failure = failed;
  } else if (word.is_victim()) {
    // The page keeps its frame, so no second frame can be taken for it and the set's lock is not needed.
    const frame_word taken = word.taken_to_load(word.tag(), load_reports(store_));
    led.load = view_.directory.change(seen.frame, word, taken, lane::order_of("cache.take", lane::acq_rel));
    if (led.load) mine.frame = seen.frame;
    mine.loading = led.load;
  }
  led.moved = led.load;
  return led;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <access Kind>
SLUICE_HD auto cache_ref<Store, Policy, Mode, Counts>::seek(quest& mine, std::uint32_t askers) const -> step {
  // While others load the page into its frame, there is nothing to see in the rest of the set.
  if (mine.watched.found() && view_.directory.is_loading(mine.watched.frame, mine.watched.word)) {
    step led;
    led.wait_at = mine.watched.frame;
    return led;
  }
  const set_view set(view_.directory, view_.directory.place(mine.page));
  const sighting& seen = set.page();
  const bool resident = seen.found() && seen.word.is_resident();
  if (!mine.seen && (!resident || Mode == mode::none)) count(counter::misses, askers);
  mine.seen = true;
  if (!seen.found()) return take(mine, set);
  if constexpr (Mode == mode::none) {
    if (resident && seen.word.holds() == 0) return renew(mine, seen);
  }
  step led;
  if (pin(Kind, seen)) {
    mine.frame = seen.frame;
    led.ready = led.moved = true;
    return led;
  }
  led.wait_at = seen.frame;
  mine.watched = seen;
  return led;
}

/// After a failed load: whether the page is sought afresh. It is for free where the command's queue was lost
/// and has been deleted, or where it brought what the second tier had; else from each source once, and once
/// more where the drive says that this may help.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD bool cache_ref<Store, Policy, Mode, Counts>::loads_again(quest& mine, status failed) const {
  if (failed == status::aborted) return true;
  if (mine.from_tier) {
    mine.from_tier = false;
    mine.shuns_tier = true;
    return true;
  }
  const bool transient = failed.is_nvme() && !failed.do_not_retry();
  return ++mine.attempt < store_.sources() * (transient ? 2 : 1);
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <access Kind>
SLUICE_HD auto cache_ref<Store, Policy, Mode, Counts>::look_at_load(quest& mine) const -> step {
  step led;
  if (view_.directory.look(mine.frame, lane::relaxed).is_loading()) {  // an acquire only where it pays
    led.wait_at = mine.frame;
    return led;
  }
  // Acquire pairs with the report's release: the page's bytes, or the failure's status, are visible.
  const frame_word word = view_.directory.look(mine.frame, lane::order_of("cache.loaded", lane::acquire));
  if (word.is_error()) {
    const status code = view_.directory.load_failure(mine.frame);
    unpin(mine.frame);
    mine.loading = false;
    if (!loads_again(mine, code)) led.failure = code;
    return led;
  }
  if (Kind == access::write && !view_.directory.change(mine.frame, word, word.dirtied(), lane::relaxed)) {
    led.moved = true;  // somebody pinned or marked it meanwhile; nobody can take it from us
    return led;
  }
  mine.loading = false;
  led.ready = led.moved = true;
  return led;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <access Kind>
SLUICE_HD auto cache_ref<Store, Policy, Mode, Counts>::advance(quest& mine, std::uint32_t askers) const
    -> step {
  return mine.loading ? look_at_load<Kind>(mine) : seek<Kind>(mine, askers);
}

/// Starts the loads of those lanes that have one, after what their claims move. A load that cannot be started
/// ends as one that failed.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD void cache_ref<Store, Policy, Mode, Counts>::submit_loads(const Team& team, const step& led,
                                                                    const quest& mine,
                                                                    lane::budget& left) const {
  if (!team.any(led.load)) return;
  const std::uint32_t frame = mine.frame;
  if (led.load) count(counter::loads, 1);
  bool load = led.load;
  if (view_.tier != nullptr) {
    load = !move_pages(team, led.move, frame) && load;
    if (!team.any(load)) return;
  }
  page_transfer transfer;
  if (load) {
    view_.directory.forget_beyond(frame, store_.reports(false));
    transfer = {mine.page,
                frame_bytes(frame),
                false,
                lane::planted("cache.same_source") ? 0 : mine.attempt,
                {view_.directory.word_address(frame), view_.directory.detail_address(frame),
                 frame_word::report_ok, frame_word::report_error}};
  }
  const status started = store_.submit(team, load, transfer, left);
  if (!load || started.is_ok()) return;
  view_.directory.note_failure(frame, started);
  // Release: whoever sees the error sees its status.
  view_.directory.word(frame).fetch_add(frame_word::never_started(load_reports(store_)),
                                        lane::order_of("cache.never_started", lane::release));
}

/// Starts the writes of those lanes that have one. A write that cannot be started leaves its page dirty.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD void cache_ref<Store, Policy, Mode, Counts>::submit_writes(const Team& team, std::uint32_t frame,
                                                                     lane::budget& left) const {
  const bool mine = frame != no_frame_index;
  if (!team.any(mine)) return;
  page_transfer transfer;
  if (mine) {
    count(counter::writes, 1);
    view_.directory.forget_beyond(frame, store_.reports(true));
    // The tag of a writing frame stands still.
    const page_id page = view_.directory.page(frame, view_.directory.look(frame, lane::relaxed));
    transfer = {page,
                frame_bytes(frame),
                true,
                0,
                {view_.directory.word_address(frame), view_.directory.detail_address(frame),
                 frame_word::report_ok, frame_word::report_error}};
  }
  status started = store_.submit(team, mine, transfer, left);
  if (!mine || started.is_ok()) return;
  if (started == status::timed_out) started = status::aborted;  // it lacked a turn: no fault of the page
  view_.directory.note_failure(frame, started);
  // Release: whoever sees the error sees its status.
  view_.directory.word(frame).fetch_add(frame_word::never_started(store_.reports(true)),
                                        lane::order_of("cache.never_started", lane::release));
}

/// A fruitless look of the whole team: helps the store along for every lane that waits, and says whether the
/// patience is over. Lanes that wait for transfers of their own ask each time: those are in one queue.
/// Others' are in as many as there are lanes, so those lanes take turns.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD bool cache_ref<Store, Policy, Mode, Counts>::pause(const Team& team, waits_for what,
                                                             std::uint32_t wait_at,
                                                             lane::budget& left) const {
  constexpr std::uint32_t a_look = 2;
  const std::uint32_t look = team.broadcast(left.looks());
  const bool waits = what != waits_for::nothing && wait_at != no_frame_index;
  const std::uint32_t others = team.ballot(waits && what == waits_for::others);
  const std::uint32_t turns = others == 0 ? 1 : (lane::bit_count(others) + a_look - 1) / a_look;
  const std::uint32_t place = lane::bit_count(others & (team.bit() - 1));
  const bool in_turn = (place + look) % turns == 0 && !lane::planted("cache.leave_others_alone");
  const bool asks = waits && (what == waits_for::own || in_turn);
  // Each with the hint of its own page: what has been answered to any of them is taken in together.
  const std::uint32_t nth = what == waits_for::own ? look : look / turns;
  store_.poll(team, asks ? view_.directory.hint(wait_at, nth) : 0);
  return team.broadcast(team.leads() && left.spent());
}

/// Each group uses its frame by itself, unless the use is the whole team's.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team, class Group, class Use>
SLUICE_HD SLUICE_INLINE void cache_ref<Store, Policy, Mode, Counts>::use_ready(const Team& team,
                                                                               const Group& group,
                                                                               std::uint32_t ready,
                                                                               const Use& use) const {
  const bool uses = ready != no_frame_index;
  if constexpr (used_together<Use>) {
    if (!team.any(uses)) return;
    team.sync();  // what the leaders acquired, all may read: a broadcast alone orders no memory
    use(uses ? frame_bytes(ready) : nullptr);
    team.sync();  // all lanes' accesses come before the leaders' unpins
  } else {
    if (!uses) return;
    group.sync();
    use(frame_bytes(ready));
    group.sync();
  }
  if (uses && group.leads()) unpin(ready);
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <access Kind, class Team, class Use>
SLUICE_HD status cache_ref<Store, Policy, Mode, Counts>::visit(const Team& team, page_id page,
                                                               const Use& use) const {
  const auto group = group_of(team, page);
  lane::budget left = patience();
  quest mine{page};
  status result = refusal<Kind>(page);
  bool done = !result.is_ok();
  while (true) {
    step led;
    if (!done && group.leads()) led = advance<Kind>(mine, group.size());
    // Everything taken is submitted before anybody waits for anything.
    submit_loads(team, led, mine, left);
    submit_writes(team, led.clean, left);
    // What has come is used and unpinned at once: nobody holds a page while others still wait.
    std::uint32_t ready = no_frame_index;
    if (!done) {
      ready = group.broadcast(led.ready ? mine.frame : no_frame_index);
      result = status::from_bits(group.broadcast(led.failure.bits()));
    }
    use_ready(team, group, ready, use);
    done = done || ready != no_frame_index || !result.is_ok();
    if (team.all(done)) return result;
    if (team.any(led.moved)) continue;
    if (check_arrived(team, done ? no_frame_index : led.wait_at, mine.loading)) continue;
    const waits_for what = mine.loading ? waits_for::own : waits_for::others;
    if (pause(team, done ? waits_for::nothing : what, led.wait_at, left)) break;
  }
  if (done) return result;
  if (mine.loading) unpin(mine.frame);  // it goes on loading without us, and belongs to nobody when it comes
  return out_of_patience();
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD SLUICE_INLINE prefetch_token cache_ref<Store, Policy, Mode, Counts>::prefetch(const Team& team,
                                                                                        page_id page) const {
  if constexpr (Mode == mode::none) return {};
  const directory_place at = view_.directory.place(page);
  const bool idle =
      page.value >= pages_ || view_.directory.glance(at, lane::relaxed).word.is_resident_page(at.tag);
  if (team.all(idle)) return {};
  return lane::far_call(&cache_ref::template start_prefetch<Team>, this, team, idle ? page_id{pages_} : page);
}

/// For those lanes whose page lies in the store.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_NOINLINE SLUICE_HD prefetch_token
cache_ref<Store, Policy, Mode, Counts>::start_prefetch(const cache_ref* self, Team team, page_id page) {
  const auto group = group_of(team, page);
  lane::budget left = self->patience();
  quest mine{page};
  prefetch_token token;
  step led;
  if (page.value < self->pages_ && group.leads()) {
    const directory_ref& directory = self->view_.directory;
    const set_view set(directory, directory.place(page));
    const sighting& seen = set.page();
    if (!seen.found()) {
      led = self->take(mine, set);
      if (led.load) token = {mine.frame, directory.look(mine.frame, lane::relaxed)};
    } else if (seen.word.is_loading()) {
      token = {seen.frame, seen.word};
    }
  }
  self->submit_loads(team, led, mine, left);
  self->submit_writes(team, led.clean, left);
  if (led.load) self->unpin(mine.frame);
  return {group.broadcast(token.frame), frame_word(group.broadcast(token.word.bits()))};
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_HD status cache_ref<Store, Policy, Mode, Counts>::wait(const Team& team,
                                                              const prefetch_token& token) const {
  lane::budget left = patience();
  status result;
  bool done = token.frame == no_frame_index;
  while (true) {
    if (!done && !view_.directory.is_loading(token.frame, token.word)) {
      const frame_word word =
          view_.directory.look(token.frame, lane::order_of("cache.loaded", lane::acquire));
      done = !word.same_contents(token.word) || !word.is_loading();
      if (done && word.same_contents(token.word) && word.is_error()) {
        result = view_.directory.load_failure(token.frame);
        // Nobody pins the error: the status is its own only if the frame has not been taken since.
        if (!view_.directory.look(token.frame, lane::relaxed).same_contents(word)) result = status::ok;
      }
    }
    if (team.all(done)) break;
    if (check_arrived(team, done ? no_frame_index : token.frame, false)) continue;
    if (pause(team, done ? waits_for::nothing : waits_for::own, token.frame, left))
      return done ? result : out_of_patience();
  }
  // What a load could not bring, an access may still get from another source.
  const bool again = !result.is_ok();
  if (!team.any(again)) return result;
  const page_id page = again ? view_.directory.page(token.frame, token.word) : page_id{pages_};
  const status code = bring(team, page);
  return again ? code : result;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_NOINLINE SLUICE_HD status cache_ref<Store, Policy, Mode, Counts>::bring(const Team& team,
                                                                               page_id page) const {
  return visit<access::read>(team, page, [](const std::byte*) {});
}

}  // namespace sluice::cache
