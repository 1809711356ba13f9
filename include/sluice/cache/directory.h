// Where a page may lie: sets of ways, found from the page's number, sized by the cache and not by the
// storage.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/base/types.h"
#include "sluice/cache/frame_word.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/mutant.h"
#include "sluice/lane/pair.h"

namespace sluice::cache {

/// Numbers that fix a directory. Frame = set * ways + way; its word has the same index.
struct directory_shape {
  std::uint32_t set_bits = 0;  ///< log2 of the number of sets
  std::uint32_t ways = 2;      ///< 2 to 15 in a cache of one set; else 16, 20, 24 or 28

  constexpr std::uint32_t sets() const { return 1U << set_bits; }
  constexpr std::uint32_t frames() const { return ways << set_bits; }
  constexpr std::uint32_t quads() const { return (ways + 3) / 4; }
  /// Words to allocate: whole quads. Those beyond the ways stay empty for ever.
  constexpr std::uint32_t words() const { return (frames() + 3) / 4 * 4; }
  /// Page numbers that the tags can tell apart.
  constexpr std::uint64_t pages() const { return std::uint64_t{1} << (frame_word::tag_bits + set_bits); }
};

/// The largest directory of at most `frames` frames (at least 2): as many sets of 16 ways or a few more as
/// fit.
constexpr directory_shape shape_for(std::uint64_t frames) {
  if (frames < 16) return {0, static_cast<std::uint32_t>(frames)};
  std::uint32_t set_bits = 0;
  while ((frames >> (set_bits + 1)) >= 16 && set_bits < 26) ++set_bits;
  const std::uint64_t ways = (frames >> set_bits) / 4 * 4;
  return {set_bits, static_cast<std::uint32_t>(ways > 28 ? 28 : ways)};
}

/// Where to look for a page: its set, its name there, and the pair of ways that it prefers. In other quads it
/// prefers the same half.
struct directory_place {
  std::uint32_t set;
  std::uint32_t tag;
  std::uint32_t pair;
  constexpr std::uint32_t quad() const { return pair / 2; }
  constexpr std::uint32_t half() const { return pair & 1U; }

  /// The k-th quad of ways to look at, and the way at a position: ways in the order in which they are looked
  /// at. Some positions of a cache of fewer than 16 frames have no way.
  constexpr std::uint32_t quad_at(std::uint32_t k, const directory_shape& shape) const {
    const std::uint32_t at = quad() + k;
    return at < shape.quads() ? at : at - shape.quads();
  }
  constexpr std::uint32_t way(std::uint32_t position, const directory_shape& shape) const {
    return quad_at(position / 4, shape) * 4 + ((position & 3U) ^ half() * 2);
  }
};

/// The set is the page's low bits mixed with its high ones, the tag the high ones: a bijection, so that a
/// short tag names a page, a run of neighbours fills all sets alike, and so do the strides of matrices.
constexpr std::uint32_t spread(std::uint32_t tag) {
  const std::uint32_t h = tag * 0x9e3779b1U;
  return h ^ h >> 15;
}
/// `set_mask` is the number of sets - 1; `pairs` are all pairs of ways of a set.
constexpr directory_place place_of(page_id page, std::uint32_t set_bits, std::uint32_t set_mask,
                                   std::uint32_t pairs) {
  const auto tag = static_cast<std::uint32_t>(page.value >> set_bits);
  const std::uint32_t h = spread(tag);
  const std::uint32_t set = (static_cast<std::uint32_t>(page.value) ^ h) & set_mask;
  const std::uint32_t pair = (h >> 16) * pairs >> 16;
  return {set, tag, pair};
}
constexpr directory_place place_of(page_id page, const directory_shape& shape) {
  return place_of(page, shape.set_bits, shape.sets() - 1, shape.quads() * 2);
}
constexpr page_id page_at(std::uint32_t set, std::uint32_t tag, const directory_shape& shape) {
  const std::uint32_t low = (set ^ spread(tag)) & (shape.sets() - 1);
  return {std::uint64_t{tag} << shape.set_bits | low};
}

inline constexpr std::uint32_t no_frame_index = ~0U;

/// A frame that names a page, and its word as it was seen.
struct sighting {
  std::uint32_t frame = no_frame_index;
  frame_word word;

