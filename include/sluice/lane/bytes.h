// Wire structures stored by a lane with the widest accesses it has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/lane/hd.h"

namespace sluice::lane {

/// The widest access of one lane.
struct alignas(16) word16 {
  std::uint64_t low, high;
};

/// Stores a wire structure with the widest stores. T: trivially copyable, a multiple of 16 bytes, aligned
/// to 16.
template <class T>
SLUICE_HD SLUICE_INLINE void store_wide(T& to, const T& from) {
  static_assert(sizeof(T) % sizeof(word16) == 0 && alignof(T) >= alignof(word16));
#if SLUICE_ON_GPU
  const auto* source = reinterpret_cast<const word16*>(&from);
  auto* target = reinterpret_cast<word16*>(&to);
#pragma unroll
  for (std::size_t i = 0; i < sizeof(T) / sizeof(word16); ++i) target[i] = source[i];
#else
  to = from;
#endif
}

}  // namespace sluice::lane
