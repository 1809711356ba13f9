// What A and B hold: values drawn from a seed, the same wherever they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sluice/base/bits.h"

namespace sluice::vector_add {

enum class operand : std::uint8_t { a, b };

/// Element i. Floating-point values are whole multiples of a small power of two from -1 up to 1: none of
/// their sums is infinite or no number.
template <class T>
constexpr T operand_value(std::uint64_t seed, operand of, std::uint64_t i) {
  const std::uint64_t drawn = mix(mix(2 * seed + static_cast<std::uint64_t>(of) + 1) + i);
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int bits = sizeof(T) == 4 ? 24 : 53;
    constexpr T half = static_cast<T>(std::uint64_t{1} << (bits - 1));
    return static_cast<T>(drawn >> (64 - bits)) / half - 1;
  } else {
    return static_cast<T>(drawn >> (64 - 8 * sizeof(T)));
  }
}

/// The elements from the first-th on.
template <class T>
void fill_operand(std::span<T> to, std::uint64_t seed, operand of, std::uint64_t first) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = operand_value<T>(seed, of, first + k);
}

}  // namespace sluice::vector_add
