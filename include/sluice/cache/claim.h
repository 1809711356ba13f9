// Taking a frame for a page: everything that happens under a set's lock.
#pragma once

#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/cache/directory.h"
#include "sluice/cache/frame_word.h"
#include "sluice/cache/host_tier.h"
#include "sluice/cache/policy.h"
#include "sluice/cache/set_view.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/mutant.h"
#include "sluice/lane/team.h"

namespace sluice::cache {

enum class claim_outcome : std::uint8_t {
  busy,     ///< not now: look again (somebody else was faster, or a victim will come free)
  taken,    ///< the frame is the page's
  refused,  ///< no frame will come free by itself; `failure` says why
};

struct claim_request {
  page_id page;
  std::uint32_t load_reports = 1;   ///< of the page's load; at most frame_word::max_reports
  std::uint32_t write_reports = 1;  ///< of a write-back
  bool overwrite = false;           ///< taken for a span that overwrites it: nothing is loaded
  bool again = false;               ///< what the tier has is not wanted: a load failed
  const tier_ref* tier = nullptr;   ///< the second tier, if there is one
};

struct claim_result {
  claim_outcome outcome = claim_outcome::busy;
  bool evicted = false;                  ///< taken: another page had to go
  std::uint32_t frame = no_frame_index;  ///< taken: now loading, with the caller's pin
  tier_move move;                        ///< taken: the caller moves it first
  std::uint32_t cleaning =
      no_frame_index;  ///< a dirty frame that now is writing: the caller submits its write
  std::uint32_t wait_at = no_frame_index;  ///< busy: a frame whose transfer is worth polling for
  status failure;
};

namespace detail {

/// Turns a dirty frame into a writing one. Fails while anybody may be changing its bytes.
/// Order: acquire; pairs with the unpin of whoever wrote to it last, so that the transfer takes those bytes.
SLUICE_HD inline bool start_writing(const directory_ref& directory, std::uint32_t frame, frame_word word,
                                    std::uint32_t reports) {
  if (!word.is_cleanable() && !(lane::planted("cache.clean_pinned") && word.is_dirty())) return false;
  return directory.change(frame, word, word.writing(reports),
                          lane::order_of("cache.start_writing", lane::acq_rel));
}

/// Cleans one dirty frame ahead of need, where half of the set is dirty. Those that failed before are left to
/// flush().
SLUICE_HD inline std::uint32_t clean_ahead(const set_view& set, std::uint32_t reports) {
  for (std::uint32_t rest = set.cleanable() & ~set.failed(); rest != 0; rest &= rest - 1) {
    const std::uint32_t frame = set.frame(lane::lowest_bit(rest));
    const frame_word word = set.directory().look(frame, lane::relaxed);
    if (word.errors() == 0 && start_writing(set.directory(), frame, word, reports)) return frame;
  }
  return no_frame_index;
}

/// No victim in the set: starts a write that will make one, or says that only failed writes are left.
/// Frames held by spans do not count: they come free when the user likes.
SLUICE_HD inline claim_result make_room(const set_view& set, std::uint32_t reports) {
  const directory_ref& directory = set.directory();
  claim_result result;
  std::uint32_t hopeful = set.all() & ~set.held();
  result.wait_at = set.moving_frame();
  for (std::uint32_t rest = hopeful & set.cleanable(); rest != 0; rest &= rest - 1) {
    const std::uint32_t position = lane::lowest_bit(rest);
    const std::uint32_t frame = set.frame(position);
    const frame_word word = directory.look(frame, lane::order_of("cache.failed", lane::acquire));
    const status failed = directory.lasting_failure(frame, word);
    if (word.is_cleanable() && !failed.is_ok() && !lane::planted("cache.retry_failed")) {
      hopeful &= ~(1U << position);
      result.failure = failed;
    } else if (start_writing(directory, frame, word, reports)) {
      result.cleaning = frame;
      break;
    }
  }
  if (hopeful == 0 && !result.failure.is_ok())
    result.outcome = claim_outcome::refused;
  else
    result.failure = {};
  return result;
}

template <class Policy>
SLUICE_HD claim_result claim_locked(const set_view& set, const claim_request& request) {
  const directory_ref& directory = set.directory();
  if (set.page().found() && !lane::planted("cache.drop_reprobe")) return {};
  claim_result result;
  if (request.overwrite && set.held_but_one()) {
    result.outcome = claim_outcome::refused;
    result.failure = status::no_frame;
    return result;
  }
  const std::uint32_t position = set.absent() != 0 ? lane::lowest_bit(set.absent()) : Policy::victim(set);
  if (position == no_way) return make_room(set, request.write_reports);
  const std::uint32_t frame = set.frame(position);
  const frame_word word = set.word(position);
  if (!word.is_victim() && !lane::planted("cache.evict_pinned")) return {};
  bucket_view wanted;
  if (request.tier != nullptr) wanted = request.tier->find(set.set(), set.tag());
  // It is on its way there, and who fills it waits for nothing.
  if (wanted.is_filling() && !lane::planted("cache.tier_pass_filling")) return {};
  frame_word taken = request.overwrite ? word.taken_to_overwrite(set.tag())
                                       : word.taken_to_load(set.tag(), request.load_reports);
  if (Policy::first_use_counts) taken = taken.referenced_now();
  if (lane::planted("cache.same_version")) taken = taken.with_version_of(word);
  // Acquire pairs with the unpins of the frame's last users: their accesses are over. Release pairs with
  // every probe: who finds the page's tag sees the frame loading. It also comes before the doorbell that lets
  // the drive write to the frame.
  if (!directory.change(frame, word, taken, lane::order_of("cache.take", lane::acq_rel))) return {};
  result.outcome = claim_outcome::taken;
  result.frame = frame;
  result.evicted = word.is_clean();
  if (request.tier != nullptr)
    result.move = request.tier->exchange(set.set(), word, wanted, !request.overwrite && !request.again);
  if (2 * lane::bit_count(set.dirty()) >= set.ways())
    result.cleaning = clean_ahead(set, request.write_reports);
  return result;
}

}  // namespace detail

/// Takes a frame for a page that `seen` did not find in its set, unless somebody else just did.
/// Lanes:  any one lane.
/// Waits:  for nothing, and nobody waits for the lock: a busy set is for the caller to look at again. Where
/// all frames are in use, the lock is left alone: holders of it would stand in the way of those that end
/// that.
template <class Policy>
SLUICE_HD claim_result claim(const set_view& seen, const claim_request& request) {
  claim_result result;
  if (!request.overwrite && !seen.has_work()) {
    result.wait_at = seen.moving_frame();
    return result;
  }
  if (!seen.directory().try_lock(seen.set())) return {};
  result = detail::claim_locked<Policy>(set_view(seen.directory(), seen.place()), request);
  seen.directory().unlock(seen.set());
  return result;
}

enum class hold_outcome : std::uint8_t { busy, held, refused };

/// Adds a span's hold to a frame that the caller has pinned. One way of every set is never held: holds of a
/// frame that nobody holds yet are counted under the set's lock. `extra` is added with the hold: a use, where
/// the span may write.
SLUICE_HD inline hold_outcome add_hold(const directory_ref& directory, const directory_place& at,
                                       std::uint32_t frame, std::uint64_t extra) {
  const bool locking =
      directory.look(frame, lane::relaxed).holds() == 0 && !lane::planted("cache.drop_span_lock");
  if (locking && !directory.try_lock(at.set)) return hold_outcome::busy;
  const frame_word word = directory.look(frame, lane::relaxed);
  hold_outcome outcome = hold_outcome::busy;
  const bool first = word.holds() == 0;
  if (first && set_view(directory, at).held_but_one()) {
    outcome = hold_outcome::refused;
  } else if ((locking || !first || lane::planted("cache.drop_span_lock")) && word.takes_hold() &&
             (extra == 0 || word.takes_use())) {
    // Relaxed: the caller's pin has acquired the frame already.
    if (directory.change(frame, word, word.held().plus(extra), lane::relaxed)) outcome = hold_outcome::held;
  }
  if (locking) directory.unlock(at.set);
  return outcome;
}

}  // namespace sluice::cache
