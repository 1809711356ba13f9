// A CPU thread that serves some of the controller's I/O queues: looks at doorbells, fetches, executes, posts,
// and sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "controller/executor.h"
#include "controller/mailbox.h"
#include "controller/queues.h"

namespace sluice::controller {

class service_thread {
 public:
  service_thread(media& on, unsigned depth, const fault_dice& dice, event_log& log, std::uint64_t salt);
  ~service_thread();
  service_thread(const service_thread&) = delete;
  service_thread& operator=(const service_thread&) = delete;

  /// Runs `what` on the thread, between commands, and returns when it is done. Threads: any but this one.
  void call(const std::function<void()>& what) { mailbox_.call(what); }

  // Only from within call().
  executor& work() { return executor_; }
  void adopt(submission_queue& queue) { queues_.push_back(&queue); }
  /// After it, the queue has no command under way and no answer pending. Errors of its media work are
  /// counted, not told.
  void retire(submission_queue& queue);
  /// From now on DMA reaches these regions only; none of what began before is still under way.
  void exchange_regions(const region_table& regions);

  /// The word that lanes wake the thread by; non-zero while it sleeps.
  std::uint32_t* sleeper() { return mailbox_.sleeper(); }
  const tallies& counts() const { return executor_.counts(); }

 private:
  void run();
  /// One look at every queue; true where anything moved.
  bool pass();
  /// Posts the answers that are due; true where there were some.
  bool post();
  bool serve(submission_queue& queue);
  void heed(ring_news tail, ring_news head);
  /// Called when a pass found nothing: spins a little, then sleeps until rung or due.
  void idle();
  /// Waits for the medium, or a ring.
  void await_media(std::uint64_t now);
  bool stirred() const;
  bool gpu_rings() const;

  executor executor_;
  event_log& log_;
  mailbox mailbox_;
  std::vector<submission_queue*> queues_;
  std::uint64_t idle_since_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace sluice::controller
