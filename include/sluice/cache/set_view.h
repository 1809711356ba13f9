// What one look at all ways of a set shows, as bits by position: the ways in the order in which they are
// looked at.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/cache/directory.h"
#include "sluice/cache/frame_word.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/mutant.h"
#include "sluice/lane/pair.h"
#include "sluice/lane/team.h"

namespace sluice::cache {

inline constexpr std::uint32_t no_way = ~0U;

/// The ways of a set a moment ago. Others may pin them, write to them and finish transfers at any time; only
/// who holds the set's lock takes frames.
/// Order: relaxed. Whoever goes on with a way changes its word by compare-exchange, with the order it needs.
class set_view {
 public:
  SLUICE_HD set_view(const directory_ref& directory, const directory_place& at)
      : directory_(directory), at_(at) {
    constexpr std::uint32_t together = 2;
    const std::uint32_t quads = directory.shape().quads();
    for (std::uint32_t k = 0; k < quads; k += together) {
      // All loads of the step are on their way at once.
      lane::pair words[together * 2];
      for (std::uint32_t j = 0; j < together; ++j) {
        std::uint64_t* const quad = directory.word_address(
            directory.frame(at.set, at.quad_at(k + j < quads ? k + j : 0, directory.shape()) * 4));
        words[j * 2] = lane::load_pair(quad + at.half() * 2, lane::relaxed);
        words[j * 2 + 1] = lane::load_pair(quad + (at.half() * 2 ^ 2U), lane::relaxed);
      }
      for (std::uint32_t j = 0; j < together && k + j < quads; ++j)
        for (std::uint32_t i = 0; i < 4; ++i)
          note((k + j) * 4 + i, frame_word(words[j * 2 + i / 2].words[i & 1U]));
    }
  }

  SLUICE_HD const directory_ref& directory() const { return directory_; }
  SLUICE_HD const directory_place& place() const { return at_; }
  SLUICE_HD std::uint32_t set() const { return at_.set; }
  SLUICE_HD std::uint32_t tag() const { return at_.tag; }
  SLUICE_HD std::uint32_t ways() const { return directory_.shape().ways; }
  /// Positions, of which some have no way: those never are in any of the masks.
  SLUICE_HD std::uint32_t positions() const { return directory_.shape().quads() * 4; }
  SLUICE_HD std::uint32_t frame(std::uint32_t position) const {
    return directory_.frame(at_.set, at_.way(position, directory_.shape()));
  }
  /// As it is now.
  SLUICE_HD frame_word word(std::uint32_t position) const {
    return directory_.look(frame(position), lane::relaxed);
  }

  /// The frame that names the page, if any.
  SLUICE_HD const sighting& page() const { return page_; }
  SLUICE_HD std::uint32_t all() const { return all_; }
  SLUICE_HD std::uint32_t absent() const { return absent_; }    ///< nobody's, and not used
  SLUICE_HD std::uint32_t victims() const { return victims_; }  ///< clean, and not used
  SLUICE_HD std::uint32_t referenced() const { return referenced_; }
  SLUICE_HD std::uint32_t proven() const { return proven_; }
  SLUICE_HD std::uint32_t dirty() const { return dirty_; }
  SLUICE_HD std::uint32_t cleanable() const { return cleanable_; }
  SLUICE_HD std::uint32_t failed() const { return failed_; }  ///< dirty, with errors on record
  SLUICE_HD std::uint32_t held() const { return held_; }
  /// A frame whose transfer is worth waiting for, if any: held ones come free when the user likes.
  SLUICE_HD std::uint32_t moving_frame() const {
    const std::uint32_t among = moving_ & ~held_;
    return among == 0 ? no_frame_index : frame(lane::lowest_bit(among));
  }
  SLUICE_HD bool held_but_one() const { return lane::bit_count(held_) + 1 >= ways(); }
  /// Whether there is a frame to take or a write to start.
  SLUICE_HD bool has_work() const { return (absent_ | victims_ | cleanable_) != 0; }
  /// A number that changes from one choice to the next.
  SLUICE_HD std::uint64_t salt() const { return mix(at_.tag + sum_); }

  SLUICE_HD void forget_references(std::uint32_t positions) const {
    for (std::uint32_t rest = positions & referenced_; rest != 0; rest &= rest - 1)
      directory_.word(frame(lane::lowest_bit(rest))).fetch_and(~frame_word::referenced_bit, lane::relaxed);
  }
  SLUICE_HD void mark_proven(std::uint32_t positions) const {
    for (std::uint32_t rest = positions & ~proven_; rest != 0; rest &= rest - 1)
      directory_.word(frame(lane::lowest_bit(rest))).fetch_or(frame_word::proven_bit, lane::relaxed);
  }

 private:
  SLUICE_HD SLUICE_INLINE void note(std::uint32_t position, frame_word word) {
    const std::uint32_t way = at_.way(position, directory_.shape());
    if (way >= ways()) return;
    const auto put = [position](std::uint32_t& mask, bool is) { mask |= (is ? 1U : 0U) << position; };
    if (word.names(at_.tag)) page_ = {directory_.frame(at_.set, way), word};
    sum_ += word.bits();
    put(all_, true);
    put(absent_, word.is_absent() && word.is_unpinned());
    put(victims_, word.is_clean() && word.is_unpinned());
    put(referenced_, word.referenced());
    put(proven_, word.proven());
    put(dirty_, word.is_dirty());
    put(cleanable_, word.is_cleanable() || (lane::planted("cache.clean_pinned") && word.is_dirty()));
    put(failed_, word.is_dirty() && word.errors() != 0);
    put(held_, word.holds() != 0);
    put(moving_, word.is_loading() || word.is_writing());
  }

  const directory_ref& directory_;
  directory_place at_;
  sighting page_;
  std::uint64_t sum_ = 0;  // of all words
  std::uint32_t all_ = 0, absent_ = 0, victims_ = 0, referenced_ = 0, proven_ = 0, dirty_ = 0, cleanable_ = 0,
                failed_ = 0, held_ = 0, moving_ = 0;
};

}  // namespace sluice::cache
