// What lanes that serve others do while there is nothing to do.
#pragma once

#include <cstdint>

#include "sluice/lane/hd.h"
#if SLUICE_ON_GPU
#include "sluice/lane/wait.h"
#else
#include <chrono>

#include "sluice/lane/sleep.h"
#endif

namespace sluice::lane {

/// After the n-th fruitless look in a row. A GPU's lane pauses for a moment; on the CPU its thread sleeps,
/// from the fourth look on, until ring() on a doorbell that names `sleeper`, or for `nanoseconds`; not at all
/// where `stirred()` says that there is work. Lanes:  one; the thread's other lanes sleep with it. Order:
/// `stirred` must load the doorbells seq_cst (sleep_unless()).
template <class Stirred>
SLUICE_HD inline void rest([[maybe_unused]] std::uint32_t* sleeper, std::uint32_t looks,
                           [[maybe_unused]] std::uint64_t nanoseconds, [[maybe_unused]] Stirred&& stirred) {
#if SLUICE_ON_GPU
  __nanosleep(looks < 16 ? 20 : 100);
#else
  constexpr std::uint32_t before_sleep = 3;
  if (looks > before_sleep) sleep_unless(*sleeper, std::chrono::nanoseconds(nanoseconds), stirred);
#endif
}

/// Tells lanes that wait on this processor's threads that words they look at have changed (sleep.h).
SLUICE_HD inline void tell_waiting_lanes() {
#if !SLUICE_ON_GPU
  spread_news();
#endif
}

}  // namespace sluice::lane
