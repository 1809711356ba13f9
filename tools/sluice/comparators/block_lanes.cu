#include "tools/sluice/comparators/block_lanes.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>

#include "sluice/base/bits.h"
#include "tools/sluice/comparators/source.h"
#if defined(__CUDACC__)
#include "base/cuda_calls.cuh"
#endif

namespace sluice::tool {

namespace {

template <io_check Check>
using warp_kernel = block_kernel<lane::full_warp, Check>;
template <io_check Check>
using lone_kernel = block_kernel<lane::solo, Check>;

/// On a CPU each lane is for itself, since a warp that meets costs a switch a lane, and alone on its thread,
/// since lanes that wait for nothing would run one after the other there.
constexpr std::uint32_t block_lanes_on(backend on) { return on == backend::cuda ? 256 : 1; }
constexpr std::uint32_t lanes_a_team_on(backend on) { return on == backend::cuda ? 32 : 1; }

}  // namespace

block_pass block_pass::every_byte(const comparison& what) {
  return {
      .count = what.order.blocks(), .seconds = std::max(1.0, what.seconds), .check = io_check::every_byte};
}

block_lanes::block_lanes(const comparison& what)
    : what_(what),
      tally_(what.on.kind(), memory::place::device, sizeof(block_tally)),
      stop_(what.on.kind(), memory::place::pinned, sizeof(std::uint32_t)) {
  const backend kind = what.on.kind();
  std::uint64_t blocks = what.on.processors();
  if (kind == backend::cuda)
    blocks =
        std::max(lane::resident_blocks<warp_kernel<io_check::stamp>>(what.on, block_lanes_on(kind)),
                 lane::resident_blocks<warp_kernel<io_check::every_byte>>(what.on, block_lanes_on(kind)));
  pieces_ = memory::buffer(kind, memory::place::device,
                           blocks * block_lanes_on(kind) / lanes_a_team_on(kind) * piece_bytes);
}

template <class Kernel>
lane::grid block_lanes::shape_for(std::uint64_t count) {
  const backend kind = what_.on.kind();
  const std::uint32_t teams_a_block = block_lanes_on(kind) / lanes_a_team_on(kind);
  const std::uint64_t most = kind == backend::cuda
                                 ? lane::resident_blocks<Kernel>(what_.on, block_lanes_on(kind))
                                 : what_.on.processors();
  const std::uint64_t wanted = count / teams_a_block + (count % teams_a_block != 0 ? 1 : 0);
  return {static_cast<std::uint32_t>(std::min(most, wanted)), block_lanes_on(kind)};
}

template <io_check Check>
std::unique_ptr<lane::running_launch> block_lanes::launch(const block_job& job) {
  const std::uint64_t count = job.round.count;
  if (what_.on.kind() == backend::cuda)
    return lane::start(what_.on, shape_for<warp_kernel<Check>>(count), warp_kernel<Check>{job});
  return lane::start(what_.on, shape_for<lone_kernel<Check>>(count), lone_kernel<Check>{job});
}

block_job block_lanes::job_for(const block_batch& batch) const {
  return {.round = {.order = what_.order,
                    .first = batch.first,
                    .count = batch.count,
                    .nanoseconds = ~std::uint64_t{0},
                    .stop = stop_.lanes_as<std::uint32_t>()},
          .data = batch.data,
          .pieces = batch.on_device ? nullptr : pieces_.lanes(),
          .truth = what_.source.truth(),
          .tally = tally_.lanes_as<block_tally>(),
          .block_bytes = what_.block_bytes,
          .in_batch = true};
}

double block_lanes::read(const std::byte* span, const block_pass& pass) {
  block_job job = job_for({.data = span, .on_device = false, .first = pass.first, .count = 1});
  job.in_batch = false;
  job.round.count = pass.count;
  job.round.nanoseconds = static_cast<std::uint64_t>(pass.seconds * 1e9);
  const auto running =
      pass.check == io_check::stamp ? launch<io_check::stamp>(job) : launch<io_check::every_byte>(job);
  while (!running->finished()) {
    if (what_.stop()) lane::on_system(stop_.host_as<std::uint32_t>()[0]).store(1, lane::relaxed);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return running->wait().seconds;
}

std::unique_ptr<lane::running_launch> block_lanes::start(const block_batch& batch) {
  const block_job job = job_for(batch);
  return batch.check == io_check::stamp ? launch<io_check::stamp>(job) : launch<io_check::every_byte>(job);
}

template <io_check Check>
void block_lanes::look_as(const block_job& job) {
#if defined(__CUDACC__)
  if (what_.on.kind() == backend::cuda) {
    using kernel = warp_kernel<Check>;
    const lane::grid shape = shape_for<kernel>(job.round.count);
    auto* const stream = static_cast<cudaStream_t>(what_.on.stream());
    constexpr auto entry = lane::entry_of<kernel>();
    entry<<<shape.blocks, shape.block_lanes, 0, stream>>>(kernel{job}, true);
    check(cudaGetLastError(), "starting a kernel");
    check(cudaStreamSynchronize(stream), "running a kernel");
    return;
  }
#endif
  launch<Check>(job)->wait();
}

void block_lanes::look(const block_batch& batch) {
  const block_job job = job_for(batch);
  if (batch.check == io_check::stamp)
    look_as<io_check::stamp>(job);
  else
    look_as<io_check::every_byte>(job);
}

block_tally block_lanes::take_tally() {
  block_tally tally{};
  memory::copy_out(tally_.view(), 0, std::as_writable_bytes(std::span(&tally, 1)));
  const block_tally none{};
  memory::copy_in(tally_.view(), 0, std::as_bytes(std::span(&none, 1)));
  return tally;
}

void add_tally(comparison_result& result, const block_tally& tally, bool timed) {
  if (timed) result.blocks += tally.blocks;
  result.wrong += tally.wrong;
  result.unanswered += tally.unanswered;
}

}  // namespace sluice::tool
