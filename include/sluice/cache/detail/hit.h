// Accesses to elements: what a resident page costs, and the way out to visit() where it is not. Part of
// cache_ref.h.
#pragma once

#include "sluice/cache/cache_ref.h"

namespace sluice::cache {

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Read>
SLUICE_HD SLUICE_INLINE bool cache_ref<Store, Policy, Mode, Counts>::read_optimistically(
    page_id page, const Read& read) const {
  if constexpr (Mode != mode::optimized) return false;
  const directory_place at = view_.directory.place(page);
  for (std::uint32_t tries = 0; tries < optimistic_tries; ++tries) {
    const sighting seen = view_.directory.find_resident(at, lane::order_of("cache.probe", lane::acquire));
    if (!seen.found()) return false;
    read(frame_bytes(seen.frame));
    // Relaxed is enough: the acquire loads of the data come before it, and whoever read a byte of a refill
    // has read from a store that its fence ordered after the change of this word.
    if (!seen.word.same_contents(view_.directory.look(seen.frame, lane::relaxed)) &&
        !lane::planted("cache.drop_revalidation")) {
      continue;
    }
    note_reference(seen);
    return true;
  }
  return false;
}

/// The most usual read, without a branch: the page is resident in its preferred ways, and need not be marked
/// as referenced. False where anything else is so, also for a page beyond the store's end: then `seen` is
/// what those ways showed. (An integer operation of a warp takes half a cycle of its multiprocessor, and few
/// others take as many.)
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class T>
SLUICE_HD SLUICE_INLINE bool cache_ref<Store, Policy, Mode, Counts>::read_at_a_glance(
    page_id page, const directory_place& at, std::uint32_t offset, T& value, sighting& seen) const {
  seen = view_.directory.glance(at, lane::order_of("cache.probe", lane::acquire));
  const bool found = seen.word.is_resident_page(at.tag) & (page.value < pages_);
  value = load_element_if<T>(found, frame_bytes(seen.frame) + offset, optimistic_load());
  // Relaxed, as in read_optimistically().
  const frame_word now = view_.directory.look(seen.frame, lane::relaxed);
  return found && (seen.word.same_referenced(now) || lane::planted("cache.drop_revalidation"));
}

/// The next try, after a glance that showed `seen`: anywhere in the set, whether referenced or not.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class T>
SLUICE_HD SLUICE_INLINE bool cache_ref<Store, Policy, Mode, Counts>::read_after_glance(
    const directory_place& at, std::uint32_t offset, T& value, const sighting& seen) const {
  const bool elsewhere = seen.word.tag() != at.tag;
  const sighting found =
      view_.directory.find_resident(at, lane::order_of("cache.probe", lane::acquire), elsewhere);
  if (!found.found()) return false;
  value = load_element<T>(frame_bytes(found.frame) + offset, optimistic_load());
  // Relaxed, as in read_optimistically().
  const frame_word now = view_.directory.look(found.frame, lane::relaxed);
  if (!found.word.same_contents(now) && !lane::planted("cache.drop_revalidation")) return false;
  note_reference(found);
  return true;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class T>
SLUICE_HD SLUICE_INLINE outcome<T> cache_ref<Store, Policy, Mode, Counts>::read(page_id page,
                                                                                std::uint32_t offset,
                                                                                bool due) const {
  if constexpr (Counts) count_accesses(lane::warp_team::converged(), sizeof(T));
  T value{};
  [[maybe_unused]] sighting seen;
  [[maybe_unused]] const directory_place at = view_.directory.place(page);
  if constexpr (Mode == mode::optimized) {
    if (read_at_a_glance(page, at, offset, value, seen)) return {value, status::ok};
  }
  if (page.value >= pages_) return {T{}, status::out_of_range};
  const auto here = readers();
  bool hit = false;
  if constexpr (Mode == mode::optimized) hit = !due && read_after_glance(at, offset, value, seen);
  if (all_hit(here, hit)) return {value, status::ok};
  const outcome<T> missed =
      lane::far_call(&cache_ref::template read_pinned<T>, this, here, hit, page, offset);
  return hit ? outcome<T>{value, status::ok} : missed;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class T>
SLUICE_NOINLINE SLUICE_HD outcome<T> cache_ref<Store, Policy, Mode, Counts>::read_pinned(
    const cache_ref* self, lane::warp_team readers, bool hit, page_id page, std::uint32_t offset) {
  outcome<T> result;
  result.code = self->template visit_missed<access::read>(
      readers, hit, page, [&result, offset](const std::byte* frame) {
        result.value = load_element<T>(frame + offset, lane::relaxed);
      });
  return result;
}

/// Pins the page for writing, lets `use(frame)` run, and unpins: where it is resident and may be written at
/// once. Lanes with pages of their own do so each for itself; where neighbours share a page, one pins it for
/// all. (On a GPU a warp whose lanes are scattered should not pay for finding that out.)
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Use>
SLUICE_HD SLUICE_INLINE bool cache_ref<Store, Policy, Mode, Counts>::write_resident(
    const lane::warp_team& writers, page_id page, const Use& use) const {
  if (Mode != mode::optimized || !store_.writable()) return false;
  bool shared = true;
#if SLUICE_ON_GPU
  const std::uint32_t above = writers.mask() & ~(writers.bit() | (writers.bit() - 1)),
                      next = above & (~above + 1);
  shared = writers.any(writers.of(page.value, next == 0 ? writers.bit() : next) == page.value && next != 0);
#endif
  const lane::warp_team group = shared ? writers.matching(page.value) : writers.subset(writers.bit());
  std::uint32_t frame = no_frame_index;
  if (group.leads()) {
    const sighting seen = view_.directory.find_resident(view_.directory.place(page), lane::relaxed);
    if (seen.found() && pin(access::write, seen)) frame = seen.frame;
  }
  if (shared) {
    frame = group.broadcast(frame);
    group.sync();  // what the leader acquired, all may change
  }
  if (frame == no_frame_index) return false;
  use(frame_bytes(frame));
  if (shared) group.sync();  // all lanes' accesses come before the leader's unpin
  if (group.leads()) unpin(frame);
  return true;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class T>
SLUICE_HD SLUICE_INLINE status cache_ref<Store, Policy, Mode, Counts>::write(page_id page,
                                                                             std::uint32_t offset,
                                                                             const T& value) const {
  if (page.value >= pages_) return status::out_of_range;
  const auto here = lane::warp_team::converged();
  count_accesses(here, sizeof(T));
  const bool hit = write_resident(
      here, page, [&value, offset](std::byte* frame) { store_element<T>(frame + offset, value); });
  if (all_hit(here, hit)) return status();
  const status missed =
      lane::far_call(&cache_ref::template write_pinned<T>, this, here, hit, page, offset, value);
  return hit ? status() : missed;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class T>
SLUICE_NOINLINE SLUICE_HD status cache_ref<Store, Policy, Mode, Counts>::write_pinned(
    const cache_ref* self, lane::warp_team writers, bool hit, page_id page, std::uint32_t offset, T value) {
  return self->template visit_missed<access::write>(
      writers, hit, page, [value, offset](std::byte* frame) { store_element<T>(frame + offset, value); });
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class T>
SLUICE_HD SLUICE_INLINE outcome<T> cache_ref<Store, Policy, Mode, Counts>::fetch_add(page_id page,
                                                                                     std::uint32_t offset,
                                                                                     T value) const {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "only words are added to at once");
  if (page.value >= pages_) return {T{}, status::out_of_range};
  const auto here = lane::warp_team::converged();
  count_accesses(here, sizeof(T));
  T before{};
  const bool hit = write_resident(here, page, [&before, value, offset](std::byte* frame) {
    before = lane::on_device(*reinterpret_cast<T*>(frame + offset)).fetch_add(value, lane::relaxed);
  });
  if (all_hit(here, hit)) return {before, status::ok};
  const outcome<T> missed =
      lane::far_call(&cache_ref::template add_pinned<T>, this, here, hit, page, offset, value);
  return hit ? outcome<T>{before, status::ok} : missed;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class T>
SLUICE_NOINLINE SLUICE_HD outcome<T> cache_ref<Store, Policy, Mode, Counts>::add_pinned(
    const cache_ref* self, lane::warp_team writers, bool hit, page_id page, std::uint32_t offset, T value) {
  outcome<T> result;
  const auto add = [&result, offset, value](std::byte* frame) {
    result.value = lane::on_device(*reinterpret_cast<T*>(frame + offset)).fetch_add(value, lane::relaxed);
  };
  result.code = self->template visit_missed<access::write>(writers, hit, page, add);
  return result;
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <std::uint32_t Piece>
SLUICE_NOINLINE SLUICE_HD status cache_ref<Store, Policy, Mode, Counts>::read_bytes(
    page_id page, std::uint32_t offset, std::byte* to, std::uint32_t bytes) const {
  if (page.value >= pages_) return status::out_of_range;
  const auto here = readers();
  count_accesses(here, bytes);
  const auto take = [=](const std::byte* frame) {
    load_pieces<Piece>(to, frame + offset, bytes, optimistic_load());
  };
  const bool hit = read_optimistically(page, take);
  return all_hit(here, hit) ? status() : visit_missed<access::read>(here, hit, page, take);
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <std::uint32_t Piece>
SLUICE_NOINLINE SLUICE_HD status cache_ref<Store, Policy, Mode, Counts>::write_bytes(
    page_id page, std::uint32_t offset, const std::byte* from, std::uint32_t bytes) const {
  if (page.value >= pages_) return status::out_of_range;
  const auto here = lane::warp_team::converged();
  count_accesses(here, bytes);
  return visit<access::write>(here, page,
                              [=](std::byte* frame) { store_pieces<Piece>(frame + offset, from, bytes); });
}

template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team, class Use>
SLUICE_HD SLUICE_INLINE outcome<std::uint32_t> cache_ref<Store, Policy, Mode, Counts>::walk(
    const Team& team, page_id first, std::uint32_t count, const Use& use) const {
  const page_id mine{first.value + team.rank()};
  const bool wants = team.rank() < count;
  sighting seen;
  if (Mode != mode::none && wants && mine.value < pages_)
    seen = view_.directory.find_resident(view_.directory.place(mine), lane::relaxed);
  // What is missing is on its way while the others are used.
  const bool missing = wants && !seen.found();
  if (team.any(missing)) {
    (void)lane::far_call(&cache_ref::template start_prefetch<Team>, this, team,
                         missing ? mine : page_id{pages_});
  }
  const std::uint32_t frame = seen.found() && pin(access::read, seen) ? seen.frame : no_frame_index;
  team.sync();  // what each acquired for its page, all may read
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t here = team.from(frame, k);
    if (here != no_frame_index) use(frame_bytes(here), k);
  }
  team.sync();  // all lanes' accesses come before the unpins
  if (frame != no_frame_index) unpin(frame);
  if (team.all(!wants || frame != no_frame_index)) return {};

  outcome<std::uint32_t> failure;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (team.from(frame, k) != no_frame_index) continue;
    const outcome<std::uint32_t> late =
        lane::far_call(&cache_ref::template pin_late<Team>, this, team, page_id{first.value + k});
    if (late.is_ok()) {
      team.sync();
      use(frame_bytes(late.value), k);
      team.sync();
      if (team.leads()) unpin(late.value);
    } else if (failure.is_ok()) {
      failure = {k, late.code};
    }
  }
  return failure;
}

/// The page's frame, with a use that is the caller's to end.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
template <class Team>
SLUICE_NOINLINE SLUICE_HD outcome<std::uint32_t> cache_ref<Store, Policy, Mode, Counts>::pin_late(
    const cache_ref* self, Team team, page_id page) {
  const directory_ref& directory = self->view_.directory;
  lane::budget left = self->patience();
  while (true) {
    std::uint32_t frame = no_frame_index;
    // While the visit has it pinned, one use more.
    const auto keep = [&](const std::byte* bytes) {
      if (!team.leads()) return;
      frame = self->frame_of(bytes);
      frame_word word = directory.look(frame, lane::relaxed);
      while (word.takes_use() && !directory.change(frame, word, word.used(), lane::relaxed))
        word = directory.look(frame, lane::relaxed);
      if (!word.takes_use()) frame = no_frame_index;
    };
    // In the lesser modes each lane asks for itself, so only one asks.
    status code;
    if constexpr (Mode == mode::optimized) {
      code = self->template visit<access::read>(team, page, keep);
    } else {
      team.sync();
      if (team.leads()) code = self->template visit<access::read>(lane::solo(), page, keep);
      code = status::from_bits(team.broadcast(code.bits()));
    }
    frame = team.broadcast(frame);
    if (!code.is_ok() || frame != no_frame_index) return {frame, code};
    if (self->pause(team, waits_for::nothing, no_frame_index, left)) return {frame, self->out_of_patience()};
  }
}

/// Pins the page that `seen` names. Others pin and unpin it too, so a word that has changed in nothing else
/// is tried again.
template <page_store Store, replacement_policy Policy, mode Mode, bool Counts>
SLUICE_HD bool cache_ref<Store, Policy, Mode, Counts>::pin(access kind, const sighting& seen) const {
  constexpr std::uint32_t most_tries = 3;
  std::uint64_t bits = seen.word.bits();
  for (std::uint32_t tries = 0; tries < most_tries; ++tries) {
    const frame_word word(bits);
    if (!word.same_contents(seen.word) || !word.is_resident() || !word.takes_use()) return false;
    if (kind == access::write && !word.is_writable() && !lane::planted("cache.write_while_writing"))
      return false;
    const frame_word pinned = kind == access::write ? word.used().dirtied() : word.used();
    // From exactly the word whose tag was checked. Acquire pairs with the unpin of whoever wrote to the page
    // last.
    if (view_.directory.word(seen.frame)
            .compare_exchange(bits, pinned.referenced_now().bits(),
                              lane::order_of("cache.pin", lane::acquire)))
      return true;
  }
  return false;
}

}  // namespace sluice::cache
