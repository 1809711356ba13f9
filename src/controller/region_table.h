// What the controller's DMA may touch: the stand-in for an IOMMU. An address outside is an error status,
// never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/base/types.h"

namespace sluice::controller {

/// Regions of host memory by bus address (for a software controller, the CPU's own address). A plain value:
/// each service thread holds its own copy, exchanged only while it has no DMA under way.
class region_table {
 public:
  /// Idempotent for one region.
  void add(bus_address at, std::uint64_t bytes);
  void remove(bus_address at, std::uint64_t bytes);

  /// The CPU's address of `bytes` at `at`, or null unless every byte is mapped.
  std::byte* reach(bus_address at, std::uint64_t bytes) const;

  /// Mapped bytes without a gap.
  struct extent {
    std::uint64_t begin = 0, end = 0;
    bool holds(std::uint64_t at, std::uint64_t bytes) const {
      return at >= begin && at <= end && bytes <= end - at;
    }
    friend auto operator<=>(const extent&, const extent&) = default;
  };
  /// The whole extent that `at` lies in; empty where it is not mapped.
  extent around(bus_address at) const;

 private:
  void merge();

  std::vector<extent> regions_;  // sorted, as they were given
  std::vector<extent> merged_;   // their union: sorted, disjoint, not touching
};

}  // namespace sluice::controller
