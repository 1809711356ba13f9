// The CPU as a machine for lanes: worker threads that share the blocks of one launch after another.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lane/worker.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/lane/launch.h"

namespace sluice::lane {

namespace {

using executor::cpu_launch;
using executor::warp_width;

constexpr std::uint32_t most_block_lanes = 1024;

unsigned cores_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(CPU_COUNT(&set));
}

/// A launch with its place in the machine's line; `guard` of the line protects the rest.
struct queued_launch : cpu_launch {
  std::uint64_t ordinal = 0;
  unsigned at_work = 0;  ///< workers that have not finished with it
  std::chrono::steady_clock::time_point started, ended;
};

/// Launches in the order they were started; all workers finish one before any begins the next.
struct launch_line {
  std::mutex guard;
  std::condition_variable changed;
  std::deque<std::shared_ptr<queued_launch>> waiting;
  std::uint64_t started = 0;
  bool closing = false;
};

class cpu_running final : public running_launch {
 public:
  cpu_running(launch_line& line, std::shared_ptr<queued_launch> launch)
      : line_(line), launch_(std::move(launch)) {}
  cpu_running(const cpu_running&) = delete;
  cpu_running& operator=(const cpu_running&) = delete;
  ~cpu_running() override {
    std::unique_lock lock(line_.guard);
    line_.changed.wait(lock, [&] { return launch_->at_work == 0; });
  }

  bool finished() override {
    const std::lock_guard lock(line_.guard);
    return launch_->at_work == 0;
  }

  launch_report wait() override {
    std::unique_lock lock(line_.guard);
    line_.changed.wait(lock, [&] { return launch_->at_work == 0; });
    if (launch_->failure) std::rethrow_exception(launch_->failure);
    return {std::chrono::duration<double>(launch_->ended - launch_->started).count()};
  }

 private:
  launch_line& line_;
  std::shared_ptr<queued_launch> launch_;
};

class cpu_machine final : public machine {
 public:
  explicit cpu_machine(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  cpu_machine(const cpu_machine&) = delete;
  cpu_machine& operator=(const cpu_machine&) = delete;
  ~cpu_machine() override {
    {
      const std::lock_guard lock(line_.guard);
      line_.closing = true;
    }
    line_.changed.notify_all();
    for (std::thread& each : threads_) each.join();
  }

  backend kind() const override { return backend::cpu; }
  std::string name() const override {
    return "CPU backend, " + std::to_string(threads_.size()) +
           (threads_.size() == 1 ? " thread" : " threads");
  }
  std::uint32_t processors() const override { return static_cast<std::uint32_t>(threads_.size()); }

  std::unique_ptr<running_launch> start_on_cpu(grid shape, std::function<void()> body) override;

  void join(companion&) override {
    throw error(error_kind::unavailable, "the CPU backend sets no processors aside");
  }
  void part(companion&) noexcept override {}
  std::unique_ptr<machine> aside() override { return std::make_unique<cpu_machine>(1); }

  void* stream() override { return nullptr; }
  void* mark_stream() override { return nullptr; }
  std::unique_ptr<running_launch> follow_stream(void*) override {
    throw error(error_kind::unavailable, "the CPU backend has no streams");
  }

 private:
  void serve(unsigned processor);

  launch_line line_;
  std::vector<std::thread> threads_;
};

std::unique_ptr<running_launch> cpu_machine::start_on_cpu(grid shape, std::function<void()> body) {
  const std::uint32_t lanes = shape.block_lanes;
  if (lanes == 0 || lanes > most_block_lanes || (lanes > warp_width && lanes % warp_width != 0))
    throw error(error_kind::bad_input, "a block cannot have " + std::to_string(lanes) + " lanes",
                "use whole warps of 32, at most 1024 lanes, or one warp of fewer");
  auto launch = std::make_shared<queued_launch>();
  launch->shape = {.blocks = shape.blocks,
                   .warps = static_cast<std::uint32_t>(divide_up(lanes, warp_width)),
                   .warp_lanes = std::min(lanes, warp_width)};
  launch->body = std::move(body);
  launch->at_work = processors();
  // A small grid spreads over the workers; a large one stays within what each may have in flight.
  launch->most_blocks = std::min(cpu_blocks_in_flight(lanes),
                                 static_cast<std::uint32_t>(divide_up(shape.blocks, processors())));
  {
    const std::lock_guard lock(line_.guard);
    launch->ordinal = ++line_.started;
    line_.waiting.push_back(launch);
  }
  line_.changed.notify_all();
  return std::make_unique<cpu_running>(line_, launch);
}

void cpu_machine::serve(unsigned processor) {
  executor::worker lanes(processor);
  std::uint64_t done = 0;
  std::unique_lock lock(line_.guard);
  for (;;) {
    line_.changed.wait(
        lock, [&] { return line_.waiting.empty() ? line_.closing : line_.waiting.front()->ordinal > done; });
    if (line_.waiting.empty()) return;
    const std::shared_ptr<queued_launch> launch = line_.waiting.front();
    if (launch->started == std::chrono::steady_clock::time_point{})
      launch->started = std::chrono::steady_clock::now();
    lock.unlock();
    lanes.work_on(*launch);
    lock.lock();
    done = launch->ordinal;
    if (--launch->at_work != 0) continue;
    launch->ended = std::chrono::steady_clock::now();
    line_.waiting.pop_front();
    line_.changed.notify_all();
  }
}

}  // namespace

std::unique_ptr<machine> machine::cpu(unsigned threads) {
  return std::make_unique<cpu_machine>(threads == 0 ? cores_of_this_process() : threads);
}

}  // namespace sluice::lane
