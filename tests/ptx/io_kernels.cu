// The kernels of the raw I/O benchmark, as they are timed: their registers are held to io_kernels.csv.
#include "sluice/lane/launch.h"
#include "tools/sluice/io_kernel.h"

namespace {

template <sluice::queue::path Path>
using timed = sluice::tool::io_kernel<Path, sluice::lane::full_warp, sluice::tool::io_check::stamp>;

}  // namespace

template __global__ void sluice::lane::run_resident_kernel(
    const __grid_constant__ timed<sluice::queue::path::peer>, bool);
template __global__ void sluice::lane::run_resident_kernel(
    const __grid_constant__ timed<sluice::queue::path::staged>, bool);
