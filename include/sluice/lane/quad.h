// Four neighbouring 64-bit words read by two loads: on a GPU one 32-byte sector, the least that memory gives.
#pragma once

#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

struct quad {
  std::uint64_t words[4];
};

/// Reads four words, each as acquire at device scope would. `from` is aligned to 32 bytes.
/// Order: each word pairs with the release that stored it; the four are not one snapshot.
SLUICE_HD SLUICE_INLINE quad load_quad(std::uint64_t* from, [[maybe_unused]] order o) {
#if SLUICE_ON_GPU
  unsigned long long a, b, c, d;
  asm volatile("ld.acquire.gpu.global.v2.u64 {%0,%1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
  asm volatile("ld.acquire.gpu.global.v2.u64 {%0,%1}, [%2];" : "=l"(c), "=l"(d) : "l"(from + 2) : "memory");
  return {{a, b, c, d}};
#else
  return {{on_device(from[0]).load(o), on_device(from[1]).load(o), on_device(from[2]).load(o),
           on_device(from[3]).load(o)}};
#endif
}

}  // namespace sluice::lane
