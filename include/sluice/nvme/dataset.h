// Dataset Management: the list of ranges that a host gives hints about (NVM Command Set 1.0, section 3.2.3).
#pragma once

#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/nvme/command.h"

namespace sluice::nvme {

struct dataset_range {
  std::uint32_t attributes;  ///< context attributes, hints
  std::uint32_t blocks;      ///< length in logical blocks, not 0's based
  std::uint64_t first;       ///< starting LBA
};
static_assert(sizeof(dataset_range) == 16);

inline constexpr std::uint32_t max_dataset_ranges = 256;
inline constexpr std::uint32_t dataset_deallocate = 1U << 2;  ///< CDW11 AD

/// Deallocates the blocks of `ranges` (1 to 256) ranges that lie at the PRPs.
constexpr submission_entry deallocate_command(std::uint16_t id, std::uint32_t nsid, std::uint32_t ranges,
                                              bus_address prp1, bus_address prp2) {
  return {static_cast<std::uint32_t>(opcode::dataset_management) | (std::uint32_t{id} << 16),
          nsid,
          0,
          0,
          0,
          prp1.value,
          prp2.value,
          ranges - 1,
          dataset_deallocate,
          0,
          0,
          0,
          0};
}

}  // namespace sluice::nvme
