// What the elements hold that the cache benchmark writes before it measures.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"

namespace sluice::tool {

/// Of elements of 8 bytes: the upper half names the element, the lower counts its writes.
inline constexpr std::uint64_t stamp_counts = 0xffff'ffffULL;
constexpr std::uint64_t element_stamp(std::uint64_t i) { return mix(i + 1) & ~stamp_counts; }

/// Element i of the type T, std::uint32_t or std::uint64_t.
template <class T>
constexpr T stamp_of(std::uint64_t i) {
  if constexpr (sizeof(T) == 4) return static_cast<T>(mix(i + 1) >> 32);
  return static_cast<T>(element_stamp(i));
}

/// What passes that store leave in it.
template <class T>
constexpr T stored_over(std::uint64_t i) {
  return static_cast<T>(~stamp_of<T>(i));
}

}  // namespace sluice::tool
