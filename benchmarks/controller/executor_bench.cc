// What does one 512-byte command cost the service thread, from fetch to completion, without waiting for
// anybody? The CPU time is the answer: one thread plays host and controller in turn, 64 commands at a time.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "controller/event_log.h"
#include "controller/executor.h"
#include "controller/fault_dice.h"
#include "controller/memory_media.h"
#include "controller/queues.h"
#include "sluice/base/types.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"

namespace sluice::controller {
namespace {

constexpr std::uint32_t depth = 512;
constexpr std::uint32_t batch = 64;
constexpr std::uint64_t media_bytes = 1 * GiB;

void execute_random_reads(benchmark::State& state) {
  const auto bytes = static_cast<std::uint32_t>(state.range(0));
  const std::uint32_t blocks = bytes / 512;
  memory_media media(media_bytes, true);
  const fault_dice dice({});
  event_log log([] {});
  executor work(media, 1024, dice, log, 0);
  {
    // Every page of the medium is touched once, so that none is made while the clock runs.
    auto* all = const_cast<std::byte*>(media.in_memory());
    for (std::uint64_t at = 0; at < media_bytes; at += 4096) all[at] = std::byte{1};
  }
  const memory::buffer rings(backend::cpu, memory::place::host, depth * 128);
  const memory::buffer data(backend::cpu, memory::place::host, std::size_t{depth} * bytes);
  const bus_address at{reinterpret_cast<std::uintptr_t>(data.host())};
  work.bounds.blocks = media_bytes / 512;
  region_table regions;
  regions.add(at, data.size());
  work.exchange_regions(regions);
  std::uint32_t tail = 0, head = 0;
  auto* submissions = reinterpret_cast<nvme::submission_entry*>(rings.host());
  completion_queue completions(1, reinterpret_cast<nvme::completion_entry*>(rings.host() + depth * 64), depth,
                               &head);
  submission_queue queue(1, submissions, depth, &tail, completions, backend::cpu);

  std::uint64_t random = 1;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < batch; ++i) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      const std::uint64_t first = (random >> 33) % (media_bytes / bytes) * blocks;
      submissions[tail] = nvme::block_command(nvme::opcode::read, static_cast<std::uint16_t>(tail), 1,
                                              {first}, blocks, at + std::uint64_t{tail} * bytes, {});
      tail = (tail + 1) % depth;
    }
    queue.look();
    completions.look();
    for (std::uint32_t i = 0; i < batch; ++i) work.prefetch(queue.peek(i));
    for (std::uint32_t i = 0; i < batch; ++i) work.begin(queue, queue.peek(i));
    queue.advance(batch);
    work.pending().post(0);
    head = (head + batch) % depth;
  }
  state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK(execute_random_reads)->ArgName("bytes")->Arg(512)->Arg(4096)->MinTime(0.5);

}  // namespace
}  // namespace sluice::controller
