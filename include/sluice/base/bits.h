// Small arithmetic on powers of two and hashes, usable on the host and in kernels alike.
#pragma once

#include <bit>
#include <cstdint>

namespace sluice {

constexpr bool is_power_of_two(std::uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

/// The exponent of a power of two.
constexpr std::uint32_t log2_exact(std::uint64_t power) {
  std::uint32_t exponent = 0;
  while ((power >> exponent) > 1) ++exponent;
  return exponent;
}

constexpr std::uint64_t divide_up(std::uint64_t x, std::uint64_t by) { return (x + by - 1) / by; }

/// `x` rounded up to a multiple of `unit`, a power of two.
constexpr std::uint64_t align_up(std::uint64_t x, std::uint64_t unit) { return (x + unit - 1) & ~(unit - 1); }

/// A mix of all 64 bits into all 64 bits, and a bijection (MurmurHash3's finaliser).
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

}  // namespace sluice
