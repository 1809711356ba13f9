// Steady state: from when on a rate that was measured slice by slice no longer changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::tool {

/// The criterion of SNIA's Solid State Storage Performance Test Specification 2.0.1 (2.1.24): over five
/// rounds the rate stays within 20 % of its mean, and its fitted line rises or falls by no more than 10 % of
/// it.
struct steady_state {
  static constexpr std::size_t rounds = 5;
  static constexpr double most_range = 0.20, most_slope = 0.10;

  bool reached = false;
  std::size_t first = 0;  ///< slice from which on it held, to the end; 0 where it never did
  double range = 0;       ///< (highest - lowest) / mean of the rounds from there
  double slope = 0;       ///< (end - begin) / mean of the fitted line
};

/// Of what was counted in slices of equal length. The longest steady end is taken that has at least half of
/// them; too few slices for five rounds, or none counted, are never steady.
steady_state find_steady_state(std::span<const std::uint64_t> slices);

}  // namespace sluice::tool
