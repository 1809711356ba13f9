// How much computing takes as long as something that was measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace sluice::tool {

/// As many steps as take about `seconds`, where `seconds_of(steps)` runs that many and measures them: more
/// and more, until they do. Nothing runs longer than some three times `seconds` and what a clock adds,
/// however its measures scatter.
inline std::uint64_t steps_that_take(double seconds, const std::function<double(std::uint64_t)>& seconds_of) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  std::uint64_t steps = 64;
  double took = seconds_of(steps);
  while (took < seconds && steps < most) {
    steps *= 2;
    took = seconds_of(steps);
  }
  const double share = took > 0 ? std::min(seconds / took, 1.0) : 1.0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * static_cast<double>(steps)));
}

}  // namespace sluice::tool
