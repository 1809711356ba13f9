// Which block the n-th command of the raw I/O benchmark moves: integers only, nothing remembered.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/lane/hd.h"

namespace sluice::tool {

enum class io_pattern : std::uint8_t {
  random,      ///< every block once before any comes again
  uniform,     ///< each drawn for itself: repetitions are as likely as chance has them
  sequential,  ///< one after the other
  zipf,        ///< the r-th of the favourites as often as 1 / r, alike between two powers of two
};

/// A bijection of the numbers below 2^bits: odd multiplications, xor-shifts and additions of their low bits
/// are.
SLUICE_HD inline std::uint64_t scattered(std::uint64_t x, std::uint32_t bits, std::uint64_t key) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const std::uint32_t half = bits / 2 + 1;
  x = (x + mix(key)) & mask;
  for (int round = 0; round < 2; ++round) {
    x = (x * 0xd6e8feb86659fd93ULL) & mask;
    x ^= x >> half;
  }
  return (x * 0xff51afd7ed558ccdULL) & mask;
}

/// A rank from 0 below 2^bits: first a power of two, all alike, then one of the ranks up to the next.
SLUICE_HD inline std::uint64_t zipf_rank(std::uint64_t draw, std::uint32_t bits) {
  const std::uint64_t octave = (draw >> 32) * bits >> 32;
  return (std::uint64_t{1} << octave | (mix(draw) & ((std::uint64_t{1} << octave) - 1))) - 1;
}

/// Whether a command of this draw writes, as `in_1024` of 1024 do: by bits that decide on nothing else.
SLUICE_HD inline bool draws_write(std::uint64_t draw, std::uint32_t in_1024) {
  return (draw & 1023U) < in_1024;
}

/// Block of the n-th command among 2^bits, 1 to 40 bits.
SLUICE_HD inline std::uint64_t drawn_block(io_pattern pattern, std::uint64_t n, std::uint32_t bits,
                                           std::uint64_t seed) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  switch (pattern) {
    case io_pattern::sequential:
      return n & mask;
    case io_pattern::uniform:
      return mix(n + mix(seed)) & mask;
    case io_pattern::zipf:
      return scattered(zipf_rank(mix(n + mix(seed)), bits), bits, seed);
    case io_pattern::random:
    default:
      return scattered(n & mask, bits, seed + (n & ~mask));  // each pass has an order of its own
  }
}

}  // namespace sluice::tool
