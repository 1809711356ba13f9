// A worker thread's lanes in production: round and round, one step of the ring a relaxation.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "lane/crew.h"
#include "sluice/lane/sleep.h"

namespace sluice::lane::executor {

/// One launch, as its workers share it.
struct cpu_launch {
  crew_shape shape;
  std::function<void()> body;
  std::uint32_t most_blocks = 1;  ///< in flight on each worker

  std::atomic<std::uint32_t> next_block{0};
  std::atomic<bool> failed{false};
  std::mutex failure_guard;
  std::exception_ptr failure;  ///< the first one

  void fail(std::exception_ptr what);
};

class worker final : public crew {
 public:
  explicit worker(std::uint32_t processor) : processor_(processor) {}

  /// Takes part in the launch until no block of it is left for this thread.
  void work_on(cpu_launch& launch);

  void relax() override;
  void note_bell() override { naps_.expect_news(); }

 protected:
  bool claim_block(std::uint32_t& index) override;
  bool failed() const override { return launch_->failed.load(std::memory_order_relaxed); }
  void note_failure(std::exception_ptr what) override { launch_->fail(std::move(what)); }
  void make_ready(strand& which, bool soon) override;
  void make_waiting(strand& which) override;
  strand* pick() override { return cursor_; }

 private:
  std::uint32_t processor_;
  cpu_launch* launch_ = nullptr;
  strand* cursor_ = nullptr;  ///< in the ring of ready strands: the running one, or whoever is next
  std::uint32_t ready_ = 0;
  std::uint32_t wakes_ = 0;
  std::uint32_t relaxations_ = 0;
  napper naps_;
};

}  // namespace sluice::lane::executor
