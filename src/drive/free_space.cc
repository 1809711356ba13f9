#include "drive/free_space.h"

#include <algorithm>

#include "sluice/base/bits.h"

namespace sluice::drive {

std::vector<std::pair<std::uint64_t, std::uint64_t>> taken_runs(const manifest& content) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (const dataset& each : content.datasets) {
    if (each.bytes != 0) taken.emplace_back(each.first_byte, each.bytes);
    if (each.sealed)
      taken.emplace_back(each.sealed->first_byte,
                         seal_shape(each.bytes, each.sealed->unit, content.block_size).bytes());
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

std::optional<std::uint64_t> first_gap(const manifest& content, std::uint64_t bytes) {
  const std::uint64_t end = content.shape().bytes();
  std::uint64_t at = 0;
  for (const auto& [first, run] : taken_runs(content)) {
    if (first - at >= bytes) break;
    at = align_up(first + run, largest_page);
  }
  if (at > end || bytes > end - at) return std::nullopt;
  return at;
}

}  // namespace sluice::drive
