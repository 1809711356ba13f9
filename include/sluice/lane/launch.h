// Starts a kernel on either machine: the same call, the same kernel, lanes of a GPU or of the CPU's executor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sluice/base/types.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

/// Shape of a launch: blocks of whole warps (block_lanes a multiple of 32, or fewer than 32 for one short
/// warp).
struct grid {
  std::uint32_t blocks = 1;
  std::uint32_t block_lanes = 32;
};

struct launch_report {
  double seconds = 0;  ///< device events on a GPU, steady clock on the CPU
};

/// A kernel that was started and has not been waited for.
class running_launch {
 public:
  virtual ~running_launch() = default;
  virtual bool finished() = 0;
  /// Waits for the end. Throws error{io_failure} where the device or the executor reports a fault, or
  /// whatever a lane of the CPU backend threw; the launch's other lanes are then dropped where they stand.
  virtual launch_report wait() = 0;
};

/// A kernel that accompanies every launch of a machine, on processors of its own: an emulated drive's
/// controllers. It is under way only while a launch is, so that between launches anything may wait for the
/// device.
class companion {
 public:
  virtual ~companion() = default;
  /// SMs that it takes.
  virtual std::uint32_t processors() const = 0;
  /// Starts it; returns once it runs. Throws error{unavailable} where it does not get its processors.
  virtual void begin() = 0;
  /// The word, in GPU memory, that ends it once it is 1: written behind the launch, in its stream.
  virtual std::uint32_t* stop_word() const = 0;
  /// Waits for its end.
  virtual void end() = 0;
};

/// A machine that lanes run on.
class machine {
 public:
  virtual ~machine() = default;
  virtual backend kind() const = 0;
  /// For people: "NVIDIA H200, 132 SMs" or "CPU backend, 2 threads".
  virtual std::string name() const = 0;
  /// SMs, or worker threads, that launches have: those of companions are left out.
  virtual std::uint32_t processors() const = 0;

  /// From now on `other` runs beside every launch. Between launches only. Throws error{unavailable} where too
  /// few processors would be left, or where the machine has none to set aside (the CPU backend).
  virtual void join(companion& other) = 0;
  virtual void part(companion& other) noexcept = 0;
  /// The same hardware with a line of its own: what is started there runs beside what is started here. The
  /// CPU backend's has one thread. It does not outlive this one.
  virtual std::unique_ptr<machine> aside() = 0;

  /// The CPU backend: `threads` OS threads run the blocks; 0 means one for each core the process may use.
  static std::unique_ptr<machine> cpu(unsigned threads = 0);
  /// The CUDA backend on that device. Throws error{unavailable} where this build or this machine has none.
  static std::unique_ptr<machine> cuda(int device = 0);
  static bool has_cuda();

  /// For start(): runs `body` once for each lane of `shape` on the CPU's executor.
  virtual std::unique_ptr<running_launch> start_on_cpu(grid shape, std::function<void()> body) = 0;
  /// For start(): the stream to launch on, as a cudaStream_t; and the handle for what was launched there.
  virtual void* stream() = 0;
  virtual std::unique_ptr<running_launch> follow_stream(void* before) = 0;
  virtual void* mark_stream() = 0;
};

/// What a kernel is built for, where it says so by `static constexpr lane::residency resident`: blocks of at
/// most `block_lanes` lanes, and `blocks` of them on an SM at once. The compiler keeps to the registers which
/// that leaves to each lane.
struct residency {
  std::uint32_t block_lanes;
  std::uint32_t blocks;
};

// A kernel may also say `static constexpr bool alone = true`: then each of its blocks takes an SM for itself.

#if defined(__CUDACC__)
// `really`: false for the empty launch that makes room for the kernel's local memory (detail::warm_up).
template <class Kernel>
__global__ void run_kernel(const __grid_constant__ Kernel kernel, bool really) {
  if (really) kernel();
}
template <class Kernel>
__global__ void __launch_bounds__(Kernel::resident.block_lanes, Kernel::resident.blocks)
    run_resident_kernel(const __grid_constant__ Kernel kernel, bool really) {
  if (really) kernel();
}
#endif

/// Blocks of `block_lanes` lanes that can be resident at once: lanes of a grid no larger than this may wait
/// for one another.
template <class Kernel>
std::uint32_t resident_blocks(machine& on, std::uint32_t block_lanes);

/// Loads the kernel's code onto the machine. To be called before a kernel that runs long is started: CUDA may
/// otherwise wait for that one to end. (The CUDA backend asks for eager loading too, but another library may
/// have come first.)
template <class Kernel>
void preload(machine& on);

/// Starts `kernel` (trivially copyable, `SLUICE_HD void operator()() const`) on every lane of the grid.
template <class Kernel>
std::unique_ptr<running_launch> start(machine& on, grid shape, const Kernel& kernel);

/// Starts the kernel and waits for its end.
template <class Kernel>
launch_report launch(machine& on, grid shape, const Kernel& kernel) {
  return start(on, shape, kernel)->wait();
}

}  // namespace sluice::lane

#include "sluice/lane/detail/launch_impl.h"
