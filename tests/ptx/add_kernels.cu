// The kernel that adds vectors, as it is timed: its registers are held to add_kernels.csv, and its loop keeps
// its values while far calls do the work on a page.
#include <cstdint>

#include "apps/vector_add/add_kernel.h"
#include "sluice/array/array_ref.h"
#include "sluice/array/volume_store_ref.h"
#include "sluice/lane/launch.h"

namespace {

template <class T>
using timed =
    sluice::vector_add::add_kernel<sluice::array_ref<T, sluice::cache::cache_ref<sluice::volume_store_ref>>>;

}  // namespace

template __global__ void sluice::lane::run_resident_kernel(const __grid_constant__ timed<std::uint32_t>,
                                                           bool);
