// What I/O commands are checked against.
#pragma once

#include <cstdint>

namespace sluice::controller {

struct limits {
  std::uint32_t block_shift = 9;
  std::uint64_t blocks = 0;
  std::uint32_t page = 4096;              ///< CC.MPS
  std::uint32_t max_transfer = 1U << 20;  ///< MDTS
  bool writable = true;
  bool write_through = false;  ///< the volatile write cache is switched off
};

}  // namespace sluice::controller
