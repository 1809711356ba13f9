// Which block comes n-th where several drives lie one after the other: the benchmark's own pattern on each.
#pragma once

#include <cstdint>

#include "sluice/lane/hd.h"
#include "tools/sluice/io_pattern.h"

namespace sluice::tool {

struct block_order {
  io_pattern pattern;
  std::uint32_t drives;
  std::uint32_t bits;  ///< log2 of a drive's blocks
  std::uint64_t seed;

  /// Of all drives together.
  SLUICE_HD std::uint64_t blocks() const { return std::uint64_t{drives} << bits; }
  /// The drives take turns. A pattern that gives every block once before any again does so here too.
  SLUICE_HD std::uint64_t at(std::uint64_t n) const {
    return (n % drives << bits) + drawn_block(pattern, n / drives, bits, seed);
  }
};

}  // namespace sluice::tool
