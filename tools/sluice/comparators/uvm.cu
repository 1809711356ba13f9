// The comparator uvm: lanes load blocks from managed memory, whose pages the driver brings as they fault.
#include <algorithm>
#include <cstring>
#include <string>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/comparators/block_lanes.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/gpu_room.h"
#include "tools/sluice/comparators/source.h"
#include "tools/sluice/process_time.h"
#if defined(__CUDACC__)
#include "base/cuda_calls.cuh"
#endif

namespace sluice::tool {

namespace {

#if defined(__CUDACC__)
/// Managed memory that is never more than half of what the GPU has left: beyond its memory, faults can hang
/// the GPU for good.
class managed_bytes {
 public:
  explicit managed_bytes(std::uint64_t bytes) : bytes_(bytes) {
    need_faults();
    const std::uint64_t left = free_gpu_bytes();
    if (bytes > left / 2)
      throw error(error_kind::unavailable,
                  "the span of " + format_bytes(static_cast<double>(bytes)) + " is more than half of the " +
                      format_bytes(static_cast<double>(left)) + " that the GPU has left");
    void* made = nullptr;
    check(cudaMallocManaged(&made, bytes), "allocating managed memory");
    data_ = static_cast<std::byte*>(made);
  }
  managed_bytes(const managed_bytes&) = delete;
  managed_bytes& operator=(const managed_bytes&) = delete;
  ~managed_bytes() { cudaFree(data_); }

  std::byte* data() const { return data_; }
  /// All pages go to the host; done when it returns.
  void send_home(cudaStream_t stream) const {
    cudaMemLocation host{};
    host.type = cudaMemLocationTypeHost;
    check(cudaMemPrefetchAsync(data_, bytes_, host, 0, stream), "sending managed memory to the host");
    check(cudaStreamSynchronize(stream), "sending managed memory to the host");
  }

 private:
  static void need_faults() {
    int device = 0, faults = 0;
    check(cudaGetDevice(&device), "asking which GPU this is");
    check(cudaDeviceGetAttribute(&faults, cudaDevAttrConcurrentManagedAccess, device),
          "asking for managed memory");
    if (faults == 0)
      throw error(error_kind::unavailable, "on this machine managed memory does not come page by page");
  }

  std::uint64_t bytes_;
  std::byte* data_ = nullptr;
};
#endif

}  // namespace

comparison_result run_uvm([[maybe_unused]] const comparison& what) {
#if defined(__CUDACC__)
  if (what.on.kind() == backend::cuda) {
    comparison_result result;
    auto* const stream = static_cast<cudaStream_t>(what.on.stream());
    const managed_bytes memory(what.bytes());
    std::memcpy(memory.data(), what.source.bytes().host(), what.bytes());
    block_lanes lanes(what);
    memory.send_home(stream);
    lanes.read(memory.data(), block_pass::every_byte(what));
    add_tally(result, lanes.take_tally(), false);
    // Once a page has come it stays: each pass takes every block once, from pages that are all on the host.
    std::uint64_t first = 0;
    do {
      memory.send_home(stream);
      const double cpu_before = process_seconds();
      result.seconds +=
          lanes.read(memory.data(), {.first = first, .count = what.order.blocks(), .seconds = what.seconds});
      result.cpu_seconds += process_seconds() - cpu_before;
      first += what.order.blocks();
    } while (result.seconds < what.seconds && !what.stop());
    add_tally(result, lanes.take_tally(), true);
    result.say("passes", first / what.order.blocks());
    return result;
  }
#endif
  throw error(error_kind::unavailable, "managed memory is a GPU's: the CPU backend has none");
}

}  // namespace sluice::tool
