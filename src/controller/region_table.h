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
  /// Idempotent for one region, but for its serial number.
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

  /// A region as it was given. A new serial number says that other memory may lie there now.
  struct mapping {
    extent where;
    std::uint64_t serial = 0;
    friend auto operator<=>(const mapping&, const mapping&) = default;
  };
  /// All regions, sorted.
  const std::vector<mapping>& mappings() const { return mappings_; }

 private:
  void merge();

  std::vector<mapping> mappings_;
  std::vector<extent> merged_;  // their union: sorted, disjoint, not touching
  std::uint64_t serial_ = 0;
};

}  // namespace sluice::controller
