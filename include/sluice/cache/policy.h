// Which page has to go: replacement policies, each a small type that chooses among the ways of one locked
// set by what a look at it shows.
#pragma once

#include <concepts>
#include <cstdint>

#include "sluice/cache/set_view.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/team.h"

namespace sluice::cache {

/// A policy chooses a position whose way is a victim, or no_way, and is asked by whoever holds the set's
/// lock. Empty and error frames have been taken before.
template <class P>
concept replacement_policy = requires(const set_view& set) {
  { P::victim(set) } -> std::same_as<std::uint32_t>;
  { P::first_use_counts } -> std::convertible_to<bool>;  // a new page starts with its reference bit set
  { P::name } -> std::convertible_to<const char*>;
};

namespace detail {

/// The first of `among` from `start` on, around the end; no_way where there is none.
SLUICE_HD inline std::uint32_t first_from(std::uint32_t among, std::uint32_t start) {
  const std::uint32_t ahead = among & ~0U << start;
  if (among == 0) return no_way;
  return lane::lowest_bit(ahead != 0 ? ahead : among);
}

/// Positions from `start` to before `end`, around the end.
SLUICE_HD inline std::uint32_t between(std::uint32_t start, std::uint32_t end) {
  const std::uint32_t before_end = (1U << end) - 1, from_start = ~0U << start;
  return end >= start ? before_end & from_start : before_end | from_start;
}

}  // namespace detail

/// Second chance by a reference bit. Its hand starts at the page's preferred ways, so there are as many hands
/// as halves of quads, and pages stay where the probe looks first.
struct clock {
  static constexpr const char* name = "clock";
  static constexpr bool first_use_counts = true;

  SLUICE_HD static std::uint32_t victim(const set_view& set) {
    const std::uint32_t victims = set.victims(), fresh = victims & ~set.referenced();
    if (victims == 0) return no_way;
    if (fresh == 0) return set.forget_references(victims), lane::lowest_bit(victims);
    const std::uint32_t chosen = lane::lowest_bit(fresh);
    set.forget_references(victims & detail::between(0, chosen));
    return chosen;
  }
};

/// The page that came first goes first: the way that was taken the fewest times.
struct fifo {
  static constexpr const char* name = "fifo";
  static constexpr bool first_use_counts = false;

  SLUICE_HD static std::uint32_t victim(const set_view& set) {
    std::uint32_t oldest = no_way, oldest_frame = 0;
    std::uint32_t version = 0;
    for (std::uint32_t rest = set.victims(); rest != 0; rest &= rest - 1) {
      const std::uint32_t position = lane::lowest_bit(rest), frame = set.frame(position);
      const std::uint32_t its = set.word(position).version();
      const auto ahead = static_cast<std::int16_t>(its - version);  // versions wrap
      if (oldest != no_way && (ahead > 0 || (ahead == 0 && frame > oldest_frame))) continue;
      oldest = position;
      oldest_frame = frame;
      version = its;
    }
    return oldest;
  }
};

struct random {
  static constexpr const char* name = "random";
  static constexpr bool first_use_counts = false;

  SLUICE_HD static std::uint32_t victim(const set_view& set) {
    return detail::first_from(set.victims(), static_cast<std::uint32_t>(set.salt() % set.positions()));
  }
};

/// After S3-FIFO (SOSP '23, doi 10.1145/3600006.3613147): new pages are on trial and go first; one that was
/// asked for again while on trial is proven, and then has a second chance each time. Without its ghost queue,
/// for which there are no bits.
struct s3_fifo {
  static constexpr const char* name = "s3-fifo";
  static constexpr bool first_use_counts = false;

  SLUICE_HD static std::uint32_t victim(const set_view& set) {
    const auto start = static_cast<std::uint32_t>(set.salt() % set.positions());
    const std::uint32_t victims = set.victims(), used = victims & set.referenced();
    const std::uint32_t trial = victims & ~set.referenced() & ~set.proven();
    const std::uint32_t chosen = detail::first_from(trial != 0 ? trial : victims, start);
    if (chosen == no_way) return no_way;
    const std::uint32_t passed = trial != 0 ? used & detail::between(start, chosen) : used;
    set.mark_proven(passed);
    set.forget_references(passed);
    return chosen;
  }
};

static_assert(replacement_policy<clock> && replacement_policy<fifo> && replacement_policy<random> &&
              replacement_policy<s3_fifo>);

}  // namespace sluice::cache
