// Bytes that somebody owns, and the addresses by which the CPU and lanes reach them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/base/types.h"

namespace sluice::memory {

/// Whose memory it is. On the CPU backend all three are plain host memory.
enum class place : std::uint8_t {
  host,    ///< plain host memory: no GPU lane may touch it
  pinned,  ///< host memory that GPU lanes reach over the link
  device,  ///< GPU memory: the CPU reaches it only through copy_in and copy_out
};

/// Non-owning view of allocated bytes.
struct region {
  std::byte* lanes = nullptr;  ///< address in kernels
  std::byte* host = nullptr;   ///< address on the CPU; null for GPU memory
  std::size_t bytes = 0;
  place where = place::host;
  backend on = backend::cpu;  ///< whose lanes reach it
};

/// Owns zeroed memory of one place. Aligned to 4 KiB, and to 2 MiB from that size on.
class buffer {
 public:
  buffer() = default;
  /// Throws error{unavailable} where the machine has no such memory left.
  buffer(backend on, place where, std::size_t bytes);
  buffer(buffer&& other) noexcept;
  buffer& operator=(buffer&& other) noexcept;
  ~buffer();

  const region& view() const { return view_; }
  std::size_t size() const { return view_.bytes; }
  std::byte* lanes() const { return view_.lanes; }
  std::byte* host() const { return view_.host; }
  template <class T>
  T* lanes_as() const {
    return reinterpret_cast<T*>(view_.lanes);
  }
  /// The bytes on the CPU, as Ts. Only for host and pinned memory (or the CPU backend).
  template <class T>
  std::span<T> host_as() const {
    return {reinterpret_cast<T*>(view_.host), view_.bytes / sizeof(T)};
  }

 private:
  void release() noexcept;

  region view_;
  std::byte* device_base_ = nullptr;  ///< what was allocated, before alignment
  bool pinned_ = false;
};

/// Copies host bytes into a region, or out of it, wherever it lies. Done when it returns; works while a
/// kernel runs.
void copy_in(const region& to, std::size_t offset, std::span<const std::byte> from);
void copy_out(const region& from, std::size_t offset, std::span<std::byte> to);

}  // namespace sluice::memory
