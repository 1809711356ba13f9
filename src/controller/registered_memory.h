// Memory that a ring knows beforehand: the kernel need not look up, pin and let go its pages for each
// transfer.
#pragma once

#include <liburing.h>

#include <cstdint>
#include <vector>

#include "controller/region_table.h"

namespace sluice::controller {

/// A ring's table of registered buffers, kept in step with the memory that DMA may reach. What the kernel
/// does not take (too much for the user's RLIMIT_MEMLOCK, memory of a device) is reached as any other memory.
class registered_memory {
 public:
  /// Makes the table; of no use, and harmless, where the kernel has none (before Linux 5.19).
  explicit registered_memory(io_uring& ring);

  /// From now on the table holds these regions only. Call while the ring has no transfer under way.
  void exchange(io_uring& ring, const std::vector<region_table::mapping>& regions);
  /// The index of the buffer that holds all of `bytes`; -1 where none does.
  int find(const iovec& bytes) const;

 private:
  /// True where the kernel took it.
  bool set(io_uring& ring, std::size_t index, const region_table::mapping& to);

  std::vector<region_table::mapping> table_;    // an empty extent where a place is free
  std::vector<region_table::mapping> refused_;  // not asked for again: to pin much in vain takes long
};

}  // namespace sluice::controller