  SLUICE_HD bool found() const { return frame != no_frame_index; }
};

/// Lanes' view of the words of all frames; trivially copyable.
class directory_ref {
 public:
  directory_ref() = default;
  /// `details`: so many words a frame as a transfer makes reports, `reports` at most.
  directory_ref(const directory_shape& shape, std::uint64_t* words, std::uint64_t* details,
                std::uint32_t reports = 1)
      : words_(words),
        details_(details),
        shape_(shape),
        set_mask_(shape.sets() - 1),
        pairs_(shape.quads() * 2),
        reports_(reports),
        copy_reports_(reports) {}
  /// The same for a store of `copies` copies of each page, each of which makes `reports` reports of a write.
  directory_ref with_copies(std::uint32_t copies, std::uint32_t reports) const {
    directory_ref made = *this;
    made.copies_ = copies;
    made.copy_reports_ = reports;
    return made;
  }

  SLUICE_HD const directory_shape& shape() const { return shape_; }
  SLUICE_HD directory_place place(page_id page) const {
    return place_of(page, shape_.set_bits, set_mask_, pairs_);
  }
  SLUICE_HD std::uint32_t frame(std::uint32_t set, std::uint32_t way) const {
    return set * shape_.ways + way;
  }
  SLUICE_HD page_id page(std::uint32_t frame, frame_word word) const {
    return page_at(frame / shape_.ways, word.tag(), shape_);
  }

  /// Looks for the page where it is resident, in its preferred pair of ways first. `after_glance`: that a
  /// glance at those showed nothing of the page's tag, so that they are left out.
  /// Order: an acquire pairs with the release of the report that filled the frame, so the bytes are visible.
  SLUICE_HD SLUICE_INLINE sighting find_resident(const directory_place& at, lane::order o,
                                                 bool after_glance = false) const {
    return search(words_, frame(at.set, 0), at.tag, at.pair, pairs_, after_glance ? 1 : 0, o);
  }

  /// Looks at the preferred pair of ways only, and of those at the one whose tag is the page's, without a
  /// branch: for the caller to ask whether it is resident. Overlooks the second behind a way of the same tag
  /// that is absent. Order: as find_resident().
  SLUICE_HD SLUICE_INLINE sighting glance(const directory_place& at, lane::order o) const {
    const std::uint32_t first = frame(at.set, at.pair * 2);
    const lane::pair two = lane::load_pair(words_ + first, o);
    const bool here = frame_word(two.words[0]).tag() == at.tag;
    return {first + (here ? 0 : 1), frame_word(here ? two.words[0] : two.words[1])};
  }

  SLUICE_HD lane::device_ref<std::uint64_t> word(std::uint32_t frame) const {
    return lane::on_device(words_[frame]);
  }
  SLUICE_HD lane::device_ref<std::uint64_t> detail(std::uint32_t frame, std::uint32_t report) const {
    return lane::on_device(detail_address(frame)[report]);
  }
  SLUICE_HD std::uint64_t* word_address(std::uint32_t frame) const { return words_ + frame; }
  SLUICE_HD std::uint64_t* detail_address(std::uint32_t frame) const {
    return details_ + std::uint64_t{frame} * reports_;
  }

