#include "controller/region_table.h"

#include <algorithm>

namespace sluice::controller {

void region_table::add(bus_address at, std::uint64_t bytes) {
  remove(at, bytes);
  const mapping given{{at.value, at.value + bytes}, ++serial_};
  mappings_.insert(std::lower_bound(mappings_.begin(), mappings_.end(), given), given);
  merge();
}

void region_table::remove(bus_address at, std::uint64_t bytes) {
  const extent region{at.value, at.value + bytes};
  if (std::erase_if(mappings_, [&](const mapping& each) { return each.where == region; }) > 0) merge();
}

void region_table::merge() {
  merged_.clear();
  for (const mapping& each : mappings_) {
    const extent& region = each.where;
    if (!merged_.empty() && region.begin <= merged_.back().end)
      merged_.back().end = std::max(merged_.back().end, region.end);
    else
      merged_.push_back(region);
  }
}

region_table::extent region_table::around(bus_address at) const {
  const auto after = std::upper_bound(merged_.begin(), merged_.end(), at.value,
                                      [](std::uint64_t value, const extent& e) { return value < e.begin; });
  if (after == merged_.begin() || at.value >= std::prev(after)->end) return {};
  return *std::prev(after);
}

std::byte* region_table::reach(bus_address at, std::uint64_t bytes) const {
  return around(at).holds(at.value, bytes) ? reinterpret_cast<std::byte*>(at.value) : nullptr;
}

}  // namespace sluice::controller
