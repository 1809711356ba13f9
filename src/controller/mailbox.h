// How other threads reach into a polling thread: a closure to run between two passes, and the word that it
// sleeps on.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "sluice/base/types.h"
#include "sluice/lane/sleep.h"

namespace sluice::controller {

class mailbox {
 public:
  /// Runs `what` on the owning thread and returns when it is done. Threads: any but the owner.
  void call(const std::function<void()>& what);
  /// The owner, between passes: runs what came. True where something did.
  bool deliver();
  bool has_mail() const { return letter_.load(std::memory_order_seq_cst) != nullptr; }
  /// Wakes the owner, or keeps it from falling asleep.
  void kick();
  /// Sleeps until rung, kicked, or `nanoseconds` have passed; not at all where `stirred()` is true.
  template <class Stirred>
  void sleep(std::uint64_t nanoseconds, Stirred&& stirred) {
    lane::sleep_unless(sleeper_, std::chrono::nanoseconds(nanoseconds),
                       [&] { return stirred() || called(); });
    kicked_.store(false, std::memory_order_seq_cst);
  }
  /// The same, for what also ends when the eventfd `bell` is written: `wait()`.
  template <class Stirred, class Wait>
  void sleep_in(int bell, Stirred&& stirred, Wait&& wait) {
    lane::wait_unless(
        sleeper_, bell, [&] { return stirred() || called(); }, wait);
    kicked_.store(false, std::memory_order_seq_cst);
  }
  std::uint32_t* sleeper() { return &sleeper_; }

 private:
  bool called() const { return has_mail() || kicked_.load(std::memory_order_seq_cst); }

  std::mutex callers_;  // one call at a time
  std::mutex mutex_;
  std::condition_variable done_;
  std::atomic<const std::function<void()>*> letter_{nullptr};
  std::atomic<bool> kicked_{false};
  alignas(line_bytes) std::uint32_t sleeper_ = 0;
};

}  // namespace sluice::controller