  SLUICE_HD frame_word look(std::uint32_t frame, lane::order o) const {
    return frame_word(word(frame).load(o));
  }
  /// Whether what `contents` saw on its way is still coming. Without any order, for whoever waits: most looks
  /// are fruitless, and an acquire on a GPU empties the L1 of all that runs beside.
  SLUICE_HD bool is_loading(std::uint32_t frame, frame_word contents) const {
    const frame_word now = look(frame, lane::relaxed);
    return now.same_contents(contents) && now.is_loading();
  }
  SLUICE_HD bool change(std::uint32_t frame, frame_word from, frame_word to, lane::order o) const {
    std::uint64_t expected = from.bits();
    return word(frame).compare_exchange(expected, to.bits(), o);
  }
  /// For poll(): where the frame's transfer waits. Its reports take turns, one a look.
  SLUICE_HD std::uint64_t hint(std::uint32_t frame, std::uint32_t look) const {
    std::uint32_t report = 0;
    if (reports_ > 1 && !lane::planted("cache.first_report_only")) report = look % reports_;
    return frame_detail(detail(frame, report).load(lane::relaxed)).hint();
  }
  /// Status of a frame whose load failed.
  SLUICE_HD status load_failure(std::uint32_t frame) const { return first_failure(frame, 0, reports_); }
  /// Of one whose write failed: aborted where it may be started again at once. It may where another copy has
  /// come through whole, since the store will leave out the failed one.
  SLUICE_HD status write_failure(std::uint32_t frame) const {
    status code = status::aborted;
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      const status told = first_failure(frame, copy * copy_reports_, copy_reports_);
      if (told.is_ok()) return status::aborted;
      if (code == status::aborted) code = told;
    }
    return code;
  }
  /// Before a transfer of `reports` reports: what earlier ones left beyond them is not its own.
  SLUICE_HD void forget_beyond(std::uint32_t frame, std::uint32_t reports) const {
    for (; reports < reports_; ++reports) detail(frame, reports).store(0, lane::relaxed);
  }
  /// A transfer that could not be started, so that all of its reports are missing.
  SLUICE_HD void note_failure(std::uint32_t frame, status code) const {
    for (std::uint32_t report = 0; report < reports_; ++report)
      detail(frame, report).store(code.bits(), lane::relaxed);
  }
  /// Why its last write failed, where nobody but flush() tries it again; ok where it is not dirty for that,
  /// or only for want of a queue. The one look at what was told: a write that is started meanwhile wipes it.
  SLUICE_HD status lasting_failure(std::uint32_t frame, frame_word word) const {
    status told;
    if (word.is_dirty() && word.errors() != 0) told = write_failure(frame);
    if (told == status::aborted) return {};
    return lane::planted("cache.ask_twice_why") && !told.is_ok() ? write_failure(frame) : told;
  }

  /// Takes the set's lock for a few steps that wait for nothing; false where somebody else has it.
  /// Order: acquire; pairs with unlock(), so what its last holder did to the set is seen.
  SLUICE_HD bool try_lock(std::uint32_t set) const {
    if (lane::planted("cache.drop_set_lock")) return true;
    const std::uint32_t way0 = frame(set, 0);
    if (look(way0, lane::relaxed).locked()) return false;
    const std::uint64_t before =
        word(way0).fetch_or(frame_word::lock_bit, lane::order_of("cache.lock", lane::acquire));
    return !frame_word(before).locked();
  }
  SLUICE_HD void unlock(std::uint32_t set) const {
    word(frame(set, 0)).fetch_and(~frame_word::lock_bit, lane::order_of("cache.unlock", lane::release));
  }

 private:
  /// The pairs of a set in the order of directory_place::way(), from the `nth` on. Called, not inlined, and
  /// by what registers hold: who loops over elements has none to spare for it, and a call that needs no stack
  /// is cheap.
  SLUICE_NOINLINE SLUICE_HD static sighting search(std::uint64_t* words, std::uint32_t first_of_set,
                                                   std::uint32_t tag, std::uint32_t pair, std::uint32_t pairs,
                                                   std::uint32_t nth, lane::order o) {
    for (std::uint32_t at = pair ^ (nth & 1U);; at ^= 1U) {
      const std::uint32_t first = first_of_set + at * 2;
      const lane::pair two = lane::load_pair(words + first, o);
      if (frame_word(two.words[0]).is_resident_page(tag)) return {first, frame_word(two.words[0])};
      if (frame_word(two.words[1]).is_resident_page(tag)) return {first + 1, frame_word(two.words[1])};
      if (++nth >= pairs) return {};
      if ((nth & 1U) == 0) at = at + 2 < pairs ? at + 2 : at + 2 - pairs;
    }
  }

  /// The first of `count` reports that says more than that its queue was lost; else that, or ok.
  SLUICE_HD status first_failure(std::uint32_t frame, std::uint32_t first, std::uint32_t count) const {
    status code;
    for (std::uint32_t report = first; report < first + count; ++report) {
      const status told = frame_detail(detail(frame, report).load(lane::relaxed)).told();
      if (!told.is_ok()) code = told;
      if (!told.is_ok() && told != status::aborted) break;
    }
    return code;
  }

  std::uint64_t* words_ = nullptr;
  std::uint64_t* details_ = nullptr;
  directory_shape shape_;
  std::uint32_t set_mask_ = 0;
  std::uint32_t pairs_ = 0;
  std::uint32_t reports_ = 1;
  std::uint32_t copies_ = 1;
  std::uint32_t copy_reports_ = 1;
};

}  // namespace sluice::cache
