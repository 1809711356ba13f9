#include "tools/sluice/steady_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace sluice::tool {

namespace {

/// The last slices, cut into rounds of equal length; what is over at the front is left out.
steady_state judge(std::span<const std::uint64_t> slices, std::size_t first) {
  constexpr std::size_t rounds = steady_state::rounds;
  const std::size_t each = (slices.size() - first) / rounds;
  const std::size_t begin = slices.size() - each * rounds;
  std::array<double, rounds> rates{};
  for (std::size_t i = 0; i < each * rounds; ++i) rates[i / each] += static_cast<double>(slices[begin + i]);
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / rounds;
  if (mean == 0) return {};
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  constexpr double middle = (rounds - 1) / 2.0;
  double along = 0, spread = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    const double x = static_cast<double>(i) - middle;
    along += x * rates[i];
    spread += x * x;
  }
  steady_state found{.reached = false,
                     .first = first,
                     .range = (*high - *low) / mean,
                     .slope = along / spread * (rounds - 1) / mean};
  found.reached =
      found.range <= steady_state::most_range && std::abs(found.slope) <= steady_state::most_slope;
  return found;
}

}  // namespace

steady_state find_steady_state(std::span<const std::uint64_t> slices) {
  if (slices.size() < 2 * steady_state::rounds) return {};
  steady_state last;
  for (std::size_t first = 0; first <= slices.size() / 2; ++first) {
    last = judge(slices, first);
    if (last.reached) return last;
  }
  last.first = 0;
  return last;
}

}  // namespace sluice::tool
