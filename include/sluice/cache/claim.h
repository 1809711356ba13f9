// Taking a frame for a page: everything that happens under a set's lock.
#pragma once

#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/cache/directory.h"
#include "sluice/cache/frame_word.h"
#include "sluice/cache/policy.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/mutant.h"

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
};

struct claim_result {
  claim_outcome outcome = claim_outcome::busy;
  bool evicted = false;                  ///< taken: another page had to go
  std::uint32_t frame = no_frame_index;  ///< taken: now loading, with the caller's pin
  std::uint32_t cleaning =
      no_frame_index;  ///< a dirty frame that now is writing: the caller submits its write
  std::uint32_t wait_at = no_frame_index;  ///< busy: a frame whose transfer is worth polling for
  status failure;
};

namespace detail {

/// What one pass over a set's words tells.
struct set_survey {
  bool present = false;           ///< some frame names the page
  std::uint32_t absent = no_way;  ///< first way that holds no page and is not used
  std::uint32_t dirty = 0;
  std::uint32_t held = 0;
};

SLUICE_HD inline set_survey survey(const directory_ref& directory, const directory_place& at) {
  set_survey all;
  const std::uint32_t ways = directory.shape().ways;
  std::uint32_t quad = at.quad;
  for (std::uint32_t looked = 0; looked < directory.shape().quads(); ++looked) {
    const lane::quad four = lane::load_quad(directory.word_address(directory.frame(at.set, quad * 4)),
                                            lane::order_of("cache.probe", lane::acquire));
    for (std::uint32_t k = 0; k < 4 && quad * 4 + k < ways; ++k) {
      const frame_word word(four.words[k]);
      all.present |= word.names(at.tag);
      if (all.absent == no_way && word.is_absent() && word.is_unpinned()) all.absent = quad * 4 + k;
      all.dirty += word.is_dirty() ? 1 : 0;
      all.held += word.holds() != 0 ? 1 : 0;
    }
    quad = quad + 1 == directory.shape().quads() ? 0 : quad + 1;
  }
  return all;
}

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
SLUICE_HD inline std::uint32_t clean_ahead(const directory_ref& directory, const set_view& set,
                                           std::uint32_t reports) {
  for (std::uint32_t rank = 0; rank < set.ways(); ++rank) {
    const std::uint32_t frame = set.frame(set.way(rank));
    const frame_word word = directory.look(frame, lane::relaxed);
    if (word.errors() == 0 && start_writing(directory, frame, word, reports)) return frame;
  }
  return no_frame_index;
}

/// No victim in the set: starts a write that will make one, or says that only failed writes are left.
/// Frames held by spans do not count: they come free when the user likes.
SLUICE_HD inline claim_result make_room(const directory_ref& directory, const set_view& set,
                                        std::uint32_t reports) {
  claim_result result;
  bool hope = false;
  std::uint32_t failed = no_frame_index;
  for (std::uint32_t rank = 0; rank < set.ways(); ++rank) {
    const std::uint32_t frame = set.frame(set.way(rank));
    const frame_word word = directory.look(frame, lane::order_of("cache.failed", lane::acquire));
    if (word.holds() != 0) continue;
    if (word.is_cleanable() && directory.failed_to_write(frame, word) &&
        !lane::planted("cache.retry_failed")) {
      failed = frame;
      continue;
    }
    hope = true;
    if (word.is_writing() || word.is_loading()) result.wait_at = frame;
    if (start_writing(directory, frame, word, reports)) {
      result.cleaning = frame;
      return result;
    }
  }
  if (hope || failed == no_frame_index) return result;
  result.outcome = claim_outcome::refused;
  result.failure = directory.write_failure(failed);
  return result;
}

template <class Policy>
SLUICE_HD claim_result claim_locked(const directory_ref& directory, const directory_place& at,
                                    const claim_request& request) {
  const set_survey seen = survey(directory, at);
  if (seen.present && !lane::planted("cache.drop_reprobe")) return {};
  claim_result result;
  if (request.overwrite && seen.held + 1 >= directory.shape().ways) {
    result.outcome = claim_outcome::refused;
    result.failure = status::no_frame;
    return result;
  }
  const set_view set(directory, at);
  const std::uint32_t way = seen.absent != no_way ? seen.absent : Policy::victim(set);
  if (way == no_way) return make_room(directory, set, request.write_reports);
  const std::uint32_t frame = set.frame(way);
  const frame_word word = set.word(way);
  if (!word.is_victim() && !lane::planted("cache.evict_pinned")) return {};
  frame_word taken =
      request.overwrite ? word.taken_to_overwrite(at.tag) : word.taken_to_load(at.tag, request.load_reports);
  if (Policy::first_use_counts) taken = taken.referenced_now();
  if (lane::planted("cache.same_version")) taken = taken.with_version_of(word);
  // Acquire pairs with the unpins of the frame's last users: their accesses are over. Release pairs with
  // every probe: who finds the page's tag sees the frame loading. It also comes before the doorbell that lets
  // the drive write to the frame.
  if (!directory.change(frame, word, taken, lane::order_of("cache.take", lane::acq_rel))) return {};
  result.outcome = claim_outcome::taken;
  result.frame = frame;
  result.evicted = word.is_clean();
  if (2 * seen.dirty >= directory.shape().ways)
    result.cleaning = clean_ahead(directory, set, request.write_reports);
  return result;
}

}  // namespace detail

/// Takes a frame for a page that a probe did not find, unless somebody else just did.
/// Lanes:  any one lane.
/// Waits:  for nothing, and nobody waits for the lock: a busy set is for the caller to look at again.
template <class Policy>
SLUICE_HD claim_result claim(const directory_ref& directory, const claim_request& request) {
  const directory_place at = directory.place(request.page);
  if (!directory.try_lock(at.set)) return {};
  const claim_result result = detail::claim_locked<Policy>(directory, at, request);
  directory.unlock(at.set);
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
  if (first && detail::survey(directory, at).held + 1 >= directory.shape().ways) {
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
