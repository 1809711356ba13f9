// The queue pairs that lanes use on one drive, and the thread that brings lost ones back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sluice/queue/queue_pair.h"

namespace sluice::queue {

/// Lanes' view: an array of queues of one drive. Trivially copyable.
struct queue_set_ref {
  const queue_fields* queues = nullptr;
  std::uint32_t count = 0;
};

/// Owns `count` queue pairs on a drive and watches them.
class queue_set {
 public:
  queue_set(drive::drive& on, backend lanes, std::uint32_t count, const queue_options& options);
  queue_set(const queue_set&) = delete;
  queue_set& operator=(const queue_set&) = delete;
  ~queue_set();

  queue_set_ref ref() const {
    return {table_.lanes_as<queue_fields>(), static_cast<std::uint32_t>(pairs_.size())};
  }
  drive::drive& owner() const { return drive_; }
  /// The first queue, for host threads; only where lanes are the CPU's.
  queue_pair_ref host_ref() const { return pairs_.front()->ref(); }
  /// Commands that lanes put on any of the rings.
  std::uint64_t issued() const;
  /// Queues lost and brought back, or given up, so far.
  std::uint32_t losses() const;

 private:
  void watch();

  drive::drive& drive_;
  std::vector<std::unique_ptr<queue_pair>> pairs_;
  memory::buffer table_;
  mutable std::mutex mutex_;  // between the watcher and the counters' readers
  std::condition_variable stop_signal_;
  bool stop_ = false;
  std::thread watcher_;
};

}  // namespace sluice::queue
