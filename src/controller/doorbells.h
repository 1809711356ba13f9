// The doorbell registers, as an array in memory: each on a line of its own, so that queues do not disturb
// each other.
#pragma once

#include <atomic>
#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/memory/buffer.h"

namespace sluice::controller {

/// Two arrays: one that CPU lanes ring, and, once somebody asks for it, one in pinned memory that GPU lanes
/// ring.
class doorbells {
 public:
  static constexpr std::uint32_t stride_field = 5;  ///< CAP.DSTRD: 4 << 5 = 128 bytes
  static constexpr std::uint32_t stride = 4U << stride_field;
  static_assert(stride == line_bytes);

  explicit doorbells(std::uint32_t count)
      : count_(count), cpu_(backend::cpu, memory::place::host, std::size_t{count} * stride) {}

  /// Makes the array for `on`. Throws error{unavailable} where the machine has no such backend.
  void provide(backend on) {
    if (on == backend::cuda && cuda_.size() == 0)
      cuda_ = memory::buffer(backend::cuda, memory::place::pinned, std::size_t{count_} * stride);
  }
  std::uint32_t* host(backend on, std::uint32_t index) const { return word(of(on).host(), index); }
  std::uint32_t* lanes(backend on, std::uint32_t index) const { return word(of(on).lanes(), index); }
  std::uint32_t count() const { return count_; }

  void reset(backend on, std::uint32_t index) const {
    std::atomic_ref(*host(on, index)).store(0, std::memory_order_relaxed);
  }

 private:
  static std::uint32_t* word(std::byte* base, std::uint32_t index) {
    return reinterpret_cast<std::uint32_t*>(base + std::size_t{index} * stride);
  }
  const memory::buffer& of(backend on) const { return on == backend::cuda ? cuda_ : cpu_; }

  std::uint32_t count_;
  memory::buffer cpu_, cuda_;
};

}  // namespace sluice::controller
