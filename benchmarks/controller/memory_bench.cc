// How many commands a second does one service thread of a mem: drive serve, when a host thread does nothing
// but fill rings? Axes: bytes a command, queues. Each run checks blocks against their stamps before it is
// timed.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/drive/open.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"
#include "tests/support/drive_bench.h"
#include "tests/support/host_queue.h"

namespace sluice {
namespace {

constexpr std::uint32_t depth = 512;
constexpr std::uint32_t batch = 64;
constexpr std::uint64_t media_bytes = 1 * GiB;

/// CPU time of all threads but this one.
double seconds_of_others() {
  const auto seconds = [](clockid_t which) {
    timespec t{};
    clock_gettime(which, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  return seconds(CLOCK_PROCESS_CPUTIME_ID) - seconds(CLOCK_THREAD_CPUTIME_ID);
}

/// One queue kept full: each answered command is replaced by another of a random block.
class filler {
 public:
  filler(drive::drive& on, std::uint32_t bytes, std::uint64_t seed)
      : queue_(on, depth),
        blocks_(bytes / 512),
        memory_(backend::cpu, memory::place::host, std::size_t{depth} * bytes),
        at_(on.map(memory_.view())),
        state_(seed) {}

  /// Fills what is free, reaps what is there. Returns commands answered; `wrong` counts errors.
  std::uint32_t round(std::uint64_t& wrong) {
    std::uint32_t got = 0;
    for (; got < batch; ++got) {
      const auto done = queue_.poll();
      if (!done) break;
      wrong += done->code() ? 0 : 1;
    }
    if (got > 0) queue_.free_entries();
    in_flight_ -= got;
    std::uint32_t put = 0;
    for (; in_flight_ < depth - 1 && put < batch; ++put, ++in_flight_) put_one();
    if (put > 0) queue_.ring();
    return got;
  }
  void drain(std::uint64_t& wrong) {
    for (; in_flight_ > 0; --in_flight_) wrong += queue_.await().code() ? 0 : 1;
  }

 private:
  void put_one() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::uint64_t first = (state_ >> 33) % (media_bytes / 512 / blocks_) * blocks_;
    const std::uint32_t slot = queue_.tail();
    queue_.put(nvme::block_command(nvme::opcode::read, static_cast<std::uint16_t>(slot), 1, {first}, blocks_,
                                   at_ + std::uint64_t{slot} * blocks_ * 512, {}));
  }

  test::host_queue queue_;
  std::uint32_t blocks_;
  memory::buffer memory_;
  bus_address at_;
  std::uint64_t state_;
  std::uint32_t in_flight_ = 0;
};

void serve_random_reads(benchmark::State& state) {
  const auto bytes = static_cast<std::uint32_t>(state.range(0));
  const auto queues = static_cast<std::size_t>(state.range(1));
  test::drive_bench bench("mem:1GiB");
  for (std::uint64_t at = 0; at < media_bytes / 512; at += 2048)
    if (!bench.fill(at, 2048)) return state.SkipWithError("filling failed");
  if (!bench.read(4711, 128) || bench.wrong(4711, 128) != 0) return state.SkipWithError("wrong bytes");

  std::vector<std::unique_ptr<filler>> fillers;
  for (std::size_t i = 0; i < queues; ++i)
    fillers.push_back(std::make_unique<filler>(bench.drive(), bytes, i + 1));
  std::uint64_t wrong = 0, answered = 0;
  const double server_before = seconds_of_others();
  for (auto _ : state)
    for (auto& each : fillers) answered += each->round(wrong);
  const double server_ns = (seconds_of_others() - server_before) * 1e9;
  for (auto& each : fillers) each->drain(wrong);
  if (wrong != 0) return state.SkipWithError("commands failed");
  state.counters["iops"] = benchmark::Counter(static_cast<double>(answered), benchmark::Counter::kIsRate);
  // What one core could serve: the service thread's own time, spinning included, however busy the machine is.
  state.counters["server_ns_per_command"] = server_ns / static_cast<double>(answered);
  state.counters["bytes_per_s"] =
      benchmark::Counter(static_cast<double>(answered) * bytes, benchmark::Counter::kIsRate);
}
BENCHMARK(serve_random_reads)
    ->ArgNames({"bytes", "queues"})
    ->Args({512, 1})
    ->Args({512, 4})
    ->Args({512, 16})
    ->Args({4096, 4})
    ->UseRealTime()
    ->MinTime(0.5);

}  // namespace
}  // namespace sluice
