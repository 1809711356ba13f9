// Lanes of one machine that take blocks and hold them against the truth, and the memory which they need for
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"
#include "tools/sluice/comparators/block_kernel.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/process_time.h"

namespace sluice::tool {

/// For how long, and how closely, lanes look at blocks of a span.
struct block_pass {
  std::uint64_t first = 0;
  std::uint64_t count = ~std::uint64_t{0};
  double seconds = 3600;
  io_check check = io_check::stamp;

  /// Through all blocks by every byte, as far as the time of the timed pass takes it, or a second.
  static block_pass every_byte(const comparison& what);
};

/// Blocks one after the other, as they come from the first-th on.
struct block_batch {
  const std::byte* data;
  bool on_device;  ///< lanes look at them there; else they bring them over the link first
  std::uint64_t first;
  std::uint32_t count;
  io_check check = io_check::stamp;
};

class block_lanes {
 public:
  explicit block_lanes(const comparison& what);

  /// Takes blocks of a span that lies at `span`, over the link. Seconds it took.
  double read(const std::byte* span, const block_pass& pass);
  /// Starts to look at a batch. Its end is waited for before that of the next one.
  std::unique_ptr<lane::running_launch> start(const block_batch& batch);
  /// Looks at a batch, at as little cost as a launch can have.
  void look(const block_batch& batch);
  /// Of all that has ended, since the last time.
  block_tally take_tally();

 private:
  block_job job_for(const block_batch& batch) const;
  template <io_check Check>
  std::unique_ptr<lane::running_launch> launch(const block_job& job);
  template <io_check Check>
  void look_as(const block_job& job);
  template <class Kernel>
  lane::grid shape_for(std::uint64_t count);

  const comparison& what_;
  memory::buffer pieces_, tally_, stop_;
};

/// The result of passes of which the lanes have kept the tally, the timed one last.
void add_tally(comparison_result& result, const block_tally& tally, bool timed);

/// Every byte of the blocks, and then stamps for the time that is measured. `move(pass)` brings blocks before
/// `lanes`, and says how many seconds that took.
template <class Move>
comparison_result two_passes(const comparison& what, block_lanes& lanes, Move&& move) {
  comparison_result result;
  move(block_pass::every_byte(what));  // also warms the ways up
  add_tally(result, lanes.take_tally(), false);
  const double cpu_before = process_seconds();
  result.seconds = move(block_pass{.seconds = what.seconds});
  result.cpu_seconds = process_seconds() - cpu_before;
  add_tally(result, lanes.take_tally(), true);
  return result;
}

}  // namespace sluice::tool
