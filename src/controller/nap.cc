#include "controller/nap.h"

#include <sys/prctl.h>

#include <ctime>

namespace sluice::controller {

void set_fine_timers() { prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); }

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace sluice::controller
