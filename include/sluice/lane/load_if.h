// A load that only some lanes make, without a branch around it.
#pragma once

#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

/// The word where it is `wanted`, else 0. On a GPU one predicated load, so that lanes that want it and lanes
/// that do not stay together. Word: unsigned, of 4 or 8 bytes, in global memory.
/// Order: as a load of that order (relaxed, else acquire) at device scope, where it is made.
template <class Word>
SLUICE_HD SLUICE_INLINE Word load_if(bool wanted, Word& word, order o) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8);
#if SLUICE_ON_GPU
  const std::size_t at = __cvta_generic_to_global(&word);
  const std::uint32_t yes = wanted ? 1 : 0;
  Word value = 0;
#define SLUICE_LOAD_IF(sem, type, reg)                                                               \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld." sem ".gpu.global." type " %0, [%1]; }" \
               : "+" reg(value)                                                                      \
               : "l"(at), "r"(yes)                                                                   \
               : "memory")
  if constexpr (sizeof(Word) == 4) {
    if (o == relaxed)
      SLUICE_LOAD_IF("relaxed", "u32", "r");
    else
      SLUICE_LOAD_IF("acquire", "u32", "r");
  } else {
    if (o == relaxed)
      SLUICE_LOAD_IF("relaxed", "u64", "l");
    else
      SLUICE_LOAD_IF("acquire", "u64", "l");
  }
#undef SLUICE_LOAD_IF
  return value;
#else
  return wanted ? on_device(word).load(o) : 0;
#endif
}

}  // namespace sluice::lane
