// Calls out of a hot path into code that is rarely run and large.
#pragma once

#include "sluice/lane/hd.h"

namespace sluice::lane {

/// Calls `function`, so that on a GPU the caller pays for it only when it calls. nvcc lets a kernel and the
/// functions that it names share out the registers between them: under a limit the caller then keeps its own
/// values in local memory all the time, for the sake of a call that it hardly ever makes (CUDA 13.0, sm_90:
/// ten accesses of local memory in a loop of 150 instructions). A function whose name the compiler has lost
/// keeps to the ABI: it saves what it overwrites.
template <class Result, class... Parameters>
SLUICE_HD SLUICE_INLINE Result far_call(Result (*function)(Parameters...), Parameters... with) {
#if SLUICE_ON_GPU
  asm volatile("" : "+l"(function));
#endif
  return function(with...);
}

}  // namespace sluice::lane
