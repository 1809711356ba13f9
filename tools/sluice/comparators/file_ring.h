// One thread's io_uring, which reads blocks of a comparison's files into memory that it has registered.
#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/sluice/comparators/source_file.h"

namespace sluice::tool {

/// Where one block of a file is to go.
struct file_read {
  file_place from;
  std::byte* to;
};

class file_ring {
 public:
  /// `memory`: what reads go into. Throws error{unavailable} where the machine refuses io_uring.
  file_ring(unsigned depth, std::span<std::byte> memory);
  file_ring(const file_ring&) = delete;
  file_ring& operator=(const file_ring&) = delete;
  ~file_ring();

  /// Reads all of them, as many at once as the ring is deep. Throws error{io_failure} for one that fails or
  /// falls short.
  void read(std::span<const file_read> reads, std::uint32_t block_bytes);
  /// True where the kernel knows the memory beforehand.
  bool is_registered() const { return registered_; }

 private:
  void put(const file_read& read, std::uint32_t block_bytes);
  void take(std::uint32_t block_bytes);

  io_uring ring_{};
  unsigned depth_;
  bool registered_ = false;
  std::size_t in_flight_ = 0;
};

}  // namespace sluice::tool
