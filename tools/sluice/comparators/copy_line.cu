#include "tools/sluice/comparators/copy_line.h"

#include <cstring>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/lane/atomic.h"
#if defined(__CUDACC__)
#include "base/cuda_calls.cuh"
#endif

namespace sluice::tool {

namespace {

class thread_line final : public copy_line {
 public:
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  bool copy_batch(std::span<std::byte* const>, std::span<const std::byte* const>, std::size_t) override {
    return false;
  }
  void tell(std::uint32_t& word, std::uint32_t value) override {
    lane::on_system(word).store(value, lane::release);
  }
  void mark(std::size_t) override {}
  bool reached(std::size_t) override { return true; }
  void hold(lane::machine&, std::size_t) override {}
  void wait() override {}
};

#if defined(__CUDACC__)
class engine_line final : public copy_line {
 public:
  explicit engine_line(std::size_t marks) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    for (std::size_t i = 0; i < marks; ++i)
      check(cudaEventCreateWithFlags(&marks_.emplace_back(), cudaEventDisableTiming), "creating an event");
  }
  engine_line(const engine_line&) = delete;
  engine_line& operator=(const engine_line&) = delete;
  ~engine_line() override {
    cudaStreamSynchronize(stream_);
    for (cudaEvent_t mark : marks_) cudaEventDestroy(mark);
    cudaStreamDestroy(stream_);
  }

  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "copying");
  }
  bool copy_batch(std::span<std::byte* const> to, std::span<const std::byte* const> from,
                  std::size_t bytes) override {
    sizes_.assign(to.size(), bytes);
    to_.assign(to.begin(), to.end());
    from_.assign(from.begin(), from.end());
    cudaMemcpyAttributes how{};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t of_all = 0;
    const cudaError_t code = cudaMemcpyBatchAsync(to_.data(), from_.data(), sizes_.data(), sizes_.size(),
                                                  &how, &of_all, 1, stream_);
    if (code == cudaErrorNotSupported || code == cudaErrorCallRequiresNewerDriver ||
        code == cudaErrorInvalidValue) {
      cudaGetLastError();
      return false;
    }
    check(code, "copying a batch");
    return true;
  }
  void tell(std::uint32_t& word, std::uint32_t value) override { write_behind(stream_, &word, value); }
  void mark(std::size_t which) override {
    check(cudaEventRecord(marks_[which], stream_), "recording an event");
  }
  bool reached(std::size_t which) override {
    const cudaError_t code = cudaEventQuery(marks_[which]);
    if (code == cudaErrorNotReady) return false;
    check(code, "copying");
    return true;
  }
  void hold(lane::machine& on, std::size_t which) override {
    check(cudaStreamWaitEvent(static_cast<cudaStream_t>(on.stream()), marks_[which], 0),
          "waiting for an event");
  }
  void wait() override { check(cudaStreamSynchronize(stream_), "copying"); }

 private:
  cudaStream_t stream_ = nullptr;
  std::vector<cudaEvent_t> marks_;
  std::vector<std::size_t> sizes_;
  std::vector<void*> to_;
  std::vector<const void*> from_;
};
#endif

}  // namespace

std::unique_ptr<copy_line> open_copy_line(backend on, [[maybe_unused]] std::size_t marks) {
#if defined(__CUDACC__)
  if (on == backend::cuda) return std::make_unique<engine_line>(marks);
#endif
  if (on == backend::cuda) throw error(error_kind::unavailable, "this build has no CUDA backend");
  return std::make_unique<thread_line>();
}

}  // namespace sluice::tool
