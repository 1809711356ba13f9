// How a service thread sleeps until a doorbell rings, without ever missing one.
#pragma once

#include <chrono>
#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/doorbell.h"

namespace sluice::lane {

namespace executor {
/// Sleeps while `word` is 1, at most `timeout` (it may also end early). Under an exploration: lets the others
/// run.
void wait_while_one(std::uint32_t& word, std::chrono::nanoseconds timeout);
}  // namespace executor

/// Sleeps until ring() on a doorbell that names `sleeper`, or `timeout`, unless `look()` already finds work.
/// `sleeper`: 0 whenever no thread sleeps on it; at most one thread does.
/// Order:  the look must load the doorbells seq_cst. Pairs with ring(): either it sees our word, or our look
/// its value. Returns true where the look found work, false where it slept; then look again.
template <class Look>
bool sleep_unless(std::uint32_t& sleeper, std::chrono::nanoseconds timeout, Look&& look) {
  on_system(sleeper).store(1, cuda::std::memory_order_seq_cst);
  const bool found = look();
  if (!found) executor::wait_while_one(sleeper, timeout);
  on_system(sleeper).store(0, relaxed);
  return found;
}

}  // namespace sluice::lane
