// What a step of the CPU backend costs: a switch, a collective, a seeded schedule.
#include <benchmark/benchmark.h>

#include <memory>

#include "sluice/lane/atomic.h"
#include "sluice/lane/explore.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"

namespace {

using namespace sluice::lane;

/// Times a kernel by its launch report; `steps` a lane.
template <class Kernel>
void time_lanes(benchmark::State& state, std::uint32_t steps, const Kernel& kernel) {
  const auto cpu = machine::cpu(1);
  const grid shape{static_cast<std::uint32_t>(state.range(0)), 32};
  for (auto _ : state) state.SetIterationTime(launch(*cpu, shape, kernel).seconds);
  state.SetItemsProcessed(state.iterations() * shape.blocks * shape.block_lanes * steps);
}

void relax(benchmark::State& state) {
  time_lanes(state, 500, [] {
    for (int i = 0; i < 500; ++i) executor::relax();
  });
}

void ballot(benchmark::State& state) {
  time_lanes(state, 500, [] {
    const warp_team all = warp_team::whole();
    std::uint32_t sum = 0;
    for (int i = 0; i < 500; ++i) sum += all.ballot((sum & 1) == 0);
    benchmark::DoNotOptimize(sum);
  });
}

void begin_and_end(benchmark::State& state) {
  time_lanes(state, 1, [] {});
}

void seeded_schedule(benchmark::State& state) {
  std::uint32_t word = 0;
  std::uint64_t seed = 0, steps = 0;
  for (auto _ : state) {
    const explore::options how{
        .how = static_cast<explore::policy>(state.range(0)), .seed = ++seed, .lanes = 2};
    steps += explore::run(how, [&] {
               for (int i = 0; i < 5; ++i) on_device(word).fetch_add(1, relaxed);
             }).steps;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["steps/s"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}

BENCHMARK(relax)->Arg(1)->Arg(8)->Arg(64)->UseManualTime();
BENCHMARK(ballot)->Arg(1)->Arg(8)->Arg(64)->UseManualTime();
BENCHMARK(begin_and_end)->Arg(64)->Arg(4096)->UseManualTime();
BENCHMARK(seeded_schedule)->DenseRange(0, 2);

}  // namespace
