// Which page has to go: replacement policies, each a small type that chooses among the ways of one locked
// set.
#pragma once

#include <concepts>
#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/cache/directory.h"
#include "sluice/cache/frame_word.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"

namespace sluice::cache {

inline constexpr std::uint32_t no_way = ~0U;

/// The ways of a set whose lock the caller holds. Others may still pin them, write to them, and finish
/// transfers.
class set_view {
 public:
  SLUICE_HD set_view(const directory_ref& directory, const directory_place& at)
      : directory_(directory), at_(at) {}

  SLUICE_HD std::uint32_t ways() const { return directory_.shape().ways; }
  SLUICE_HD std::uint32_t frame(std::uint32_t way) const { return directory_.frame(at_.set, way); }
  SLUICE_HD frame_word word(std::uint32_t way) const { return directory_.look(frame(way), lane::relaxed); }
  /// The way of that rank when the ways of the page's preferred quad come first.
  SLUICE_HD std::uint32_t way(std::uint32_t rank) const { return (at_.quad * 4 + rank) % ways(); }
  /// A number that changes from one choice to the next.
  SLUICE_HD std::uint64_t salt() const { return mix(at_.tag + word(at_.tag % ways()).bits()); }

  SLUICE_HD void forget_reference(std::uint32_t way) const {
    directory_.word(frame(way)).fetch_and(~frame_word::referenced_bit, lane::relaxed);
  }
  SLUICE_HD void mark_proven(std::uint32_t way) const {
    directory_.word(frame(way)).fetch_or(frame_word::proven_bit, lane::relaxed);
  }

 private:
  const directory_ref& directory_;
  const directory_place& at_;
};

/// A policy chooses a way whose word is a victim, or no_way. Empty and error frames have been taken before it
/// is asked.
template <class P>
concept replacement_policy = requires(const set_view& set) {
  { P::victim(set) } -> std::same_as<std::uint32_t>;
  { P::first_use_counts } -> std::convertible_to<bool>;  // a new page starts with its reference bit set
  { P::name } -> std::convertible_to<const char*>;
};

/// Second chance by a reference bit. Its hand starts at the page's preferred quad, so there are as many hands
/// as quads, and pages stay where the probe looks first.
struct clock {
  static constexpr const char* name = "clock";
  static constexpr bool first_use_counts = true;

  SLUICE_HD static std::uint32_t victim(const set_view& set) {
    for (std::uint32_t step = 0; step < 2 * set.ways(); ++step) {
      const std::uint32_t way = set.way(step);
      const frame_word word = set.word(way);
      if (!word.is_victim()) continue;
      if (!word.referenced()) return way;
      set.forget_reference(way);
    }
    return no_way;
  }
};

/// The page that came first goes first: the way that was taken the fewest times.
struct fifo {
  static constexpr const char* name = "fifo";
  static constexpr bool first_use_counts = false;

  SLUICE_HD static std::uint32_t victim(const set_view& set) {
    std::uint32_t oldest = no_way;
    std::uint32_t version = 0;
    for (std::uint32_t way = 0; way < set.ways(); ++way) {
      const frame_word word = set.word(way);
      if (!word.is_victim()) continue;
      const auto ahead = static_cast<std::int16_t>(word.version() - version);  // versions wrap
      if (oldest != no_way && ahead >= 0) continue;
      oldest = way;
      version = word.version();
    }
    return oldest;
  }
};

struct random {
  static constexpr const char* name = "random";
  static constexpr bool first_use_counts = false;

  SLUICE_HD static std::uint32_t victim(const set_view& set) {
    const auto start = static_cast<std::uint32_t>(set.salt() % set.ways());
    for (std::uint32_t step = 0; step < set.ways(); ++step) {
      const std::uint32_t way = (start + step) % set.ways();
      if (set.word(way).is_victim()) return way;
    }
    return no_way;
  }
};

/// After S3-FIFO (SOSP '23, doi 10.1145/3600006.3613147): new pages are on trial and go first; one that was
/// asked for again while on trial is proven, and then has a second chance each time. Without its ghost queue,
/// for which there are no bits.
struct s3_fifo {
  static constexpr const char* name = "s3-fifo";
  static constexpr bool first_use_counts = false;

  SLUICE_HD static std::uint32_t victim(const set_view& set) {
    const auto start = static_cast<std::uint32_t>(set.salt() % set.ways());
    for (std::uint32_t step = 0; step < 3 * set.ways(); ++step) {
      const std::uint32_t way = (start + step) % set.ways();
      const frame_word word = set.word(way);
      if (!word.is_victim()) continue;
      const bool trial_over = step >= set.ways();
      if (!word.referenced() && (!word.proven() || trial_over)) return way;
      if (!word.referenced()) continue;
      set.forget_reference(way);
      if (!word.proven()) set.mark_proven(way);
    }
    return no_way;
  }
};

static_assert(replacement_policy<clock> && replacement_policy<fifo> && replacement_policy<random> &&
              replacement_policy<s3_fifo>);

}  // namespace sluice::cache
