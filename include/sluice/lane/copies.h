// Copies between memories that several lanes ask for and the whole team makes, many loads under way at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sluice/lane/frame_copy.h"

namespace sluice::lane {

/// One copy of each of the first `lanes` lanes of the team, all of `bytes` bytes. Addresses and `bytes` are
/// multiples of copy_piece.
/// Lanes:  all lanes of the team.
/// Order:  as copy_into_frame(), but that the caller has called fence_before_refill() where frames are
/// filled.
template <class Team>
SLUICE_HD void copy_each(const Team& team, std::uint32_t lanes, std::byte* to, const std::byte* from,
                         std::uint32_t bytes) {
#if SLUICE_ON_GPU
  constexpr std::uint32_t in_flight = 8;
  const std::uint32_t step = team.size() * copy_piece, own = team.rank() * copy_piece;
  std::uint32_t lane = 0, at = own;
  while (lane < lanes) {
    detail::piece pieces[in_flight] = {};
    std::uint32_t l = lane, a = at;
    const auto next = [&] {
      a += step;
      if (a - own < bytes) return;
      a = own;
      ++l;
    };
#pragma unroll
    for (std::uint32_t k = 0; k < in_flight; ++k) {
      const std::byte* const source = team.from(from, l < lanes ? l : 0) + a;
      if (l < lanes && a < bytes) pieces[k] = detail::load_from_anywhere(source);
      next();
    }
    l = lane, a = at;
#pragma unroll
    for (std::uint32_t k = 0; k < in_flight; ++k) {
      std::byte* const target = team.from(to, l < lanes ? l : 0) + a;
      if (l < lanes && a < bytes) detail::store_to_frame(target, pieces[k]);
      next();
    }
    lane = l, at = a;
  }
#else
  // Lanes of one thread gain nothing by sharing a copy.
  for (std::uint32_t at = 0; team.rank() < lanes && at < bytes; at += copy_piece) {
    if (at % 64 == 0) executor::schedule_point();
    detail::store_to_frame(to + at, from + at);
  }
#endif
}

/// One copy between addresses that are multiples of 4 only; `bytes` is one too. By all lanes of the team.
template <class Team>
SLUICE_HD void copy_words(const Team& team, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  for (std::uint32_t at = team.rank() * 4; at < bytes; at += team.size() * 4) {
    std::uint32_t word;
    memcpy(&word, __builtin_assume_aligned(from + at, 4), 4);
    memcpy(__builtin_assume_aligned(to + at, 4), &word, 4);
  }
}

}  // namespace sluice::lane
