// A file as an array: lanes read its 32-bit numbers through cache and queues, and add them up.
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include <sluice/array/array.h>
#include <sluice/lane/atomic.h>
#include <sluice/lane/identity.h>
#include <sluice/lane/launch.h>
#include <sluice/memory/buffer.h>

using numbers = sluice::array<std::uint32_t>;

struct sum_numbers {
  numbers::ref_type file;
  std::uint64_t* sum;
  SLUICE_HD void operator()() const {
    std::uint64_t mine = 0;
    for (std::uint64_t i = sluice::lane::grid_index(); i < file.size(); i += sluice::lane::grid_lanes())
      mine += file[i];
    sluice::lane::on_device(*sum).fetch_add(mine, sluice::lane::relaxed);
  }
};

int main(int argc, char** argv) try {
  const auto machine =
      sluice::lane::machine::has_cuda() ? sluice::lane::machine::cuda() : sluice::lane::machine::cpu();
  const auto file = numbers::open(*machine, std::string("file:") + (argc > 1 ? argv[1] : "data.bin"));
  const sluice::memory::buffer sum(machine->kind(), sluice::memory::place::pinned, sizeof(std::uint64_t));
  sluice::lane::launch(*machine, {.blocks = 8, .block_lanes = 128},
                       sum_numbers{file.ref(), sum.lanes_as<std::uint64_t>()});
  file.sync();  // throws where a lane could not read
  std::cout << "sum " << sum.host_as<std::uint64_t>()[0] << " of " << file.size() << " numbers, read by "
            << file.truth().commands.issued << " NVMe commands on " << machine->name() << '\n';
} catch (const std::exception& fault) {
  std::cerr << fault.what() << '\n';
  return 1;
}
