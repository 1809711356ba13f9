// Two neighbouring 64-bit words read by one load on a GPU; two such loads may be on their way together.
#pragma once

#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

struct pair {
  std::uint64_t words[2];
};

/// Reads two words, each as a load of that order (relaxed, else acquire) at device scope would. `from` is
/// aligned to 16 bytes.
/// Order: with acquire, each word pairs with the release that stored it; the two are not one snapshot.
SLUICE_HD SLUICE_INLINE pair load_pair(std::uint64_t* from, order o) {
#if SLUICE_ON_GPU
  unsigned long long a, b;
  if (o == relaxed)
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0,%1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
  else
    asm volatile("ld.acquire.gpu.global.v2.u64 {%0,%1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
  return {{a, b}};
#else
  return {{on_device(from[0]).load(o), on_device(from[1]).load(o)}};
#endif
}

}  // namespace sluice::lane
