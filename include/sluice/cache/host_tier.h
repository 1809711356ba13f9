// The second tier: clean pages that frames gave up, in host memory. What happens under a set's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/cache/directory.h"
#include "sluice/cache/frame_word.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/mutant.h"

namespace sluice::cache {

enum class tier_kind : std::uint8_t {
  exclusive,  ///< a page lies in a frame or in the tier: sizes add up
  inclusive,  ///< a page that came from the tier stays there: given up unchanged, it moves no bytes
};

inline constexpr std::uint32_t no_slot = ~0U;

/// Numbers that fix a tier. Slot = (set * buckets + bucket) * ways + way.
struct tier_shape {
  std::uint32_t buckets = 0;  ///< a set
  std::uint32_t ways = 0;     ///< a bucket, at most most_ways

  static constexpr std::uint32_t most_ways = 16;
  constexpr std::uint32_t slots_a_set() const { return buckets * ways; }
};

/// The largest tier of at most `slots` slots, fewer than 2^32, beside a directory of `sets` sets; of none
/// where there is not one slot a set.
constexpr tier_shape tier_shape_for(std::uint64_t slots, std::uint32_t sets) {
  const auto each = static_cast<std::uint32_t>(slots / sets);
  const std::uint32_t buckets = (each + tier_shape::most_ways - 1) / tier_shape::most_ways;
  return {buckets, buckets == 0 ? 0 : each / buckets};
}

/// What a slot holds, as one value:
///
///   | bits  | field | meaning                                                                       |
///   |-------|-------|-------------------------------------------------------------------------------|
///   | 42-63 | tag   | which of its set's pages                                                      |
///   | 2-41  | stamp | when it was filled or last drained, counted in its bucket                     |
///   | 0-1   | state | empty; filling: a team copies a page into it; full; draining: out of it       |
///
/// Empty and full slots change under their set's lock. A filling or draining one is its team's, which ends
/// that without the lock.
class slot_word {
 public:
  enum class state : std::uint32_t { empty = 0, filling = 1, full = 2, draining = 3 };

  constexpr slot_word() = default;
  constexpr explicit slot_word(std::uint64_t bits) : bits_(bits) {}
  constexpr slot_word(std::uint32_t tag, std::uint64_t stamp, state is)
      : bits_((std::uint64_t{tag} << tag_at) | ((stamp & stamp_mask) << stamp_at) |
              static_cast<std::uint64_t>(is)) {}

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr std::uint32_t tag() const { return static_cast<std::uint32_t>(bits_ >> tag_at); }
  constexpr std::uint64_t stamp() const { return (bits_ >> stamp_at) & stamp_mask; }
  constexpr state is() const { return static_cast<state>(bits_ & 3U); }
  constexpr slot_word as(state is) const {
    return slot_word((bits_ & ~std::uint64_t{3}) | static_cast<std::uint64_t>(is));
  }
  constexpr bool names(std::uint32_t tag) const { return is() != state::empty && this->tag() == tag; }

 private:
  static constexpr std::uint32_t stamp_at = 2;
  static constexpr std::uint32_t tag_at = 64 - frame_word::tag_bits;
  static constexpr std::uint64_t stamp_mask = (std::uint64_t{1} << (tag_at - stamp_at)) - 1;

  std::uint64_t bits_ = 0;
};

/// What a claim moves between its frame and the tier, before anything is loaded into the frame.
struct tier_move {
  std::uint32_t to = no_slot;    ///< gets the page that gives up the frame
  std::uint32_t from = no_slot;  ///< has the page that is to come

  SLUICE_HD bool any() const { return to != no_slot || from != no_slot; }
};

/// One look at all slots of the bucket where a page may lie.
struct bucket_view {
  std::uint32_t own = no_slot;    ///< the page's slot
  slot_word word;                 ///< of that
  std::uint32_t spare = no_slot;  ///< an empty slot, or else the full one of the oldest stamp
  std::uint64_t newest = 0;       ///< stamp

  SLUICE_HD bool is_filling() const { return own != no_slot && word.is() == slot_word::state::filling; }
};

/// Lanes' view of a tier; trivially copyable.
class tier_ref {
 public:
  tier_ref() = default;
  tier_ref(const tier_shape& shape, tier_kind kind, std::uint32_t page_shift, std::uint64_t* words,
           std::byte* pages)
      : words_(words), pages_(pages), shape_(shape), page_shift_(page_shift), kind_(kind) {}

