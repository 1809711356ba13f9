// The driver of the addition by lanes: how many warps, how far ahead, one launch, and the flush of C.
#include "apps/vector_add/vector_add.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <thread>

#include "apps/vector_add/add_kernel.h"
#include "apps/vector_add/add_plan.h"
#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/memory/buffer.h"

namespace sluice::vector_add {

namespace {

cached_options cache_of(const add_options& options) {
  return {.cache_bytes = options.cache_bytes,
          .page_bytes = options.page_bytes,
          .queues = options.queues,
          .depth = options.depth};
}

/// One addition, from an empty cache.
template <class T>
class addition {
 public:
  addition(lane::machine& on, storage& over, const vectors& of, const add_options& options)
      : machine_(on),
        options_(options),
        cached_(on, over, cache_of(options)),
        words_(on.kind(), memory::place::device, sizeof(add_words)),
        pages_(divide_up(of.bytes_each(), options.page_bytes)),
        kernel_{cached_.template array<T>(of.a(), of.elements),
                cached_.template array<T>(of.b(), of.elements),
                cached_.template array<T>(of.c(), of.elements),
                words_.lanes_as<add_words>(),
                1,
                false} {}

  add_outcome run() {
    const lane::grid shape = plan();
    lane::preload<kernel_type>(machine_);
    const auto launch = lane::start(machine_, shape, kernel_);
    const lane::launch_report report = wait(*launch);
    if (stopped_) throw error(error_kind::cancelled, "stopped by Ctrl-C");
    cached_.sync();
    const auto began = std::chrono::steady_clock::now();
    cached_.flush();
    add_outcome outcome;
    outcome.flush_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    outcome.seconds = report.seconds + outcome.flush_seconds;
    outcome.lanes = std::uint64_t{shape.blocks} * shape.block_lanes;
    outcome.run = kernel_.run;
    outcome.ahead = kernel_.ahead;
    tell(outcome);
    return outcome;
  }

 private:
  using kernel_type = add_kernel<cached_volume<>::array_type<T>>;

  /// No more warps than there are runs.
  lane::grid plan() {
    const bool on_gpu = machine_.kind() == backend::cuda;
    const std::uint32_t block_lanes = on_gpu ? kernel_type::block_lanes : 32;
    const std::uint32_t warps_a_block = block_lanes / 32;
    const add_ground ground{
        .frames = cached_.frames(),
        .commands = std::uint64_t{cached_.store().queues()} * cached_.store().depth(),
        .resident_warps =
            std::uint64_t{lane::resident_blocks<kernel_type>(machine_, block_lanes)} * warps_a_block,
        .on_gpu = on_gpu};
    add_plan plan = plan_for(ground, divide_up(options_.lanes, 32));
    plan.warps = std::min(plan.warps, divide_up(pages_, plan.run));
    kernel_.run = plan.run;
    kernel_.ahead = plan.ahead;
    if (plan.warps < warps_a_block) return {1, static_cast<std::uint32_t>(plan.warps) * 32};
    return {static_cast<std::uint32_t>(plan.warps / warps_a_block), block_lanes};
  }

  /// Waits for the end, which comes soon where a lane has failed or somebody asks to stop.
  lane::launch_report wait(lane::running_launch& launch) {
    constexpr auto glance = std::chrono::milliseconds(2);
    bool ended = false;
    while (!launch.finished()) {
      std::this_thread::sleep_for(glance);
      stopped_ = stopped_ || (options_.stop_asked && options_.stop_asked());
      if (ended || (!stopped_ && !cached_.failed())) continue;
      stop_claims();
      cached_.cancel();
      ended = true;
    }
    return launch.wait();
  }
  /// While the lanes run: those of a CPU look at the very word.
  void stop_claims() const {
    constexpr std::uint32_t yes = 1;
    if (words_.host() != nullptr)
      return lane::on_device(words_.host_as<add_words>().front().stopped).store(yes, lane::relaxed);
    memory::copy_in(words_.view(), offsetof(add_words, stopped), std::as_bytes(std::span(&yes, 1)));
  }

  void tell(add_outcome& outcome) const {
    add_words said;
    memory::copy_out(words_.view(), 0, std::as_writable_bytes(std::span(&said, 1)));
    outcome.page_times.assign(std::begin(said.page_times), std::end(said.page_times));
    const io_truth truth = cached_.truth();
    outcome.io = {.commands_issued = truth.commands.issued,
                  .commands_served = truth.commands.served,
                  .commands_dropped = truth.commands.dropped,
                  .bytes_moved = truth.bytes_moved,
                  .visits = truth.cache.accesses,
                  .misses = truth.cache.misses};
  }

  lane::machine& machine_;
  const add_options& options_;
  cached_volume<> cached_;
  memory::buffer words_;
  std::uint64_t pages_;  ///< of each vector
  kernel_type kernel_;
  bool stopped_ = false;
};

}  // namespace

void need_possible(lane::machine& on, storage& over, const add_options& options) {
  const cached_volume<> opened(on, over, cache_of(options));
}

add_outcome add_on_lanes(lane::machine& on, storage& over, const vectors& of, const add_options& options) {
  need_room(over.volume(), of);
  return with_element(of.of, [&]<class T>(T) { return addition<T>(on, over, of, options).run(); });
}

}  // namespace sluice::vector_add
