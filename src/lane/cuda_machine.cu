// A GPU as a machine for lanes: one stream, and an event behind each launch.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/lane/launch.h"

#if defined(SLUICE_CUDA)
#include "base/cuda_calls.cuh"
#endif

namespace sluice::lane {

#if defined(SLUICE_CUDA)

namespace {

class event {
 public:
  explicit event(cudaStream_t on) {
    check(cudaEventCreate(&handle_), "creating an event");
    check(cudaEventRecord(handle_, on), "recording an event");
  }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { cudaEventDestroy(handle_); }
  cudaEvent_t get() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

/// The kernels that run beside a machine's launches: from just before one to just behind it.
class company {
 public:
  void add(companion& one) { members_.push_back(&one); }
  void remove(companion& one) noexcept { std::erase(members_, &one); }
  std::uint32_t processors() const {
    return std::accumulate(members_.begin(), members_.end(), 0U,
                           [](std::uint32_t sum, const companion* one) { return sum + one->processors(); });
  }
  void begin(cudaStream_t stream) {
    end();
    for (companion* one : members_) {
      under_way_.push_back(one);
      try {
        one->begin();
      } catch (...) {
        dismiss(stream);
        throw;
      }
    }
  }
  /// Behind what is in the stream.
  void dismiss(cudaStream_t stream) const {
    for (companion* one : under_way_) write_behind(stream, one->stop_word(), 1);
  }
  void end() {
    for (companion* one : std::exchange(under_way_, {})) one->end();
  }

 private:
  std::vector<companion*> members_, under_way_;
};

class cuda_running final : public running_launch {
 public:
  cuda_running(std::unique_ptr<event> before, std::unique_ptr<event> after, company& with)
      : before_(std::move(before)), after_(std::move(after)), company_(with) {}
  cuda_running(const cuda_running&) = delete;
  cuda_running& operator=(const cuda_running&) = delete;
  ~cuda_running() override {
    cudaEventSynchronize(after_->get());
    try {
      company_.end();
    } catch (const error&) {
      // The device is lost; whoever waits for something of it is told.
    }
  }

  bool finished() override {
    const cudaError_t code = cudaEventQuery(after_->get());
    if (code == cudaErrorNotReady) return false;
    check(code, "running a kernel");
    return true;
  }

  launch_report wait() override {
    check(cudaEventSynchronize(after_->get()), "running a kernel");
    company_.end();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, before_->get(), after_->get()), "timing a kernel");
    return {milliseconds / 1e3};
  }

 private:
  std::unique_ptr<event> before_, after_;
  company& company_;
};

class cuda_machine final : public machine {
 public:
  explicit cuda_machine(int device) : device_(device) {
    check(cudaSetDevice(device), "choosing the GPU");
    check(cudaGetDeviceProperties(&properties_, device), "asking the GPU for its properties");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  }
  cuda_machine(const cuda_machine&) = delete;
  cuda_machine& operator=(const cuda_machine&) = delete;
  ~cuda_machine() override { cudaStreamDestroy(stream_); }

  backend kind() const override { return backend::cuda; }
  std::string name() const override {
    return std::string(properties_.name) + ", " + std::to_string(properties_.multiProcessorCount) + " SMs";
  }
  std::uint32_t processors() const override {
    return static_cast<std::uint32_t>(properties_.multiProcessorCount) - company_.processors();
  }

  void join(companion& other) override {
    if (other.processors() >= processors())
      throw error(error_kind::unavailable,
                  "of the GPU's SMs " + std::to_string(processors()) +
                      " are left, and this drive alone would take " + std::to_string(other.processors()),
                  "give emulated drives fewer SMs: sms=");
    company_.add(other);
  }
  void part(companion& other) noexcept override { company_.remove(other); }
  std::unique_ptr<machine> aside() override { return std::make_unique<cuda_machine>(device_); }

  std::unique_ptr<running_launch> start_on_cpu(grid, std::function<void()>) override {
    throw error(error_kind::unavailable,
                "this kernel was compiled for the CPU only, so it cannot run on a GPU",
                "put the launch into a .cu file and build with -DSLUICE_CUDA=ON");
  }

  void* stream() override { return stream_; }
  void* mark_stream() override {
    company_.begin(stream_);
    return std::make_unique<event>(stream_).release();
  }
  std::unique_ptr<running_launch> follow_stream(void* before) override {
    std::unique_ptr<event> begun(static_cast<event*>(before));
    const cudaError_t started = cudaGetLastError();
    auto after = std::make_unique<event>(stream_);
    company_.dismiss(stream_);
    check(started, "starting a kernel");
    return std::make_unique<cuda_running>(std::move(begun), std::move(after), company_);
  }

 private:
  int device_;
  company company_;
  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<machine> machine::cuda(int device) {
  load_kernels_eagerly();
  return std::make_unique<cuda_machine>(device);
}

bool machine::has_cuda() {
  load_kernels_eagerly();
  int devices = 0;
  const bool answered = cudaGetDeviceCount(&devices) == cudaSuccess;
  cudaGetLastError();
  return answered && devices > 0;
}

#else

std::unique_ptr<machine> machine::cuda(int) {
  throw error(error_kind::unavailable, "this build has no CUDA backend",
              "configure with -DSLUICE_CUDA=ON, or use --backend cpu");
}

bool machine::has_cuda() { return false; }

#endif

}  // namespace sluice::lane
