// How threads sleep: a service thread until a doorbell rings, without ever missing one; a thread of lanes
// until there are news.
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
/// The word of a sleeper that an eventfd wakes; 1 is one that the word itself wakes.
constexpr std::uint32_t sleeps_on(int event) { return static_cast<std::uint32_t>(event) + 2; }

/// What a thread of waiting lanes knows of the news, between two naps.
class napper {
 public:
  /// The waiting that follows is likely to end soon: look more often.
  void expect_news() { fruitless_ = 0, quiet_since_ = 0; }
  /// Call after every waiting lane has looked once since the last call: offers the core to others, or, where
  /// that has borne no fruit for a while, naps until there are news.
  void pause();

 private:
  void nap();
  void sleep_until_news(std::uint64_t nanoseconds) const;
  void learn(std::uint64_t begun);

  std::uint32_t fruitless_ = 0;
  std::uint32_t offers_ = 2;       // before a nap; learnt from how soon after its beginning news came
  std::uint32_t heard_ = 0;        // what news there were before the lanes looked
  std::uint64_t quiet_since_ = 0;  // when the first nap of this waiting began; 0: there was none yet
  std::uint64_t usual_ns_ = 0;     // from there until news came: a running mean; 0: not known
};
}  // namespace executor

/// Ends the naps of CPU threads whose lanes all wait. For whoever changes words that lanes look at, such as a
/// drive that has posted completions; a nap ends by itself too, so that forgetting it costs time only.
/// Order:  release; pairs with the end of the nap: what the caller wrote before is seen.
void spread_news();

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

/// sleep_unless() for a thread that waits in the kernel for other things as well: ring() writes to `event`,
/// an eventfd, and `wait()` has to return once that is readable. A ring may write after its wait is over; the
/// next wait then ends at once.
template <class Look, class Wait>
bool wait_unless(std::uint32_t& sleeper, int event, Look&& look, Wait&& wait) {
  on_system(sleeper).store(executor::sleeps_on(event), cuda::std::memory_order_seq_cst);
  const bool found = look();
  if (!found) wait();
  on_system(sleeper).store(0, relaxed);
  return found;
}

}  // namespace sluice::lane
