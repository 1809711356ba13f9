// The addition of vectors that lie on drives: what a program calls.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/vector_add/vectors.h"
#include "sluice/array/storage.h"
#include "sluice/base/types.h"
#include "sluice/lane/launch.h"

namespace sluice::vector_add {

struct add_options {
  std::uint64_t cache_bytes = 64 * MiB;
  std::uint32_t page_bytes = 4096;
  std::uint32_t queues = 4;            ///< queue pairs a drive
  std::uint32_t depth = 1024;          ///< entries a queue
  std::uint64_t lanes = 0;             ///< 0: as many as suit machine and cache
  std::function<bool()> stop_asked{};  ///< looked at every few milliseconds
};

/// What the addition took of drives and cache.
struct add_io {
  std::uint64_t commands_issued = 0;   ///< by lanes
  std::uint64_t commands_served = 0;   ///< by controllers
  std::uint64_t commands_dropped = 0;  ///< by fault injection
  std::uint64_t bytes_moved = 0;       ///< by the drives, both ways
  std::uint64_t visits = 0;  ///< of lanes to pages of A and B, and to C's last where it is not whole
  std::uint64_t misses = 0;  ///< of those, to pages that were not resident
};

struct add_outcome {
  double seconds = 0;        ///< from an empty cache until C lasts on the drives
  double flush_seconds = 0;  ///< of those, after the lanes' end
  std::uint64_t lanes = 0;
  std::uint32_t run = 0;  ///< pages of a vector that a warp took at once
  bool ahead = false;     ///< whether it asked for them ahead
  add_io io;
  std::vector<std::uint64_t> page_times;  ///< pages of C by lane::latency_bucket, from begin to sum
};

/// Throws error{bad_input} where no cache as the options have it can be opened over the drives.
void need_possible(lane::machine& on, storage& over, const add_options& options);

/// C = A + B, by lanes of `on`, once. Throws error{io_failure} naming drive, LBA and status of the first
/// access that failed, error{cancelled} where stop_asked() said so.
add_outcome add_on_lanes(lane::machine& on, storage& over, const vectors& of, const add_options& options);

}  // namespace sluice::vector_add
