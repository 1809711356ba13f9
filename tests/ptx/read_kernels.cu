// A kernel that reads elements at random through the cache: its registers are held to read_kernels.csv, and
// its own values to registers, though the way out to a miss needs many.
#include <cstdint>

#include "sluice/array/array_ref.h"
#include "sluice/array/volume_store_ref.h"
#include "sluice/base/bits.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"

namespace {

template <bool Counts>
struct random_reads {
  static constexpr sluice::lane::residency resident{256, 5};

  sluice::array_ref<std::uint32_t, sluice::cache::cache_ref<sluice::volume_store_ref, sluice::cache::clock,
                                                            sluice::cache::mode::optimized, Counts>>
      elements;
  std::uint64_t reads;
  std::uint64_t* sum;

  SLUICE_HD void operator()() const {
    std::uint64_t mine = 0;
    for (std::uint64_t k = 0; k < reads; ++k) {
      const std::uint64_t drawn = sluice::mix(k * sluice::lane::grid_lanes() + sluice::lane::grid_index());
      mine += elements[(drawn >> 32) * elements.size() >> 32];
    }
    sluice::lane::on_device(*sum).fetch_add(mine, sluice::lane::relaxed);
  }
};

}  // namespace

template __global__ void sluice::lane::run_resident_kernel(const __grid_constant__ random_reads<true>, bool);
template __global__ void sluice::lane::run_resident_kernel(const __grid_constant__ random_reads<false>, bool);
