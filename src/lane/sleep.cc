#include "sluice/lane/sleep.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace sluice::lane::executor {

namespace {

constexpr std::uint64_t nanoseconds_a_second = 1'000'000'000;

void relax_while_one(std::uint32_t& word, std::chrono::nanoseconds timeout) {
  const std::uint64_t end = clock_ns() + static_cast<std::uint64_t>(timeout.count());
  while (on_system(word).load(relaxed) == 1 && clock_ns() < end) relax();
}

}  // namespace

void wait_while_one(std::uint32_t& word, std::chrono::nanoseconds timeout) {
  if (exploring) return relax_while_one(word, timeout);
  const auto count = static_cast<std::uint64_t>(timeout.count());
  const timespec limit{static_cast<time_t>(count / nanoseconds_a_second),
                       static_cast<long>(count % nanoseconds_a_second)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &limit, nullptr, 0);
}

void wake(std::uint32_t& sleeper) {
  // Whoever clears the word wakes: the others find it 0. The sleeper looks at its doorbells again, so this
  // orders nothing.
  if (on_system(sleeper).exchange(0, relaxed) == 0 || exploring) return;
  syscall(SYS_futex, &sleeper, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace sluice::lane::executor
