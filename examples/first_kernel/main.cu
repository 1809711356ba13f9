// One kernel on either machine: every lane adds its own number to one sum.
#include <cstdint>
#include <iostream>

#include <sluice/lane/atomic.h>
#include <sluice/lane/identity.h>
#include <sluice/lane/launch.h>
#include <sluice/memory/buffer.h>

using sluice::lane::machine;

struct sum_lanes {
  std::uint64_t* sum;
  SLUICE_HD void operator()() const {
    sluice::lane::on_device(*sum).fetch_add(sluice::lane::grid_index(), sluice::lane::relaxed);
  }
};

int main() {
  const auto gpu_or_cpu = machine::has_cuda() ? machine::cuda() : machine::cpu();
  const sluice::memory::buffer sum(gpu_or_cpu->kind(), sluice::memory::place::pinned, sizeof(std::uint64_t));
  sluice::lane::launch(*gpu_or_cpu, {.blocks = 8, .block_lanes = 128},
                       sum_lanes{sum.lanes_as<std::uint64_t>()});
  std::cout << "the lanes' numbers add up to " << sum.host_as<std::uint64_t>()[0] << " on "
            << gpu_or_cpu->name() << '\n';
}