  SLUICE_HD std::byte* bytes(std::uint32_t slot) const {
    return pages_ + (std::uint64_t{slot} << page_shift_);
  }
  SLUICE_HD slot_word look(std::uint32_t slot, lane::order o = lane::relaxed) const {
    return slot_word(word(slot).load(o));
  }

  /// Where the set's page of that tag lies, or may. Lanes: who holds the set's lock.
  SLUICE_HD bucket_view find(std::uint32_t set, std::uint32_t tag) const {
    const auto nth = static_cast<std::uint32_t>((std::uint64_t{spread(tag)} * shape_.buckets) >> 32);
    const std::uint32_t first = (set * shape_.buckets + nth) * shape_.ways;
    bucket_view seen;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint32_t way = 0; way < shape_.ways; ++way) {
      const slot_word here = look(first + way);
      if (here.names(tag)) {
        seen.own = first + way;
        seen.word = here;
      }
      if (here.stamp() > seen.newest) seen.newest = here.stamp();
      const bool empty = here.is() == slot_word::state::empty;
      const bool free =
          empty || here.is() == slot_word::state::full || lane::planted("cache.tier_refill_draining");
      const std::uint64_t age = empty ? 0 : here.stamp() + 1;
      if (free && age < least) {
        least = age;
        seen.spare = first + way;
      }
    }
    return seen;
  }

  /// A frame's page, whose word was `old`, has given it up for the page that was `wanted`, which comes from
  /// its slot if that is full; unless it is not to (`brings`), and is forgotten. Lanes: who holds the set's
  /// lock. What it says is to be moved, and ended by filled() and drained().
  SLUICE_HD tier_move exchange(std::uint32_t set, frame_word old, const bucket_view& wanted,
                               bool brings) const {
    tier_move move;
    if (wanted.own != no_slot && wanted.word.is() == slot_word::state::full) {
      if (brings) move.from = wanted.own;
      if (brings || !lane::planted("cache.tier_keep_overwritten"))
        start(wanted.own, wanted.word.tag(), wanted.newest + 1,
              brings ? slot_word::state::draining : slot_word::state::empty);
    }
    if (old.is_clean()) move.to = slot_for(set, old);
    return move;
  }

  /// Ends a move into the slot. Order: release; pairs with whoever drains it.
  SLUICE_HD void filled(std::uint32_t slot) const {
    end(slot, slot_word::state::full, lane::order_of("cache.tier_filled", lane::release));
  }
  /// Ends a move out of it. Order: release; our reads come before the writes of whoever fills it next.
  SLUICE_HD void drained(std::uint32_t slot) const {
    end(slot, kind_ == tier_kind::inclusive ? slot_word::state::full : slot_word::state::empty,
        lane::order_of("cache.tier_drained", lane::release));
  }

 private:
  SLUICE_HD lane::device_ref<std::uint64_t> word(std::uint32_t slot) const {
    return lane::on_device(words_[slot]);
  }
  /// Where the page goes that gave up its frame; none where its slot has it already, or none can be had.
  SLUICE_HD std::uint32_t slot_for(std::uint32_t set, frame_word old) const {
    const bucket_view seen = find(set, old.tag());
    const bool unchanged = old.last() == frame_word::mode::load || lane::planted("cache.tier_keep_stale");
    if (seen.own != no_slot && unchanged) return no_slot;
    const std::uint32_t slot = seen.own != no_slot ? seen.own : seen.spare;
    if (slot != no_slot) start(slot, old.tag(), seen.newest + 1, slot_word::state::filling);
    return slot;
  }
  SLUICE_HD void start(std::uint32_t slot, std::uint32_t tag, std::uint64_t stamp,
                       slot_word::state is) const {
    // Acquire pairs with filled() and drained(): the slot's bytes are visible, and its last readers done.
    (void)look(slot, lane::order_of("cache.tier_start", lane::acquire));
    word(slot).store(slot_word(tag, stamp, is).bits(), lane::relaxed);
  }
  SLUICE_HD void end(std::uint32_t slot, slot_word::state is, lane::order o) const {
    word(slot).store(look(slot).as(is).bits(), o);
  }

  std::uint64_t* words_ = nullptr;
  std::byte* pages_ = nullptr;
  tier_shape shape_;
  std::uint32_t page_shift_ = 12;
  tier_kind kind_ = tier_kind::exclusive;
};

}  // namespace sluice::cache
